// What a question may cost: the policy's price, a share of the budget by a slider, or an amount that is typed.

import { field, fill, h, select } from "./dom.js";
import { percent } from "./format.js";

const USUAL = 0.02; // of the budget, where the policy sets no price
const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
const KINDS = [
  ["policy", "the price that the owner suggests"],
  ["error", "an error: every count and sum within \u2026"],
  ["relative", "an error relative to the size of the table"],
  ["share", "a share of the budget"],
  ["epsilon", "epsilon of the answer alone"],
  ["rho", "rho of the answer alone (zCDP)"],
];

/** Shares of the budget that the slider offers: ten a decade, short enough that a repeated question is the same. */
export function shares(least, most) {
  const found = [];
  for (let e = Math.floor(Math.log10(least)); 10 ** e <= most; e += 1) {
    for (const step of STEPS) {
      const share = Number(`${step}e${e}`);
      if (share >= least * (1 - 1e-12) && share <= most * (1 + 1e-12)) found.push(share);
    }
  }
  return found.length ? found : [most];
}

/** A share as the API reads numbers: exact decimal text. */
export const decimal = (x) => (x >= 1e-6 ? String(Number(x.toPrecision(2))) : x.toFixed(12).replace(/0+$/, ""));

/** The controls; `change` is told when the terms change, `terms()` gives them and `follow(share)` moves the slider. */
export function termsControl(node, { least, most, price }, change) {
  const steps = shares(least, most);
  const kinds = price ? KINDS : KINDS.slice(1); // without a price of the policy, each question names its own
  const usual = Math.min(most, Math.max(least, USUAL));
  const slider = h("input", { type: "range", min: 0, max: steps.length - 1, step: 1, id: "slider", oninput: slide, "aria-describedby": "slider-says" });
  const says = h("output", { id: "slider-says", for: "slider", class: "small" });
  const kind = select(kinds, price ? "policy" : "share", typed, { id: "kind" });
  const amount = h("input", { id: "amount", inputmode: "decimal", autocomplete: "off", oninput: () => change() });
  const delta = h("input", { id: "delta", inputmode: "decimal", autocomplete: "off", placeholder: "none", oninput: () => change() });
  const beta = h("input", { id: "beta", inputmode: "decimal", autocomplete: "off", placeholder: "0.05", oninput: () => change() });
  const amounts = field("Amount", amount);
  const deltas = field("Delta", delta);
  amounts.hidden = deltas.hidden = true;
  let follows = true; // whether the slider shows the price of the offer rather than setting it

  function slide() {
    follows = false;
    kind.value = "share";
    amount.value = decimal(steps[slider.value]);
    shown(steps[slider.value]);
    change();
  }
  function typed() {
    follows = true;
    amounts.hidden = kind.value === "policy";
    deltas.hidden = kind.value !== "epsilon";
    if (!amounts.hidden) amount.focus();
    change();
  }
  function shown(share) {
    fill(says, `${percent(share)} of the budget`);
    slider.setAttribute("aria-valuetext", `${percent(share)} of the budget`);
  }

  fill(
    node,
    h("div", { class: "ends" }, h("label", { for: "slider" }, "Price against accuracy"), says),
    slider,
    h("div", { class: "ends", "aria-hidden": "true" }, h("span", {}, "cheaper, rougher"), h("span", {}, "dearer, sharper")),
    h(
      "details",
      { id: "exact-terms" },
      h("summary", {}, "Epsilon, an error, or the confidence"),
      h("div", { class: "clicks" }, field("Ask for", kind), h("div", { class: "inline" }, amounts, deltas, field("Chance of a larger error", beta))),
    ),
  );

  return {
    terms() {
      const chosen = {};
      if (kind.value !== "policy" && amount.value.trim()) chosen[kind.value] = amount.value.trim();
      if (kind.value === "epsilon" && delta.value.trim()) chosen.delta = delta.value.trim();
      if (beta.value.trim()) chosen.beta = beta.value.trim();
      return chosen;
    },
    set(terms) {
      const [name] = Object.keys(terms).filter((each) => KINDS.some(([known]) => known === each));
      kind.value = name ?? (price ? "policy" : "share");
      amount.value = name ? terms[name] : price ? "" : decimal(usual);
      delta.value = terms.delta ?? "";
      beta.value = terms.beta ?? "";
      amounts.hidden = kind.value === "policy";
      deltas.hidden = kind.value !== "epsilon";
      follows = kind.value !== "share";
      if (!follows) this.follow(Number(amount.value), true);
    },
    cheapest() {
      slider.value = 0;
      slide();
    },
    usual() {
      slider.value = steps.findLastIndex((each) => each <= usual);
      slide();
    },
    follow(share, always = false) {
      if (!follows && !always) return;
      slider.value = steps.reduce((best, each, i) => (Math.abs(Math.log(each / share)) < Math.abs(Math.log(steps[best] / share)) ? i : best), 0);
      shown(share);
    },
    get isPolicy() {
      return kind.value === "policy";
    },
  };
}
