// /custody : what is held, who may ask what, and what was sold.  For owners.

import { api, get, post } from "./api.js";
import { button, fill, field, h, select, table } from "./dom.js";
import { notice, refusal, start } from "./frame.js";
import { budget, day, time } from "./format.js";
import { approvals } from "./approvals.js";
import { consequences } from "./consequences.js";
import { ledger } from "./ledger.js";
import { policies } from "./policies.js";
import { gauge, unit } from "./dataset.js";

const PARTS = [["approvals", "Approvals"], ["datasets", "Data sets"], ["consequences", "Schema"], ["policies", "Policies"], ["ledger", "Ledger"], ["people", "People"]];

start(async (page, me) => {
  if (me.role !== "owner") {
    fill(page, notice("This page is for owners", h("p", {}, "Ask an owner of the data for a policy, or for what you want to know.")));
    return;
  }
  const { datasets } = await get("/datasets");
  const sheets = Object.fromEntries(PARTS.map(([id, title]) => [id, h("section", { class: "sheet", id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title))]));
  const bodies = Object.fromEntries(PARTS.map(([id]) => [id, sheets[id].appendChild(h("div", { class: "clicks" }))]));
  const chosen = h("span");
  fill(
    page,
    h("nav", { class: "tabs", "aria-label": "Parts of this page" }, h("ul", {}, PARTS.map(([id, title]) => h("li", {}, h("a", { href: `#${id}` }, title))))),
    sheets.approvals,
    sheets.datasets,
    h("div", { class: "inline" }, datasets.length ? field("About the data set", select(datasets.map(({ name }) => [name, name]), datasets[0].name, show, { id: "dataset" })) : null, chosen),
    sheets.consequences,
    sheets.policies,
    sheets.ledger,
    sheets.people,
  );
  await Promise.all([part(bodies.approvals, approvals), part(bodies.datasets, (node) => holdings(node, datasets)), part(bodies.people, people), datasets.length ? show(datasets[0].name) : null]);

  /** Shows a data set in nodes of its own: what comes late of another that was chosen before is not seen. */
  async function show(name) {
    page.setAttribute("aria-busy", "true");
    const about = ["consequences", "policies", "ledger"].map((id) => {
      const fresh = h("div", { class: "clicks" });
      bodies[id].replaceWith(fresh);
      return (bodies[id] = fresh);
    });
    const dataset = await get(`/datasets/${encodeURIComponent(name)}`);
    await Promise.all([consequences, policies, ledger].map((fills, i) => part(about[i], (node) => fills(node, dataset))));
    if (bodies.ledger === about[2]) page.removeAttribute("aria-busy");
  }
});

/** Fills a part of the page; what fails there is said there. */
async function part(node, show) {
  try {
    await show(node);
  } catch (error) {
    fill(node, refusal(error));
  }
}

function holdings(node, datasets) {
  if (!datasets.length) return fill(node, h("p", { class: "soft" }, "None yet. Register one with ", h("code", {}, "tacit dataset add"), "."));
  return fill(node, h("ul", { class: "cards" }, datasets.map((each) => h("li", { class: "clicks" }, h("h3", {}, h("a", { href: `/d/${encodeURIComponent(each.name)}` }, each.name)), h("p", { class: "small soft" }, unit(each)), gauge(each), h("p", { class: "hint" }, `of ${budget(each.budget)}`)))));
}

async function people(node) {
  const { people: users } = await get("/users");
  const secret = h("div", { "aria-live": "polite" });
  const rows = users.map((each) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, each.name),
      h("td", {}, each.role),
      h("td", {}, day(each.added)),
      h("td", {}, each.revoked ? h("span", { class: "tag warn" }, `revoked ${day(each.revoked)}`) : h("span", { class: "tag on" }, "may log in")),
      h("td", {}, each.revoked ? null : h("div", { class: "row" }, issue(each, "link", "Login link"), issue(each, "token", "Token"), revoke(each))),
    ),
  );
  const name = h("input", { autocomplete: "off", required: true });
  const role = select([["analyst", "analyst"], ["owner", "owner"]], "analyst");
  const add = h("form", { class: "inline", onsubmit: added }, field("Name", name), field("Role", role), h("button", {}, "Add a person"));
  fill(node, secret, table("People", ["Name", "Role", "Since", "State", "Give or take away"], rows), add);

  function issue(person, kind, text) {
    const give = async () => {
      try {
        const issued = await post(`/users/${encodeURIComponent(person.name)}/tokens`, { kind, label: "page" });
        const shown = kind === "link" ? `${location.origin}/login#${issued.text}` : issued.text;
        fill(secret, notice(`${text} for ${person.name}, shown once`, h("pre", { tabindex: "0" }, shown), h("p", { class: "hint" }, `Expires ${time(issued.token.expires)}. Only its hash is stored.`)));
      } catch (error) {
        fill(secret, refusal(error));
      }
    };
    return button(text, give, { class: "small", "aria-label": `${text} for ${person.name}` });
  }
  function revoke(person) {
    const sure = async () => {
      if (ask.dataset.sure) {
        try {
          await api(`/users/${encodeURIComponent(person.name)}/revoke`, { method: "POST" });
          await people(node);
        } catch (error) {
          fill(secret, refusal(error));
        }
      } else {
        ask.dataset.sure = "yes";
        fill(ask, `Revoke ${person.name} for good`);
      }
    };
    const ask = button("Revoke", sure, { class: "small", "aria-label": `Revoke ${person.name}` });
    return ask;
  }
  async function added(event) {
    event.preventDefault();
    try {
      await post("/users", { name: name.value.trim(), role: role.value });
      await people(node);
    } catch (error) {
      fill(secret, refusal(error));
    }
  }
}
