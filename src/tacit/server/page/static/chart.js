// Charts by Vega-Lite, which the service itself hands out; its expressions are interpreted, so no code is made from text.

import { fill, h } from "./dom.js";

let loaded;
/** Vega, or null where the service has none. */
export function vega() {
  loaded ??= import("/static/vega.js").then((module) => module.vegaEmbed, () => null);
  return loaded;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Colours and letters of the page, for either ground. */
function style() {
  const soft = colour("soft");
  const font = getComputedStyle(document.body).fontFamily;
  return {
    background: "transparent",
    font,
    axis: { labelColor: soft, titleColor: soft, titleFontWeight: "normal", titleFontSize: 13, labelFontSize: 12, gridColor: colour("line"), domainColor: colour("line"), tickColor: colour("line"), labelLimit: 220 },
    legend: { labelColor: soft, titleColor: soft, titleFontWeight: "normal", labelFontSize: 12, labelLimit: 260 },
    header: { labelColor: soft, titleColor: soft },
    title: { color: colour("ink"), fontWeight: "normal", fontSize: 13, anchor: "start" },
    view: { stroke: null },
    range: { category: palette() },
  };
}

/** Colours of Okabe and Ito, which the colour-blind can distinguish; the accent comes first. */
const palette = () => [colour("accent"), "#D55E00", "#0072B2", "#CC79A7", "#E69F00", "#56B4E9", "#777777", "#009E73"];

/** Draws a chart into a node, again whenever the ground turns light or dark; `label` tells what it shows. */
export async function draw(node, label, spec) {
  const embed = await vega();
  if (!embed) return fill(node, h("p", { class: "hint" }, "Charts need the extra \u201cplots\u201d on the server."));
  const paint = async () => {
    const drawn = typeof spec === "function" ? spec({ accent: colour("accent"), ink: colour("ink"), soft: colour("soft"), line: colour("line") }) : spec;
    const options = { ast: true, actions: false, defaultStyle: false, tooltip: false, renderer: "svg", mode: "vega-lite", logLevel: 1, config: style() };
    await embed(node, { $schema: "https://vega.github.io/schema/vega-lite/v6.json", autosize: { type: "fit-x", contains: "padding" }, ...drawn }, options);
    node.querySelector("svg")?.setAttribute("aria-label", label);
    node.querySelector("svg")?.setAttribute("role", "img");
  };
  await paint();
  matchMedia("(prefers-color-scheme: dark)").onchange = paint;
  return node;
}

const MAX_BARS = 60;

/** Bars with their intervals, one for each row; along a number or a day, points. */
export function bars(rows, { key, title, along }) {
  const shown = along ? rows : rows.slice(0, MAX_BARS);
  return ({ accent, ink }) => {
    const place = along
      ? { field: "cell", type: along, title: key, scale: along === "temporal" ? { type: "utc" } : { zero: false } }
      : { field: "cell", type: "nominal", sort: null, title: key || null };
    const [across, up] = along ? ["x", "y"] : ["y", "x"];
    const value = { field: "value", type: "quantitative", title };
    const ends = { [up]: { field: "lower", type: "quantitative", title }, [`${up}2`]: { field: "upper" } };
    return {
      width: "container",
      height: along ? 260 : { step: 28 },
      data: { values: shown },
      encoding: { [across]: place },
      layer: [
        along
          ? { mark: { type: "rule", color: accent, opacity: 0.45, strokeWidth: 2 }, encoding: ends }
          : { mark: { type: "bar", color: accent, opacity: 0.35, height: { band: 0.62 } }, encoding: { [up]: value } },
        along
          ? { mark: { type: "circle", color: ink, size: 16, opacity: 1 }, encoding: { [up]: value } }
          : { mark: { type: "errorbar", color: ink, ticks: { color: ink, size: 9 }, thickness: 1.6 }, encoding: ends },
      ],
    };
  };
}
