// /d/NAME/history : what was bought, by whom, at what price; all of it free again.

import { get, place } from "./api.js";
import { fill, h, table } from "./dom.js";
import { heading, notice, start } from "./frame.js";
import { percent, plural, time } from "./format.js";

start(async (page, me) => {
  const [, name] = place();
  heading(name, "history");
  const { entries } = await get(`/datasets/${encodeURIComponent(name)}/history?count=1000`);
  if (!entries.length) {
    fill(page, notice("Nothing was bought yet", h("p", {}, h("a", { href: `/d/${encodeURIComponent(name)}` }, "Ask the first question"), ".")));
    return;
  }
  const list = h("div");
  const count = h("p", { class: "small soft", role: "status" });
  const show = (wanted) => {
    const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
    const found = entries.filter((each) => words.every((word) => `${each.what} ${each.analyst} ${each.kind} ${each.time}`.toLowerCase().includes(word)));
    fill(count, `${plural(found.length, "purchase")}${found.length < entries.length ? ` of ${entries.length}` : ""}`);
    fill(list, table("Purchases", ["When", "Who", "What", h("th", { scope: "col", class: "n" }, "Price"), "Again"], found.map((each) => row(name, each))));
  };
  const filter = h("input", { type: "search", id: "filter", "data-slash": true, placeholder: "words, a name, a day", oninput: (event) => show(event.target.value) });
  const address = `/d/${encodeURIComponent(name)}/history`;
  fill(
    page,
    h(
      "section",
      { class: "sheet" },
      h(
        "div",
        { class: "inline" },
        h("div", { class: "field" }, h("label", { for: "filter" }, me.role === "owner" ? "Filter everybody's purchases" : "Filter your purchases"), filter),
        h("div", { class: "row" }, h("a", { class: "button small", href: `${address}.csv`, download: true }, "CSV"), h("a", { class: "button small", href: `${address}.json`, download: true }, "JSON")),
      ),
      count,
      list,
    ),
  );
  show("");
});

/** The answer once more, or how to get it. */
function again(each) {
  return each.released ? h("a", { href: `/r/${encodeURIComponent(each.hash)}` }, "free") : h("span", { class: "soft" }, "ask again to complete it");
}

function row(name, each) {
  return h(
    "tr",
    {},
    h("td", { class: "when" }, time(each.time)),
    h("td", {}, each.analyst),
    h("td", { class: "what" }, each.what),
    h("td", { class: "n" }, percent(each.share)),
    h("td", {}, h("div", { class: "row" }, again(each), each.kind === "question" && /^\s*select/i.test(each.what) ? h("a", { href: `/d/${encodeURIComponent(name)}#${new URLSearchParams({ sql: each.what })}` }, "change it") : null)),
  );
}
