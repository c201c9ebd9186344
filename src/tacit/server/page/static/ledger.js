// The ledger as a timeline: every entry, what it took, what was left; and its head, which kept elsewhere is an anchor.

import { get, post } from "./api.js";
import { button, field, fill, h } from "./dom.js";
import { notice, refusal } from "./frame.js";
import { percent, time } from "./format.js";

export async function ledger(node, dataset) {
  const path = `/datasets/${encodeURIComponent(dataset.name)}/ledger`;
  const { entries, head } = await get(path);
  const verdict = h("div", { "aria-live": "polite" });
  const anchor = h("input", { placeholder: "SEQ:HASH", autocomplete: "off", spellcheck: "false" });
  const verify = async () => {
    try {
      const found = await post(`${path}/verify`, anchor.value.trim() ? { anchor: anchor.value.trim() } : {});
      fill(verdict, notice("The ledger is intact", h("p", {}, found.text ?? `Every entry and every sum was recomputed. Head: ${found.head}`)));
    } catch (error) {
      fill(verdict, refusal(error));
    }
  };
  fill(
    node,
    h("p", { class: "soft small" }, "Each entry holds the hash of the one before it. Keep the head elsewhere as an anchor: with it, a ledger that was cut short or rolled back shows."),
    h("div", { class: "field" }, h("h3", {}, "Head"), h("pre", { tabindex: "0", "aria-label": "Head of the ledger" }, `${head.entry}:${head.hash}`)),
    h("div", { class: "inline" }, field("Verify against an earlier head, if you kept one", anchor), button("Verify", verify, { class: "first" }), h("a", { class: "button", href: `/v1${path}/export`, download: true }, "Export")),
    verdict,
    h("ol", { class: "timeline", reversed: true }, [...entries].reverse().map(entry)),
  );
}

function entry(each) {
  return h(
    "li",
    { class: each.kind === "opened" ? "anchor" : null },
    h("div", { class: "row" }, h("strong", {}, `${each.entry}. ${each.analyst ?? ""}`), h("span", { class: "soft small" }, time(each.time)), each.share ? h("span", { class: "tag on" }, percent(each.share)) : null, h("span", { class: "tag" }, each.kind)),
    h("p", {}, each.hash ? h("a", { href: `/r/${encodeURIComponent(each.hash)}` }, each.what) : each.what),
    each.left === undefined ? null : h("p", { class: "hint" }, `${percent(each.left)} left`),
  );
}
