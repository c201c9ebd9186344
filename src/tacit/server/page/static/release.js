// /r/HASH : a release for good, with its card and a button that verifies it.

import { ApiError, api, place } from "./api.js";
import { answer } from "./answer.js";
import { button, byId, facts, fill, h, table } from "./dom.js";
import { notice, refusal, start } from "./frame.js";
import { bound, number, percent, time } from "./format.js";

start(
  async (page, me) => {
    const [, hash] = place();
    const path = `/releases/${encodeURIComponent(hash)}`;
    const { data, headers } = await api(path, { anonymous: me === null });
    const release = { ...data, published: headers.get("Tacit-Published") === "true", dataset: headers.get("Tacit-Dataset") };
    document.title = `Release ${hash.slice(0, 12)} \u00b7 tacit`;
    fill(byId("title"), "A release");
    const verdict = h("div", { "aria-live": "polite" });
    const verify = async () => {
      try {
        const { data } = await api(`${path}/verify`, { anonymous: me === null });
        const chain = `entry ${data.head.seq}, ${data.head.hash.slice(0, 16)}\u2026`;
        if (data.intact) fill(verdict, notice("Verified", h("p", {}, `The ledger keeps this release, and its chain is intact up to ${chain}`)));
        else fill(verdict, refusal(new ApiError(200, { code: "refused", message: data.reason, remedy: "Do not rely on this release; tell the owner of the data." })));
      } catch (error) {
        fill(verdict, refusal(error));
      }
    };
    const published = h("span", { class: release.published ? "tag on" : "tag" }, release.published ? "public: anyone with this address can read it" : "not published");
    const publish = button("Publish", async () => {
      try {
        await api(`${path}/publish`, { method: "POST" });
        location.reload();
      } catch (error) {
        fill(verdict, refusal(error));
      }
    });
    fill(
      page,
      h(
        "section",
        { class: "sheet" },
        release.question ? h("pre", { tabindex: "0", "aria-label": "The question" }, release.question) : null,
        facts([
          release.time ? ["Released", time(release.time)] : null,
          release.method ? ["Counts", `${number(release.queries)}, by the method ${release.method}`] : null,
          release.dataset ? ["Data set", release.dataset] : null,
          ["Price", `${percent(release.share)} of the budget`],
          ["Entry", h("code", {}, hash)],
        ]),
        h("div", { class: "row" }, published, button("Verify", verify, { class: "first" }), me?.role === "owner" && !release.published ? publish : null),
        verdict,
      ),
      release.columns ? answer(release, { download: (accept) => api(path, { accept, anonymous: me === null }) }) : counts(release),
    );
  },
  { anonymous: true },
);

const MAX_CELLS = 400;

/** The counts of a workload, each with its error. */
function counts({ cells, attributes, statement, hash, dataset }) {
  const names = attributes ?? ["count of"];
  const body = cells.slice(0, MAX_CELLS).map((each) => h("tr", {}, each.labels.map((text) => h("th", { scope: "row" }, String(text))), h("td", { class: "n" }, number(Math.round(each.value))), h("td", { class: "range" }, each.error === null ? "error unknown" : `\u00b1 ${bound(each.error)}`)));
  return h(
    "section",
    { class: "sheet", "aria-labelledby": "counts" },
    h("div", { class: "head-row" }, h("h2", { id: "counts" }, "Counts"), h("div", { class: "row" }, h("a", { class: "button small", href: `/r/${encodeURIComponent(hash)}.csv`, download: true }, "CSV"), h("a", { class: "button small", href: `/r/${encodeURIComponent(hash)}.json`, download: true }, "JSON"))),
    table("Counts", [...names, h("th", { scope: "col", class: "n" }, "rows"), h("th", { scope: "col", class: "range" }, "error")], body),
    cells.length > MAX_CELLS ? h("p", { class: "hint" }, `${number(MAX_CELLS)} of ${number(cells.length)} are shown; a download has all.`) : null,
    h("p", { class: "hint" }, `Of these counts, ${statement}.`),
    dataset ? h("p", {}, h("a", { href: `/d/${encodeURIComponent(dataset)}/tables` }, "Read any cross-table of this model")) : null,
  );
}
