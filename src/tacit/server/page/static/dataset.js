// What every page says of a data set: whom it protects, what a column is, and what is left.

import { h } from "./dom.js";
import { number, percent, plural } from "./format.js";

/** Whom a data set protects, and how many rows it has, in words. */
export function unit({ tables = [], unit: whom }) {
  const words = tables.filter((each) => !each.public).map((each) => {
    const many = each.size ? `About ${plural(each.size, "row")} of ${each.name}` : `Rows of ${each.name}`;
    const cap = each.unit !== "row" && each.rows > 1 ? `, with at most ${each.rows} of their rows` : "";
    return `${many}; protects each ${each.unit}${cap}.`;
  });
  return words.join(" ") || `Protects each ${whom}${whom === "row" ? "" : ", with all of their rows"}.`;
}

/** What is left of a budget, as a bar, a share, and a number of questions. */
export function gauge({ name, remaining, questions_left: left }) {
  const share = Number(remaining.share);
  return h(
    "div",
    { class: "gauge" },
    bar(share, `Budget left of ${name}`),
    h("p", {}, h("strong", {}, `${percent(share)} left`), left ? h("span", { class: "soft" }, ` \u2013 ${questions(left)}`) : null),
  );
}

/** A share as a bar. */
export function bar(share, label) {
  const filled = h("div");
  filled.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return h("div", { class: "bar", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": (100 * share).toFixed(1), "aria-valuetext": percent(share) }, filled);
}

/** About 38 questions left at +-50. */
export function questions({ number: left, at }) {
  return `about ${plural(left, "question")} left${at ? ` at ${at.replace(/\+-(\d+)$/, (_, digits) => `\u00b1 ${number(Number(digits))}`).replace("+-", "\u00b1 ")}` : ""}`;
}

/** A column in a few words: its type, bounds or labels. */
export function described({ type, lower, upper, values, total }) {
  if (values?.length) return `${values.slice(0, 4).join(", ")}${values.length > 4 ? ` and ${values.length - 4} more` : ""}`;
  const range = lower === null || lower === undefined ? "" : `, ${typeof lower === "number" ? number(lower) : lower} to ${typeof upper === "number" ? number(upper) : upper}`;
  return `${type}${range}${total ? `; in all ${total.map(number).join(" to ")} each` : ""}`;
}
