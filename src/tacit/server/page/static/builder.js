// A question in clicks: what, filter, by.  The other view of the model is the SQL text beside it.

import { button, fill, h, select } from "./dom.js";
import { AGGREGATES, COMPARISONS, NUMERIC } from "./question.js";

const KEYS = ["category", "boolean", "text", "integer", "date"];
const NUMBERS = ["integer", "real"];
const MANY = 60; // more values than this make no key of an integer column by a click

/** Draws the model into a node; `change` is told of a new model, and `other` whether the text says more than clicks can. */
export function builder(node, tables, change) {
  return (model) => (model ? fill(node, lines(tables, model, change)) : fill(node, beyond()));
}

const beyond = () =>
  h(
    "p",
    { class: "hint" },
    "The text says more than these clicks can show, so the text alone counts. Clicks show counts, sums, means, medians and deviations of columns, conditions joined by AND, and columns to group by.",
  );

function lines(tables, model, change) {
  const table = tables.find((each) => each.name === model.table);
  const edit = (part) => change({ ...model, ...part });
  return [
    tables.length > 1 ? line("From", [select(tables.map((each) => [each.name, each.name]), model.table, (name) => change({ ...empty(), table: name }), { "aria-label": "Table" })]) : null,
    line("What", [what(table, model, edit)]),
    line("Filter", [filter(table, model, edit)]),
    line("By", [by(table, model, edit)]),
  ];
}

export const empty = () => ({ what: [{ kind: "count", as: "n" }], where: [], by: [] });

const line = (title, parts) => h("div", { class: "line" }, h("h3", {}, title), parts);
const without = (list, i) => list.filter((_, j) => j !== i);
const chip = (text, remove, label) => h("span", { class: "chip" }, text, button("\u00d7", remove, { "aria-label": `Remove ${label}` }));

function what(table, model, edit) {
  const chips = model.what.map((each, i) => {
    const text = `${AGGREGATES.find(([kind]) => kind === each.kind)[1].replace("unit", table.unit)} ${each.column ?? ""}`.trim();
    return chip(text, () => edit({ what: without(model.what, i) }), text);
  });
  const numbers = table.columns.filter((each) => NUMBERS.includes(each.type));
  const kinds = AGGREGATES.filter(([kind]) => (kind === "units" ? table.unit !== "row" : !NUMERIC.includes(kind) || numbers.length));
  const options = [
    ["", "add \u2026"],
    ...kinds.flatMap(([kind, text]) =>
      NUMERIC.includes(kind) ? numbers.map(({ name }) => [JSON.stringify([kind, name]), `${text} ${name}`]) : [[JSON.stringify([kind]), text.replace("unit", table.unit)]],
    ),
  ];
  const add = (chosen) => chosen && edit({ what: [...model.what, aggregate(...JSON.parse(chosen), model)] });
  return [chips, select(options, "", add, { "aria-label": "Add what to compute" })];
}

/** A new aggregate, with a plain name that no other has. */
export function aggregate(kind, column, model) {
  const taken = new Set([...model.what.map((each) => each.as), ...model.by]);
  const base = { count: "n", units: "units", avg: "mean", stddev: "deviation" }[kind] ?? kind;
  const plain = column && /^[a-z][a-z0-9_]*$/.test(column) ? `${base}_${column}` : base;
  let as = plain;
  for (let i = 2; taken.has(as); i += 1) as = `${plain}_${i}`;
  return column ? { kind, as, column } : { kind, as };
}

function by(table, model, edit) {
  const possible = table.columns.filter((each) => groups(each) && !model.by.includes(each.name));
  const chips = model.by.map((name, i) => chip(name, () => edit({ by: without(model.by, i) }), `grouping by ${name}`));
  const options = [["", "add \u2026"], ...possible.map((each) => [each.name, each.name])];
  return [chips, possible.length ? select(options, "", (name) => name && edit({ by: [...model.by, name] }), { "aria-label": "Add a column to group by" }) : null];
}

/** Whether a click may group by this column. */
export const groups = (column) =>
  KEYS.includes(column.type) && (column.type !== "integer" || (column.lower !== null && column.upper - column.lower < MANY * 4));

function filter(table, model, edit) {
  const replace = (i, part) => edit({ where: model.where.map((each, j) => (j === i ? { ...each, ...part } : each)) });
  const rows = model.where.map((each, i) => {
    const column = table.columns.find(({ name }) => name === each.column);
    return h("span", { class: "chip" }, each.column, test(column, each, (part) => replace(i, part)), button("\u00d7", () => edit({ where: without(model.where, i) }), { "aria-label": `Remove the condition on ${each.column}` }));
  });
  const options = [["", "add \u2026"], ...table.columns.filter((each) => each.type !== "text").map(({ name }) => [name, name])];
  const add = (name) => name && edit({ where: [...model.where, fresh(table.columns.find((each) => each.name === name))] });
  return [rows, select(options, "", add, { "aria-label": "Add a condition" })];
}

function fresh(column) {
  if (column.type === "boolean") return { column: column.name, test: "true" };
  if (column.type === "category") return { column: column.name, test: "=", value: column.values?.[0] ?? "" };
  return { column: column.name, test: ">=", value: String(column.lower ?? "0") };
}

function test(column, each, replace) {
  const named = { "aria-label": `Condition on ${column.name}` };
  if (each.test === "true" || each.test === "false") return select([["true", "is true"], ["false", "is false"]], each.test, (chosen) => replace({ test: chosen }), named);
  if (each.test === "in") return ` is one of ${each.value.join(", ")}`;
  const sign = select(COMPARISONS.map((text) => [text, text]), each.test, (chosen) => replace({ test: chosen }), named);
  const value = { "aria-label": `Value for ${column.name}` };
  if (column.values?.length) return [sign, select(column.values.map((text) => [text, text]), each.value, (chosen) => replace({ value: chosen }), value)];
  const type = column.type === "date" ? "date" : "text";
  return [sign, h("input", { ...value, type, value: each.value, size: 8, onchange: (event) => replace({ value: event.target.value }) })];
}
