// / : my data sets, what is left of each, and about how many questions that is.

import { get } from "./api.js";
import { gauge, unit } from "./dataset.js";
import { fill, h } from "./dom.js";
import { notice, start } from "./frame.js";

start(async (page, me) => {
  const { datasets } = await get("/datasets");
  if (!datasets.length) {
    const remedy = me.role === "owner" ? "Register one with `tacit dataset add`." : "Ask the owner of the data for a policy that admits you.";
    fill(page, notice("There is no data set for you yet", h("p", {}, remedy)));
    return;
  }
  fill(page, h("ul", { class: "cards" }, datasets.map((each) => h("li", {}, card(each)))));
});

function card(dataset) {
  return h(
    "a",
    { class: "sheet", href: `/d/${encodeURIComponent(dataset.name)}` },
    h("h2", {}, dataset.name),
    h("p", { class: "soft" }, unit(dataset)),
    gauge(dataset),
  );
}
