// The ledger as a timeline: every entry, newest first; and its head, which kept elsewhere is an anchor.

import { api, get } from "./api.js";
import { button, field, fill, h } from "./dom.js";
import { notice, refusal } from "./frame.js";
import { number, percent, time } from "./format.js";

const PAGE = 60; // entries that are shown at a time

export async function ledger(node, dataset) {
  const root = `/datasets/${encodeURIComponent(dataset.name)}`;
  const path = `${root}/ledger`;
  const [{ head }, { entries: bought }] = await Promise.all([get(`${path}?count=1`), get(`${root}/history?count=1000`)]);
  const prices = new Map(bought.map((each) => [each.entry, each.share]));
  const list = h("ol", { class: "timeline" });
  const verdict = h("div", { "aria-live": "polite" });
  const anchor = h("input", { placeholder: "SEQ:HASH", autocomplete: "off", spellcheck: "false" });
  const more = button("Earlier entries", () => page(), { class: "small" });
  let last = head.seq;
  fill(
    node,
    h("p", { class: "soft small" }, "Each entry holds the hash of the one before it. Keep the head elsewhere as an anchor: with it, a ledger that was cut short or rolled back shows."),
    h("div", { class: "field" }, h("h3", {}, "Head"), h("pre", { tabindex: "0", "aria-label": "Head of the ledger" }, `${head.seq}:${head.hash}`)),
    h("div", { class: "inline" }, field("Verify against an earlier head, if you kept one", anchor), button("Verify", verify, { class: "first" }), h("a", { class: "button", href: `/v1${path}/export`, download: `${dataset.name}-ledger.jsonl` }, "Export")),
    verdict,
    list,
    more,
  );
  await page();

  /** Shows the entries before those that are shown. */
  async function page() {
    const { entries } = await get(`${path}?after=${Math.max(0, last - PAGE)}&count=${Math.min(last, PAGE)}`);
    list.append(...entries.reverse().map((each) => entry(each, prices)));
    last = Math.max(0, last - PAGE);
    more.hidden = last === 0;
  }

  async function verify() {
    try {
      const { data } = await api(`${path}/verify`, { method: "POST" });
      const kept = anchor.value.trim() ? await anchored(anchor.value.trim()) : null;
      if (!data.intact) fill(verdict, broken(data.reason));
      else if (kept === false) fill(verdict, broken("The entry of this anchor has another hash, or is missing: this is another history, or one that was cut short."));
      else fill(verdict, notice("The ledger is intact", h("p", {}, `The chain of ${number(data.entries)} entries and every sum were recomputed.${kept ? " It continues the history of your anchor." : ""}`)));
    } catch (error) {
      fill(verdict, refusal(error));
    }
  }

  /** Whether the ledger has the entry of an anchor. */
  async function anchored(text) {
    const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
    if (!hash || Number(seq) < 1) return false;
    const { entries } = await get(`${path}?after=${Number(seq) - 1}&count=1`);
    return entries[0]?.seq === Number(seq) && entries[0].hash === hash;
  }
}

const broken = (reason) => h("div", { class: "state refused", role: "alert" }, h("h3", {}, "The ledger is NOT what was written"), h("p", {}, reason), h("p", {}, h("strong", {}, "What to do: "), "Stop selling, keep this file, and restore a backup that verifies against your last anchor."));

function entry(each, prices) {
  const share = prices.get(each.seq);
  return h(
    "li",
    { class: each.kind === "opening" ? "anchor" : null },
    h("div", { class: "row" }, h("strong", {}, `${each.seq}. ${each.analyst ?? each.name ?? ""}`), h("span", { class: "soft small" }, time(each.time)), h("span", { class: "tag" }, each.kind), share === undefined ? null : h("span", { class: "tag on" }, `took ${percent(share)}`)),
    h("p", {}, share === undefined ? said(each) : h("a", { href: `/r/${encodeURIComponent(each.hash)}` }, said(each))),
  );
}

/** What an entry says. */
function said(each) {
  if (each.kind === "opening") return `The ledger of ${each.dataset} was opened with ${amount(each.budget)}.`;
  if (each.kind === "allowance") return `Allowance of ${each.name}: ${amount(each.budget)}.`;
  if (each.kind === "release") return `The answer of entry ${each.charge} was stored.`;
  if (each.kind === "step") return `A step of entry ${each.charge}.`;
  return each.purpose ? (each.purpose.kind === "question" ? each.purpose.description : `${each.purpose.kind}: ${each.purpose.description}`) : each.kind;
}

const exact = (text) => {
  const [above, below = "1"] = String(text).split("/");
  return number(Number(above) / Number(below));
};
const amount = (budget) => ["epsilon", "rho", "delta"].filter((name) => budget?.[name] && !/^0(\/|$)/.test(budget[name])).map((name) => `${name} = ${exact(budget[name])}`).join(", ");
