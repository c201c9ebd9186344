// /r/HASH : a release for good, with its card and a button that verifies it.

import { api, get, place } from "./api.js";
import { answer } from "./answer.js";
import { button, byId, facts, fill, h } from "./dom.js";
import { notice, refusal, start } from "./frame.js";
import { percent, time } from "./format.js";

start(
  async (page, me) => {
    const [, hash] = place();
    const path = `/releases/${encodeURIComponent(hash)}`;
    const release = await get(path, { anonymous: me === null });
    document.title = `Release ${hash.slice(0, 12)} \u00b7 tacit`;
    fill(byId("title"), "A release");
    const verdict = h("div", { "aria-live": "polite" });
    const verify = async () => {
      try {
        const { data } = await api(`${path}/verify`, { anonymous: me === null });
        fill(verdict, notice(data.intact ? "Verified" : "NOT verified", h("p", {}, data.text)));
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
        h("pre", { tabindex: "0", "aria-label": "The question" }, release.question),
        facts([
          ["Released", time(release.time)],
          release.dataset ? ["Data set", release.dataset] : null,
          release.analyst ? ["Bought by", release.analyst] : null,
          ["Price", release.share === null || release.share === undefined ? release.price : `${percent(release.share)} of the budget`],
          ["Entry", h("code", {}, hash)],
        ]),
        h("div", { class: "row" }, published, button("Verify", verify, { class: "first" }), me?.role === "owner" && !release.published ? publish : null),
        verdict,
      ),
      answer(release, { download: (accept) => api(path, { accept, anonymous: me === null }) }),
    );
  },
  { anonymous: true },
);
