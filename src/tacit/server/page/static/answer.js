// An answer: its table with an interval for every number, a chart with error bars, its sentence, its card, its downloads.

import { h, facts, save, table, button, fill } from "./dom.js";
import { bound, interval, number, percent, sized } from "./format.js";
import { get } from "./api.js";
import { refusal } from "./frame.js";
import { bars, draw } from "./chart.js";

const MAX_ROWS = 400;
const NUMBERS = ["integer", "real"];
const bounded = (c) => c.noisy && c.lower && NUMBERS.includes(c.kind) && (c.rank_error ?? null) === null;

/** The whole answer as sections; `download` gives a format of it. */
export function answer(release, { download } = {}) {
  const chart = h("figure", { class: "chart" });
  const drawn = charted(release);
  if (drawn) draw(chart, `${drawn.title} with intervals`, bars(drawn.rows, drawn));
  return h(
    "section",
    { class: release.rehearsal ? "sheet madeup" : "sheet", "aria-labelledby": "answer-title", id: "answer", tabindex: "-1" },
    h("div", { class: "head-row" }, h("h2", { id: "answer-title" }, release.rehearsal ? "Rehearsal" : "Answer"), tags(release)),
    release.rehearsal
      ? h("p", { class: "state" }, "These rows are made up from the public schema alone. They show the shape of an answer and the size of its intervals, and say nothing about the data.")
      : null,
    h("div", { class: drawn ? "two" : "" }, rows(release), drawn ? h("div", {}, chart, h("p", { class: "hint" }, caption(release, drawn))) : null),
    h("p", {}, release.sentence),
    h("div", { class: "row" }, downloads(release, download)),
    release.equivalents?.sql ? same(release.equivalents) : null,
    release.hash && !release.rehearsal ? cardOf(release.hash) : null,
  );
}

function tags(release) {
  if (release.rehearsal) return h("span", { class: "tag warn" }, "made-up rows, nothing charged");
  return h(
    "div",
    { class: "row" },
    h("span", { class: "tag on" }, release.free ? "free: bought before" : `took ${percent(release.share)} of the budget`),
    release.hash ? h("a", { class: "small", href: `/r/${encodeURIComponent(release.hash)}` }, "Link for good") : null,
  );
}

/** One row of the table for each row of the answer; a number has its interval beside it. */
function rows({ columns, confidence }) {
  const count = columns[0]?.values.length ?? 0;
  const right = (c) => (NUMBERS.includes(c.kind) ? "n" : null);
  const head = columns.map((c) =>
    bounded(c)
      ? [h("th", { scope: "col", class: "n" }, c.name), h("th", { scope: "col", class: "range" }, h("span", { class: "unseen" }, `${c.name}, `), `${percent(confidence)} interval`)]
      : h("th", { scope: "col", class: right(c) }, c.name),
  ).flat();
  const cells = (c, j, i) => {
    const width = bounded(c) ? c.upper[i] - c.lower[i] : 0;
    const value = shown(c.values[i], width);
    if (bounded(c)) return [h("td", { class: "n" }, value), h("td", { class: "range" }, `[${interval(c.lower[i], c.upper[i], width)}]`)];
    return j === 0 && !c.noisy && columns.length > 1 ? h("th", { scope: "row", class: right(c) }, value) : h("td", { class: right(c) }, value);
  };
  const body = Array.from({ length: Math.min(count, MAX_ROWS) }, (_, i) => h("tr", {}, columns.map((c, j) => cells(c, j, i))));
  const exact = columns.filter((c) => c.rank_error !== null && c.rank_error !== undefined);
  return h(
    "div",
    {},
    table("The answer", head, body),
    exact.map((c) => h("p", { class: "hint" }, `${c.name}: at most ${bound(c.rank_error)} rows from the rank asked for, with probability ${percent(confidence)}.`)),
    count > MAX_ROWS ? h("p", { class: "hint" }, `${number(MAX_ROWS)} of ${number(count)} rows are shown; a download has all.`) : null,
    count === 0 ? h("p", { class: "hint" }, "No row is shown.") : null,
  );
}

function shown(value, width) {
  if (typeof value === "number") return width ? sized(value, width) : number(value);
  return value === null ? "\u2013" : typeof value === "boolean" ? (value ? "true" : "false") : value;
}

/** What a chart can show of an answer: the first noisy column of numbers against the keys. */
function charted({ columns }) {
  const drawn = columns.find(bounded);
  const keys = columns.filter((c) => !c.noisy);
  if (!drawn || !keys.length || drawn.values.length < 2) return null;
  const along = keys.length === 1 && drawn.values.length > 24 ? { integer: "quantitative", real: "quantitative", date: "temporal" }[kind(keys[0])] : null;
  const shown = drawn.values.map((value, i) => ({
    cell: along ? keys[0].values[i] : keys.map((c) => label(c.values[i])).join(", "),
    value,
    lower: drawn.lower[i],
    upper: drawn.upper[i],
  }));
  return { rows: shown.filter((row) => row.value !== null), key: keys.map((c) => c.name).join(", "), title: drawn.name, along };
}

const kind = (c) => (NUMBERS.includes(c.kind) ? c.kind : c.values.every((v) => /^\d{4}-\d\d-\d\d$/.test(v)) ? "date" : c.kind);
const label = (value) => (value === null ? "\u2013" : String(value).trim() === "" ? "(blank)" : String(value));
const caption = ({ confidence }, { title, rows: shown, along }) =>
  `${title}; lines are ${percent(confidence)} intervals.${!along && shown.length > 60 ? " The first 60 rows are drawn." : ""}`;

/** The same question elsewhere. */
export function same(equivalents) {
  const shown = Object.entries({ python: "Python", sql: "SQL", cli: "Command line" }).filter(([key]) => equivalents[key]);
  return h(
    "details",
    {},
    h("summary", {}, "The same as Python, SQL, command line"),
    shown.map(([key, title]) => {
      const copy = button("Copy", async () => {
        await navigator.clipboard?.writeText(equivalents[key]);
        fill(copy, "Copied");
      }, { class: "small", "aria-label": `Copy the ${title}` });
      return h("div", {}, h("div", { class: "head-row" }, h("h3", {}, title), copy), h("pre", { tabindex: "0" }, equivalents[key]));
    }),
  );
}

function downloads(release, download) {
  if (!download) return [];
  const named = [["CSV", "text/csv", "csv"], ["JSON", "application/json", "json"], ["Parquet", "application/vnd.apache.parquet", "parquet"], ["Arrow", "application/vnd.apache.arrow.stream", "arrows"]];
  const stem = release.rehearsal ? "made-up" : `tacit-${(release.hash ?? "release").slice(0, 12)}`;
  return [
    h("span", { class: "soft small" }, "Download"),
    named.map(([text, type, suffix]) => button(text, async () => save(`${stem}.${suffix}`, type, await (await download(type)).blob()), { class: "small" })),
  ];
}

/** The card of a release, fetched when somebody opens it. */
function cardOf(hash) {
  const body = h("div");
  const details = h("details", { ontoggle: () => details.open && !body.hasChildNodes() && show() }, h("summary", {}, "Card: how private, how accurate, made how"), body);
  const show = async () => {
    try {
      fill(body, card((await get(`/releases/${encodeURIComponent(hash)}/card`, { anonymous: true })).card));
    } catch (error) {
      fill(body, refusal(error));
    }
  };
  return details;
}

/** A card as nested definitions; everything in it is public. */
function card(value) {
  if (Array.isArray(value)) {
    if (!value.length) return "\u2013";
    return value.every((each) => typeof each !== "object") ? value.join(", ") : h("ul", {}, value.map((each) => h("li", {}, card(each))));
  }
  if (value !== null && typeof value === "object") return facts(Object.entries(value).map(([name, each]) => [name.replaceAll("_", " "), card(each)]));
  return typeof value === "number" ? number(value) : value === null || value === "" ? "\u2013" : String(value);
}
