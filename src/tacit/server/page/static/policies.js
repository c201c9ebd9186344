// Policies of a data set, and what one would allow: "this policy allows 400 counts at +-50 before refusal".

import { api, get, post } from "./api.js";
import { button, field, fill, h, select, table } from "./dom.js";
import { notice, refusal } from "./frame.js";
import { number, percent } from "./format.js";

const SWITCHES = [["fresh", "fresh draws"], ["streams", "streams"], ["workloads", "workloads"], ["synthetic", "synthetic data"]];
const PRICES = [["", "none: each question names its own"], ["error", "an error"], ["relative", "a relative error"], ["share", "a share of the budget"], ["epsilon", "epsilon"], ["rho", "rho"]];

/** The price of a policy in words. */
function priced(price) {
  const [name] = Object.keys(price ?? {}).filter((each) => each !== "delta");
  if (!name) return "its own price";
  return { error: `\u00b1 ${number(Number(price.error))}`, relative: `\u00b1 ${percent(price.relative)} of the rows`, share: `${percent(price.share)} of the budget` }[name] ?? `${name} = ${price[name]}${price.delta ? `, delta = ${price.delta}` : ""}`;
}

const budget = (allowance) => (allowance ? Object.entries(allowance).filter(([, amount]) => amount !== null).map(([name, amount]) => `${name} = ${number(Number(amount))}`).join(", ") : "the whole budget");

export async function policies(node, dataset) {
  const path = `/datasets/${encodeURIComponent(dataset.name)}`;
  const { policies: all } = await get(`${path}/policies`);
  const says = h("div", { "aria-live": "polite" });
  const rows = all.map(({ subject, policy }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, subject.replace(":", " ")),
      h("td", {}, priced(policy.price)),
      h("td", {}, policy.most ? `at most ${percent(policy.most)} each` : "any price"),
      h("td", {}, budget(policy.allowance)),
      h("td", {}, SWITCHES.filter(([name]) => policy[name]).map(([, text]) => text).join(", ") || "questions only"),
      h("td", {}, policy.approval === null || policy.approval === undefined ? "no" : Number(policy.approval) === 0 ? "always" : `above ${percent(policy.approval)}`),
      h("td", {}, h("div", { class: "row" }, button("Edit", () => form.edit(subject, policy), { class: "small", "aria-label": `Edit the policy of ${subject}` }), remove(subject))),
    ),
  );
  const form = editor(node, dataset, path, says);
  fill(
    node,
    rows.length ? table("Policies", ["For", "Default price", "One purchase", "Allowance", "May also buy", "Approval", ""], rows) : h("p", { class: "soft" }, "No policy yet: analysts do not see this data set."),
    says,
    form,
  );

  function remove(subject) {
    const act = async () => {
      try {
        await api(`${path}/policies/${encodeURIComponent(subject)}`, { method: "DELETE" });
        await policies(node, dataset);
      } catch (error) {
        fill(says, refusal(error));
      }
    };
    return button("Remove", act, { class: "small", "aria-label": `Remove the policy of ${subject}` });
  }
}

/** The form that sets a policy or tries it. */
function editor(node, dataset, path, says) {
  const subject = h("input", { value: "role:analyst", required: true, autocomplete: "off" });
  const price = select(PRICES, "error");
  const amount = h("input", { value: "", inputmode: "decimal", autocomplete: "off" });
  const most = h("input", { placeholder: "1", inputmode: "decimal", autocomplete: "off" });
  const epsilon = h("input", { placeholder: "no limit of their own", inputmode: "decimal", autocomplete: "off" });
  const approval = h("input", { placeholder: "never", inputmode: "decimal", autocomplete: "off" });
  const boxes = SWITCHES.map(([name, text]) => [name, h("input", { type: "checkbox" }), text]);
  const sql = h("input", { value: `SELECT COUNT(*) AS n FROM ${dataset.tables.find((each) => !each.public).name}`, autocomplete: "off", spellcheck: "false" });
  const given = (input) => input.value.trim() || undefined;
  const policy = () => ({
    price: price.value && given(amount) ? { [price.value]: given(amount) } : undefined,
    most: given(most),
    allowance: given(epsilon) ? allowance(dataset.budget, given(epsilon)) : undefined,
    approval: given(approval),
    ...Object.fromEntries(boxes.map(([name, box]) => [name, box.checked])),
  });
  const form = h(
    "details",
    { id: "policy-form" },
    h("summary", {}, "Set a policy, or try one: what if?"),
    h(
      "form",
      { class: "clicks", onsubmit: (event) => { event.preventDefault(); save(); } },
      field("For", subject, "role:analyst, role:owner or person:NAME; a person's own policy takes the place of the role's."),
      h("div", { class: "inline" }, field("Price of a question that names none", price), field("Amount", amount)),
      h("div", { class: "inline" }, field("Largest share for one purchase", most), field("Allowance (epsilon or rho) in all", epsilon), field("Approval above this share", approval)),
      h("fieldset", {}, h("legend", {}, "May also buy"), h("div", { class: "row" }, boxes.map(([, box, text]) => h("label", { class: "check" }, box, text)))),
      field("What if they ask only this", sql),
      h("div", { class: "row" }, button("Try", attempt, {}), h("button", { class: "first" }, "Set this policy")),
    ),
  );
  form.edit = (who, now) => {
    form.open = true;
    const [name] = Object.keys(now.price ?? {}).filter((each) => each !== "delta");
    subject.value = who;
    price.value = name ?? "";
    amount.value = name ? now.price[name] : "";
    most.value = now.most ?? "";
    epsilon.value = now.allowance?.epsilon ?? now.allowance?.rho ?? "";
    approval.value = now.approval ?? "";
    boxes.forEach(([each, box]) => (box.checked = Boolean(now[each])));
    subject.focus();
  };
  return form;

  async function attempt() {
    try {
      const found = await post(`${path}/whatif`, { sql: sql.value, policy: policy() });
      fill(says, notice("What if", h("p", {}, found.text.replaceAll("+-", "\u00b1 "))));
    } catch (error) {
      fill(says, refusal(error));
    }
  }
  async function save() {
    try {
      await api(`${path}/policies/${encodeURIComponent(subject.value.trim())}`, { method: "PUT", body: policy() });
      await policies(node, dataset);
    } catch (error) {
      fill(says, refusal(error));
    }
  }
}

/** An allowance in the currency of the budget. */
function allowance(words, amount) {
  const delta = /delta\s*=\s*([0-9.eE+-]+)/.exec(words)?.[1];
  const name = /rho/.test(words) ? "rho" : "epsilon";
  return delta ? { [name]: amount, delta } : { [name]: amount };
}
