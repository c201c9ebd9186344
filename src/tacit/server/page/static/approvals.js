// Purchases that wait for an owner, and those that were decided.

import { get, post } from "./api.js";
import { button, fill, h, table } from "./dom.js";
import { refusal } from "./frame.js";
import { percent, time } from "./format.js";

/** What a request says: a question or a workload, and its share of the budget. */
function requested(text) {
  try {
    const { about, share, fresh } = JSON.parse(text);
    return [about, h("span", { class: "hint" }, h("br"), `${percent(share)} of the budget${fresh ? ", drawn afresh" : ""}`)];
  } catch {
    return text;
  }
}

export async function approvals(node) {
  const { approvals: all } = await get("/approvals");
  const waiting = all.filter((each) => each.state === "pending");
  const decided = all.filter((each) => each.state !== "pending");
  const failed = h("div", { "aria-live": "polite" });
  const decide = (each, approved) => async () => {
    try {
      await post(`/approvals/${encodeURIComponent(each.id)}`, { approved });
      await approvals(node);
    } catch (error) {
      fill(failed, refusal(error));
    }
  };
  const cells = (each) => [h("td", {}, each.person), h("td", {}, each.dataset), h("td", { class: "what" }, requested(each.request)), h("td", { class: "when" }, time(each.asked))];
  fill(
    node,
    failed,
    waiting.length
      ? table("Purchases that wait", ["Who", "Data set", "What", "Asked", "Decide"], waiting.map((each) => h("tr", {}, cells(each), h("td", {}, h("div", { class: "row" }, button("Approve", decide(each, true), { class: "small first" }), button("Deny", decide(each, false), { class: "small" }))))))
      : h("p", { class: "soft" }, "Nothing waits for you."),
    decided.length
      ? h("details", {}, h("summary", {}, `${decided.length} decided`), table("Decided purchases", ["Who", "Data set", "What", "Asked", "Decision"], decided.map((each) => h("tr", {}, cells(each), h("td", {}, `${each.state}${each.decider ? ` by ${each.decider}` : ""}`)))))
      : null,
  );
}
