// A schema with its consequences: what a bound, a cap on rows or a total costs in noise, before anything is asked.

import { post } from "./api.js";
import { described } from "./dataset.js";
import { fill, h, table } from "./dom.js";
import { bound, number } from "./format.js";
import { name as quoted } from "./question.js";

const SHARE = "0.01"; // of the budget, for each figure

export async function consequences(node, dataset) {
  const shown = await Promise.all(dataset.tables.filter((each) => !each.public).map((each) => of(dataset, each)));
  const schemas = Object.values(dataset.schemas ?? {});
  fill(node, shown, schemas.length ? h("details", {}, h("summary", {}, "The schema as text"), schemas.map((text) => h("pre", { tabindex: "0" }, text))) : null);
}

async function of(dataset, each) {
  const whom = each.unit ?? "row";
  const errors = async (outputs) => {
    try {
      const sql = `SELECT ${outputs} FROM ${quoted(each.name)}`;
      return (await post(`/datasets/${encodeURIComponent(dataset.name)}/offers`, { sql, terms: { share: SHARE } })).errors.map(({ error }) => error);
    } catch {
      return [null];
    }
  };
  const [[rows], ...columns] = await Promise.all([errors("COUNT(*) AS n"), ...each.columns.map(async (column) => (["integer", "real"].includes(column.type) ? [...(await errors(`SUM(${quoted(column.name)}) AS s`)), ...(await errors(`AVG(${quoted(column.name)}) AS m`))] : []))]);
  const body = each.columns.map((column, i) =>
    h("tr", {}, h("th", { scope: "row" }, column.name), h("td", {}, described(column)), h("td", { class: "n" }, columns[i].length ? `\u00b1 ${bound(columns[i][0])}` : "\u2013"), h("td", { class: "n" }, columns[i].length > 1 ? `\u00b1 ${bound(columns[i][1])}` : "\u2013")),
  );
  return h(
    "div",
    { class: "clicks" },
    h("p", {}, `${each.name} protects ${each.unit ? `each ${whom} with at most ${number(each.rows)} of their rows` : "each row"}. For one per cent of the budget a count of rows is within \u00b1 ${bound(rows)} (95 %). Fewer rows a ${whom}, or narrower bounds, mean less noise:`),
    table(`Noise of the columns of ${each.name}`, ["Column", "Public facts", h("th", { scope: "col", class: "n" }, "Sum at 1 %"), h("th", { scope: "col", class: "n" }, "Mean at 1 %")], body),
  );
}
