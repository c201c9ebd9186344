// /d/NAME/tables : buy one model of some attributes; read any cross-table of them from it, free, with an error for every cell.

import { api, get, place, post } from "./api.js";
import { button, debounced, facts, fill, h, select, table } from "./dom.js";
import { heading, notice, refusal, start } from "./frame.js";
import { bound, budget, number, percent, plural, time } from "./format.js";
import { decimal, shares } from "./terms.js";

const POLL = 500; // milliseconds between looks at a job
const ROWS = 1000; // that are drawn from a model
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
        const best = found.methods.find((each) => each.mean !== null);
        if (!best) return fill(says, notice("No method can answer these", h("p", {}, found.methods[0]?.reason ?? "Choose other attributes.")));
        wanted = asked;
        buys.disabled = false;
        fill(buys, `Buy for ${percent(asked.terms.share)}`);
        return fill(says, facts([["Counts within", `\u00b1 ${bound(best.mean)} on average, ${best.worst === null ? "no bound on the worst" : `\u00b1 ${bound(best.worst)} at worst`}`], ["Counts", plural(found.queries, "cell")], ["Method", best.method], found.remarks.length ? ["Remarks", budget(found.remarks.join("; "))] : null]));
      } catch (error) {
        return fill(says, refusal(error));
      }
    }
    async function buy() {
      if (!wanted) return;
      const asked = wanted;
      buys.disabled = true;
      try {
        const { data } = await api(`${path}/answers`, { body: asked });
        const { entry } = await follow(data.id, says);
        if (entry) fill(says, notice("Bought", h("p", {}, "Every cross-table of these attributes is free now."), dataset.may?.synthetic ? drawing(asked, says) : null));
        if (entry) await owned(entry);
      } catch (error) {
        fill(says, refusal(error));
      }
      buys.disabled = false;
    }
  }

  /** A button that draws rows from a model that was bought, which is free, and then hands them out as a file. */
  function drawing(asked, says) {
    const draw = async () => {
      try {
        const { data } = await api(`${path}/synthetic`, { body: { ...asked, rows: ROWS } });
        const { result } = await follow(data.id, says);
        if (result) fill(says, notice("Synthetic rows", h("p", {}, `${number(ROWS)} made-up rows that agree with the model.`), h("a", { class: "button small", href: `${result}?format=csv`, download: `${name}-synthetic.csv` }, "Download CSV")));
      } catch (error) {
        fill(says, refusal(error));
      }
    };
    return button(`Draw ${number(ROWS)} synthetic rows, free`, draw, { class: "small" });
  }

  /** Follows a job to its end; gives the job, or nothing of it where it did not end well. */
  async function follow(id, says) {
    for (;;) {
      const job = await get(`/jobs/${encodeURIComponent(id)}`);
      if (job.state === "done") return job;
      if (["failed", "cancelled"].includes(job.state)) {
        const title = job.code === "approval_needed" ? "Waiting for an owner's approval" : `The purchase ${job.state === "failed" ? "failed" : "was cancelled"}`;
        fill(says, notice(title, h("p", {}, job.error ?? "If it was charged, the same purchase is completed under the same charge when you ask again.")));
        return {};
      }
      const cancel = button("Cancel", () => api(`/jobs/${encodeURIComponent(id)}`, { method: "DELETE" }), { class: "small" });
      fill(says, notice(`Computing: ${percent(job.share)} done`, cancel));
      await new Promise((resolve) => setTimeout(resolve, POLL));
    }
  }

  /** The models that were bought, and the choice of a cross-table of one. */
  async function owned(newest) {
    const { entries } = await get(`${path}/history?count=1000`);
    const bought = entries.filter((each) => each.kind === "workload" && each.released);
    if (!bought.length) return fill(models, h("p", { class: "soft" }, "No model was bought yet. Choose attributes and buy one; after that, every cross-table of them is free."));
    const choice = h("div", { class: "inline" });
    const which = select(bought.map((each) => [each.hash, `${each.what}, ${time(each.time)}`]), newest ?? bought[0].hash, choose, { id: "which" });
    fill(models, h("div", { class: "field" }, h("label", { for: "which" }, "Model"), which), choice);
    return choose(which.value);

    async function choose(hash) {
      try {
        const { domain } = await get(`/releases/${encodeURIComponent(hash)}`);
        const named = domain.map((each) => [each, each]);
        const rows = select(named, domain[0], read, { id: "rows" });
        const columns = select([["", "nothing"], ...named], domain[1] ?? "", read, { id: "columns" });
        fill(choice, h("div", { class: "field" }, h("label", { for: "rows" }, "Rows"), rows), h("div", { class: "field" }, h("label", { for: "columns" }, "Columns"), columns));
        await read();
        async function read() {
          const [a, b] = [rows.value, columns.value];
          const subsets = b && b !== a ? [[a, b], [a], [b], []] : [[a], []];
          const ask = (attributes) => post(`${path}/queries`, { release: hash, ...(attributes.length ? { attributes } : {}) });
          fill(shown, cross(await Promise.all(subsets.map(ask)), subsets[0]));
        }
      } catch (error) {
        fill(shown, refusal(error));
      }
    }
  }
});

/** A cross-table with its margins; every number has its error, and the margins are sums of the cells. */
function cross(tables, names) {
  const [inner, total] = [tables[0], tables.at(-1)];
  const labels = inner.attributes.map((_, axis) => [...new Set(inner.cells.map((each) => each.labels[axis]))]);
  const flip = inner.attributes.length === 2 && inner.attributes[0] !== names[0]; // the model has an order of its own
  const [rows, columns] = flip ? [labels[1], labels[0]] : labels;
  const at = (i, j) => inner.cells[columns ? (flip ? j * rows.length + i : i * columns.length + j) : i];
  const cell = ({ value, error }) => h("td", { class: "n" }, number(Math.round(value)), h("span", { class: "range" }, error === null ? "error unknown" : `\u00b1 ${bound(error)}`));
  const right = (text) => h("th", { scope: "col", class: "n" }, String(text));
  const title = names.join(" by ");
  const head = columns ? [names.join(" \\ "), ...columns.map(right), right("all")] : [names[0], right("rows")];
  const lines = rows.map((text, i) => h("tr", {}, h("th", { scope: "row" }, String(text)), columns ? [columns.map((_, j) => cell(at(i, j))), cell(tables[1].cells[i])] : cell(at(i))));
  const last = h("tr", { class: "total" }, h("th", { scope: "row" }, "all"), columns ? tables[2].cells.map(cell) : null, cell(total.cells[0]));
  return h("section", { class: "sheet", "aria-labelledby": "cross-title" }, h("h2", { id: "cross-title" }, title), table(title, head, [...lines, last]), h("p", { class: "hint" }, `Of these counts, ${inner.statement}. Totals come from the same model, so they agree with the cells up to rounding.`));
}
