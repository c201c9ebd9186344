// /d/NAME/tables : buy one model of some attributes; read any cross-table of them from it, free, with an error for every cell.

import { api, get, place, post } from "./api.js";
import { button, debounced, facts, fill, h, select, table } from "./dom.js";
import { heading, notice, refusal, start } from "./frame.js";
import { bound, number, percent, plural, time } from "./format.js";
import { decimal, shares } from "./terms.js";

const POLL = 500; // milliseconds between looks at a job
const LABELLED = ["category", "boolean", "integer", "date"];

start(async (page) => {
  const [, name] = place();
  heading(name, "tables");
  const path = `/datasets/${encodeURIComponent(name)}`;
  const dataset = await get(path);
  const models = h("div", { class: "clicks" });
  const shown = h("div", { "aria-live": "polite" });
  fill(page, h("div", { class: "two" }, shop(), h("section", { class: "sheet", "aria-labelledby": "read-title" }, h("h2", { id: "read-title" }, "Read a cross-table"), models)), shown);
  await owned();

  /** Choosing attributes, a price, and buying a model of them. */
  function shop() {
    const [first] = dataset.tables.filter((each) => !each.public);
    const possible = first.columns.filter((each) => LABELLED.includes(each.type));
    const boxes = possible.map((each) => [each.name, h("input", { type: "checkbox", onchange: () => changed() })]);
    const ways = select([["1", "each attribute alone"], ["2", "all pairs"], ["3", "all triples"]], "2", () => changed(), { id: "ways" });
    const steps = shares(Number(dataset.least_share), Number(dataset.policy?.most ?? 1));
    const price = h("input", { type: "range", min: 0, max: steps.length - 1, value: Math.max(0, steps.findIndex((each) => each >= 0.05)), id: "price", oninput: () => changed() });
    const label = h("label", { for: "price" });
    const says = h("div", { "aria-live": "polite" });
    const buys = button("Buy this model", buy, { class: "first", disabled: true });
    let wanted = null;
    const later = debounced(plan, 250);
    changed();
    return h(
      "section",
      { class: "sheet", "aria-labelledby": "model-title" },
      h("h2", { id: "model-title" }, "Buy a model"),
      dataset.may?.workloads === false ? notice("", "The owner does not sell models to you. Ask an owner to allow workloads.") : null,
      h("fieldset", {}, h("legend", {}, "Attributes with public values"), h("div", { class: "row" }, boxes.map(([text, box]) => h("label", { class: "check" }, box, text)))),
      h("div", { class: "inline" }, h("div", { class: "field" }, h("label", { for: "ways" }, "Accurate for"), ways), h("div", { class: "field" }, label, price)),
      says,
      h("div", {}, buys),
    );

    function request() {
      const attributes = boxes.filter(([, box]) => box.checked).map(([text]) => text);
      return { attributes, k: Math.min(Number(ways.value), attributes.length), terms: { share: decimal(steps[price.value]) } };
    }
    function changed() {
      fill(label, `Price: ${percent(steps[price.value])} of the budget`);
      price.setAttribute("aria-valuetext", `${percent(steps[price.value])} of the budget`);
      buys.disabled = true;
      wanted = null;
      later();
    }
    async function plan() {
      const asked = request();
      if (!asked.attributes.length) return fill(says, h("p", { class: "soft" }, "Choose attributes to see what a model of them would cost and how accurate it would be."));
      try {
        const found = await post(`${path}/plans`, asked);
        const [best] = found.methods;
        wanted = asked;
        buys.disabled = false;
        fill(buys, found.free ? "Open again, free" : found.needs_approval ? "Ask for approval" : `Buy for ${percent(found.share)}`);
        return fill(says, facts([["Counts within", `\u00b1 ${bound(best.mean)} on average, ${best.worst === null ? "no bound on the worst" : `\u00b1 ${bound(best.worst)} at worst`}`], ["Counts", plural(found.queries, "cell")], ["Method", `${best.method}${best.why ? `: ${best.why}` : ""}`], found.free ? ["Price", "nothing: bought before"] : ["Left after", percent(found.left_after)]]));
      } catch (error) {
        return fill(says, refusal(error));
      }
    }
    async function buy() {
      if (!wanted) return;
      buys.disabled = true;
      try {
        const { data, status, headers } = await api(`${path}/answers`, { body: wanted });
        if (data.approval) fill(says, notice("Waiting for an owner's approval", h("p", {}, data.message ?? "Ask again once it is approved.")));
        else if (status === 202) await follow(data.id ?? headers.get("Location").split("/").at(-1), says);
        await owned();
      } catch (error) {
        fill(says, refusal(error));
      }
      buys.disabled = false;
    }
  }

  /** Follows a job to its end. */
  async function follow(id, says) {
    for (;;) {
      const job = await get(`/jobs/${encodeURIComponent(id)}`);
      if (job.state === "done") return fill(says, notice("Bought", h("p", {}, "Every cross-table of these attributes is free now.")));
      if (["failed", "cancelled"].includes(job.state)) return fill(says, notice(`The purchase ${job.state === "failed" ? "failed" : "was cancelled"}`, h("p", {}, job.error ?? "If it was charged, the same purchase is completed under the same charge when you ask again.")));
      const cancel = button("Cancel", () => api(`/jobs/${encodeURIComponent(id)}`, { method: "DELETE" }), { class: "small" });
      fill(says, notice(`Computing: ${percent(job.share ?? 0)} done`, cancel));
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  /** The models that were bought, and the choice of a cross-table of one. */
  async function owned() {
    const { entries } = await get(`${path}/history`);
    const bought = entries.filter((each) => each.kind === "workload" && each.attributes);
    if (!bought.length) return fill(models, h("p", { class: "soft" }, "No model was bought yet. Choose attributes and buy one; after that, every cross-table of them is free."));
    let [model] = bought;
    const which = select(bought.map((each) => [each.hash, `${each.attributes.join(", ")} (${time(each.time)})`]), model.hash, (hash) => { model = bought.find((each) => each.hash === hash); choose(); }, { id: "which" });
    const choice = h("div", { class: "inline" });
    fill(models, h("div", { class: "field" }, h("label", { for: "which" }, "Model"), which), choice);
    choose();

    function choose() {
      const names = model.attributes;
      const [rows, columns] = [select(names.map((each) => [each, each]), names[0], read, { id: "rows" }), select([["", "nothing"], ...names.map((each) => [each, each])], names[1] ?? "", read, { id: "columns" })];
      fill(choice, h("div", { class: "field" }, h("label", { for: "rows" }, "Rows"), rows), h("div", { class: "field" }, h("label", { for: "columns" }, "Columns"), columns));
      read();
      async function read() {
        const [a, b] = [rows.value, columns.value];
        const subsets = b && b !== a ? [[a, b], [a], [b], []] : [[a], []];
        try {
          fill(shown, cross(await post(`${path}/queries`, { release: model.hash, attributes: names, subsets }), subsets));
        } catch (error) {
          fill(shown, refusal(error));
        }
      }
    }
    return models;
  }
});

/** A cross-table with its margins; every number has its error, and the margins are sums of the cells. */
function cross({ tables, statement }, subsets) {
  const of = (names) => tables[subsets.findIndex((each) => each === names)];
  const cell = (from, i, tag = "td") => h(tag, { class: "n" }, number(Math.round(from.answers[i])), h("span", { class: "range" }, from.errors?.[i] === null || from.errors === null ? "error unknown" : `\u00b1 ${bound(from.errors[i])}`));
  const pair = subsets.length === 4;
  const body = of(subsets[0]);
  const total = of(subsets.at(-1));
  const [rows, columns] = body.labels;
  const name = subsets[0].join(" by ");
  const head = pair ? [subsets[0].join(" \\ "), ...columns.map((text) => h("th", { scope: "col", class: "n" }, String(text))), h("th", { scope: "col", class: "n" }, "all")] : [subsets[0][0], h("th", { scope: "col", class: "n" }, "rows")];
  const lines = rows.map((text, i) => h("tr", {}, h("th", { scope: "row" }, String(text)), pair ? columns.map((_, j) => cell(body, i * columns.length + j)) : cell(body, i), pair ? cell(of(subsets[1]), i) : null));
  const last = h("tr", { class: "total" }, h("th", { scope: "row" }, "all"), pair ? columns.map((_, j) => cell(of(subsets[2]), j)) : null, cell(total, 0));
  return h("section", { class: "sheet", "aria-labelledby": "cross-title" }, h("h2", { id: "cross-title" }, name), table(name, head, [...lines, last]), h("p", { class: "hint" }, `${statement} Totals are those of the same model, so they agree with the cells up to rounding.`));
}
