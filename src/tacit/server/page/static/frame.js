// What every page has: who is logged in, where one can go, shortcuts, and states that refuse with a remedy.

import { ApiError, api, get, place } from "./api.js";
import { button, byId, fill, h } from "./dom.js";

/** Starts a page: fills the frame and shows what `show` makes; a failure becomes a state of the page. */
export async function start(show, { anonymous = false } = {}) {
  keyboard();
  const page = byId("page");
  try {
    const me = await who(anonymous);
    header(me);
    await show(page, me);
  } catch (error) {
    fill(page, refusal(error));
    if (!(error instanceof ApiError)) throw error;
  } finally {
    page.removeAttribute("aria-busy");
  }
}

async function who(anonymous) {
  try {
    return await get("/me", { anonymous });
  } catch (error) {
    if (anonymous && error.status === 401) return null;
    throw error;
  }
}

function header(me) {
  const [first] = place();
  const links = [["/", "Data sets", first === undefined || first === "d"]];
  if (me?.role === "owner") links.push(["/custody", "Custody", first === "custody"]);
  links.push(["/learn", "Learn", first === "learn"]);
  fill(byId("nav"), links.map(([href, text, here]) => h("li", {}, h("a", { href, "aria-current": here ? "page" : null }, text))));
  const inside = me
    ? [h("span", {}, `${me.name} (${me.role})`), button("Log out", logout, { class: "small" })]
    : [h("a", { href: `/login?next=${encodeURIComponent(location.pathname)}` }, "Log in")];
  fill(byId("person"), inside);
}

async function logout() {
  await api("/logout", { method: "POST", anonymous: true }).catch(() => null);
  location.assign("/login");
}

/** The heading of a page about a data set, with tabs to its siblings. */
export function heading(dataset, here) {
  const root = `/d/${encodeURIComponent(dataset)}`;
  const title = { ask: dataset, history: "History", tables: "Cross-tables" }[here];
  fill(byId("crumbs"), h("a", { href: "/" }, "Data sets"), here === "ask" ? "" : [" / ", h("a", { href: root }, dataset)]);
  fill(byId("title"), title);
  document.title = `${here === "ask" ? dataset : `${title} of ${dataset}`} \u00b7 tacit`;
  const tabs = [["ask", root, "Ask"], ["tables", `${root}/tables`, "Cross-tables"], ["history", `${root}/history`, "History"]];
  byId("tabs").hidden = false;
  fill(
    byId("tabs"),
    h("ul", {}, tabs.map(([key, href, text]) => h("li", {}, h("a", { href, "aria-current": key === here ? "page" : null }, text)))),
  );
}

const TITLES = {
  budget_exceeded: "Refused: the budget does not cover this",
  no_allowance: "Refused: you have no allowance yet",
  bad_question: "This question cannot be answered",
  forbidden: "This is for owners",
  refused: "Refused",
  policy: "Refused by the policy of this data set",
  not_found: "Not found",
  unreachable: "No answer",
  too_many_requests: "Too many requests",
};

/** A refusal or failure as a state of the page: what, why, what to do, and the name by which logs know the request. */
export function refusal(error, ...remedies) {
  if (!(error instanceof ApiError)) {
    return h("div", { class: "state refused", role: "alert" }, h("h2", {}, "This page failed"), h("p", {}, "Load it again. Nothing was bought by the failure."));
  }
  const title = TITLES[error.code] ?? (error.status >= 500 ? "The service failed" : error.status === 404 ? TITLES.not_found : "Refused");
  const at = error.position ? ` (line ${error.position[0]}, column ${error.position[1]})` : "";
  return h(
    "div",
    { class: "state refused", role: "alert" },
    h("h2", {}, title + at),
    h("p", {}, error.message),
    error.remedy ? h("p", {}, h("strong", {}, "What to do: "), error.remedy) : null,
    remedies.length ? h("div", { class: "row" }, remedies) : null,
    error.request ? h("p", { class: "hint" }, `Request ${error.request}`) : null,
  );
}

/** A calm notice. */
export const notice = (title, ...parts) => h("div", { class: "state", role: "status" }, title ? h("h2", {}, title) : null, parts);

const SHORTCUTS = [
  ["?", "these shortcuts"],
  ["g d", "go to the data sets"],
  ["g c", "go to custody (owners)"],
  ["g l", "go to learn"],
  ["/", "to the question, or to the filter of a list"],
  ["Ctrl+Enter", "in the question: rehearse, free and on made-up rows"],
  ["Ctrl+Shift+Enter", "in the question: buy"],
];

function keyboard() {
  const dialog = h(
    "dialog",
    { class: "sheet", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Keyboard shortcuts"),
    h("dl", {}, SHORTCUTS.map(([keys, text]) => h("div", {}, h("dt", {}, keys.split(" ").map((key) => [h("kbd", {}, key), " "])), h("dd", {}, text)))),
    h("form", { method: "dialog" }, h("button", { class: "first" }, "Close")),
  );
  document.body.append(dialog);
  byId("keys").addEventListener("click", () => dialog.showModal());
  let went = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    const go = Date.now() - went < 1500 && { d: "/", c: "/custody", l: "/learn" }[event.key];
    if (go) location.assign(go);
    else if (event.key === "g") went = Date.now();
    else if (event.key === "?") dialog.showModal();
    else if (event.key === "/" && document.querySelector("[data-slash]")) {
      event.preventDefault();
      document.querySelector("[data-slash]").focus();
    }
  });
}
