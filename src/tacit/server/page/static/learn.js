// /learn : mechanisms, composition and attacks, each figure computed by the library behind this service.

import { get } from "./api.js";
import { draw } from "./chart.js";
import { button, field, fill, h, select, table } from "./dom.js";
import { refusal, start } from "./frame.js";
import { bound, number, percent } from "./format.js";

/** A figure by its kind and what was chosen from the menus. */
const figure = (kind, ...chosen) => get(`/learn/${[kind, ...chosen].map(encodeURIComponent).join(".")}`, { anonymous: true });

/** A name from a menu in words. */
const words = (name) => name.replaceAll("_", " ");

start(
  async (page) => {
    const menus = await figure("menus");
    fill(page, h("div", { class: "two" }, mechanisms(menus), composition(menus)), attacks(menus), further());
  },
  { anonymous: true },
);

/** A choice of a mechanism and of epsilon, and a figure that follows both. */
function chosen(id, names, epsilons, epsilon, show) {
  let [name] = names;
  const at = h("input", { type: "range", id: `${id}-epsilon`, min: 0, max: epsilons.length - 1, value: epsilons.indexOf(epsilon), oninput: () => update() });
  const label = h("label", { for: `${id}-epsilon` });
  const update = () => {
    const value = epsilons[at.value];
    fill(label, `epsilon = ${value}`);
    at.setAttribute("aria-valuetext", `epsilon ${value}`);
    show(name, value);
  };
  const pick = select(names.map((each) => [each, words(each)]), name, (value) => { name = value; update(); }, { id: `${id}-name` });
  queueMicrotask(update);
  return h("div", { class: "inline" }, field("Mechanism", pick), h("div", { class: "field" }, label, at));
}

function mechanisms({ mechanisms: names, epsilons }) {
  const law = h("figure", { class: "chart" });
  const error = h("figure", { class: "chart" });
  const says = h("p");
  const found = h("p", { class: "small soft", role: "status" });
  const show = async (name, epsilon) => {
    try {
      const data = await figure("mechanism", name, epsilon);
      fill(says, data.says);
      const loss = data.loss.epsilon === null ? `epsilon = ${number(data.loss.at_delta)} at delta = ${data.loss.delta}` : `epsilon = ${number(data.loss.epsilon)}`;
      fill(found, `Loss: ${loss}. ${data.measure}: ${number(data.error)}.`);
      await draw(law, `The law of ${words(name)} on two neighbouring inputs`, laws(data));
      await draw(error, `${data.measure} of ${words(name)} against epsilon`, errors(data));
    } catch (failed) {
      fill(found, refusal(failed));
    }
  };
  return h("section", { class: "sheet", "aria-labelledby": "m" }, h("h2", { id: "m" }, "Mechanisms"), chosen("m", names, epsilons, "0.5", show), says, law, error, found);
}

const lines = ({ x, y, colour, data, height = 200 }) => ({
  width: "container",
  height,
  data: { values: data },
  mark: { type: "line", strokeWidth: 2, interpolate: "monotone" },
  encoding: { x, y, ...(colour ? { color: colour } : {}) },
});

function laws(data) {
  const discrete = data.law.length < 20;
  const spec = lines({
    data: data.law,
    x: { field: "output", type: discrete ? "ordinal" : "quantitative", title: "output", axis: { labelAngle: 0 } },
    y: { field: "probability", type: "quantitative", title: "probability" },
    colour: { field: "input", type: "nominal", title: null, legend: { orient: "top" } },
  });
  if (!discrete) return spec;
  return { ...spec, mark: { type: "bar" }, encoding: { ...spec.encoding, xOffset: { field: "input", type: "nominal" } } };
}

const errors = (data) => ({ accent, ink }) => ({
  width: "container",
  height: 150,
  data: { values: data.errors.filter((each) => each.error > 0) },
  encoding: {
    x: { field: "epsilon", type: "quantitative", scale: { type: "log" }, axis: { values: data.errors.map((each) => each.epsilon), format: "~g" } },
    y: { field: "error", type: "quantitative", scale: { type: "log" }, title: data.measure.split(",")[0], axis: { tickCount: 4, format: "~g" } },
  },
  layer: [
    { mark: { type: "line", color: accent, strokeWidth: 2 } },
    { transform: [{ filter: `datum.epsilon === ${Number(data.epsilon)}` }], mark: { type: "circle", color: ink, size: 70, opacity: 1 } },
  ],
});

function composition({ noises, epsilons }) {
  const chart = h("figure", { class: "chart" });
  const found = h("p", { class: "small soft", role: "status" });
  const show = async (name, epsilon) => {
    try {
      const data = await figure("composition", name, epsilon);
      await draw(chart, `Epsilon of k copies of ${words(name)} by each accountant`, {
        ...lines({
          data: data.curves,
          height: 330,
          x: { field: "k", type: "quantitative", scale: { type: "log" }, title: "k, the number of answers", axis: { values: [1, 10, 100, 1000], format: "~g" } },
          y: { field: "epsilon", type: "quantitative", scale: { type: "log" }, title: `epsilon at delta = ${data.delta}`, axis: { tickCount: 5, format: "~g" } },
          colour: { field: "accountant", type: "nominal", title: null, legend: { orient: "bottom", columns: innerWidth < 640 ? 2 : 3, labelLimit: 130 } },
        }),
      });
      const last = data.curves.filter((each) => each.k === 1000);
      const best = last.reduce((a, b) => (b.epsilon < a.epsilon ? b : a), last[0]);
      const basic = last.find((each) => each.accountant === "basic");
      fill(found, best ? `After 1,000 answers: ${basic ? `${number(basic.epsilon)} by adding up, ` : ""}${bound(best.epsilon)} by the ${best.accountant} accountant.` : "");
    } catch (failed) {
      fill(found, refusal(failed));
    }
  };
  return h(
    "section",
    { class: "sheet", "aria-labelledby": "c" },
    h("h2", { id: "c" }, "Composition"),
    chosen("c", noises, epsilons, "0.1", show),
    h("p", {}, "Each answer costs a little. What many of them cost together depends on the theorem that adds them up, and the theorems part as k grows. All are valid; a smaller epsilon is a better proof about the same noise."),
    chart,
    found,
  );
}

const ATTACKS = {
  reconstruction: "Ask how many of random subsets have a secret bit; solve for the bits.",
  differencing: "Ask two harmless questions that differ in one person; subtract.",
  averaging: "Ask one question again and again; average the noise away.",
  membership: "Compare a person's attributes with released averages: were they in the table?",
  floating_point: "Look at the last digits of noise that was drawn in doubles.",
  timing: "Time the refusals: do they depend on rows?",
};

function attacks({ attacks: names }) {
  const body = names.map((name) => {
    const naive = h("td", {}, h("span", { class: "soft" }, "\u2013"));
    const control = h("td", {}, h("span", { class: "soft" }, "\u2013"));
    const run = button("Run", async () => {
      run.disabled = true;
      try {
        const data = await figure("attack", name);
        fill(naive, outcome(data.naive));
        fill(control, outcome(data.control));
        fill(run, "Done");
      } catch (failed) {
        fill(control, refusal(failed));
        run.disabled = false;
      }
    }, { class: "small", "aria-label": `Run ${words(name)}` });
    return h("tr", {}, h("th", { scope: "row" }, words(name), h("span", { class: "hint" }, h("br"), ATTACKS[name] ?? "")), naive, control, h("td", {}, run));
  });
  return h(
    "section",
    { class: "sheet", "aria-labelledby": "a" },
    h("h2", { id: "a" }, "Attacks, each with its control"),
    h("p", { class: "prose" }, "An attacker guesses fair coins, such as whether somebody is in the table. Half of the guesses are right by chance. Each attack runs on generated people: against a naive system that it breaks, and as a control against a curator with a budget of epsilon = 1."),
    table("Attacks", ["Attack", "On a naive system", "On this curator", h("th", { scope: "col" }, h("span", { class: "unseen" }, "Run"))], body),
  );
}

function outcome({ right, guesses, against, limit, claim, proves }) {
  const most = claim === null ? "" : `; no attacker gets above ${percent(limit)} on average`;
  return [h("strong", {}, `${percent(right)} right`), h("span", { class: "hint" }, h("br"), `of ${number(guesses)} guesses, against ${against}${most}. Proves epsilon above ${number(proves)}.`)];
}

const further = () =>
  h("p", { class: "soft" }, "More in the documents that come with the package: ", ["tables", "mechanisms", "losses", "audit"].map((name, i) => [i ? ", " : "", h("code", {}, `tacit docs ${name}`)]), ".");
