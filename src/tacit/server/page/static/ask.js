// /d/NAME : ASK | OFFER, live while typing; then ANSWER.

import { ApiError, api, get, place, post } from "./api.js";
import { answer } from "./answer.js";
import { aggregate, builder, empty, groups } from "./builder.js";
import { vega } from "./chart.js";
import { described, gauge, unit } from "./dataset.js";
import { button, byId, debounced, facts, fill, h } from "./dom.js";
import { heading, notice, refusal, start } from "./frame.js";
import { bound, budget, day, percent } from "./format.js";
import { name as quoted, read, write } from "./question.js";
import { termsControl } from "./terms.js";

const SHARED = "What is bought is free to everybody who may ask this data set: they can read the answer and the words of the question, but not who asked.";
const WAIT = 250; // milliseconds without typing before an offer is asked for

class Ask {
  constructor(page, dataset) {
    const tables = dataset.tables.filter((each) => !each.public);
    Object.assign(this, { page, dataset, tables, path: `/datasets/${encodeURIComponent(dataset.name)}` });
    this.text = h("textarea", { class: "sql", id: "sql", spellcheck: "false", autocomplete: "off", autocapitalize: "off", "data-slash": true, oninput: () => this.typed(), onkeydown: (event) => this.pressed(event), "aria-describedby": "sql-hint" });
    this.clicks = h("div", { class: "clicks", role: "group", "aria-label": "The question in clicks" });
    this.build = builder(this.clicks, tables, (model) => this.clicked(model));
    this.says = h("div", { "aria-live": "polite", "aria-atomic": "true" });
    this.actions = h("div", { class: "actions" });
    this.answered = h("div", { "aria-live": "polite" });
    this.gauge = h("div");
    const price = h("div", { class: "field" });
    const policy = dataset.policy ?? {};
    this.price = termsControl(price, { least: Number(dataset.least_share ?? 1e-4), most: Number(policy.most ?? 1), price: policy.price }, () => this.changed());
    this.later = debounced(() => this.offer(), WAIT);
    fill(page, this.layout(price), this.answered);
    this.meter(dataset);
    this.open();
  }

  layout(price) {
    return h(
      "div",
      { class: "ask" },
      h(
        "section",
        { class: "sheet about", "aria-labelledby": "columns-title" },
        h("details", { open: matchMedia("(min-width: 46rem)").matches }, h("summary", {}, h("h2", { id: "columns-title" }, "Columns")), this.tables.map((each) => this.columns(each)), h("p", { class: "hint" }, unit(this.dataset))),
      ),
      h(
        "section",
        { class: "sheet", "aria-labelledby": "ask-title" },
        h("h2", { id: "ask-title" }, "Ask"),
        this.clicks,
        h("div", { class: "field" }, h("label", { for: "sql" }, "The same question as SQL"), this.text, h("p", { class: "hint", id: "sql-hint" }, "Write what you like; the offer follows. ", h("kbd", {}, "Ctrl+Enter"), " rehearses, ", h("kbd", {}, "Ctrl+Shift+Enter"), " buys.")),
        this.gauge,
      ),
      h("section", { class: "sheet offer", "aria-labelledby": "offer-title" }, h("h2", { id: "offer-title" }, "Offer"), this.says, price, this.actions, h("p", { class: "hint" }, SHARED)),
    );
  }

  columns(table) {
    const item = (column) =>
      h("li", {}, button([column.name, h("span", {}, described(column))], () => this.add(table, column), { title: `Add ${column.name} to the question` }));
    return h("div", {}, this.tables.length > 1 ? h("h3", {}, table.name) : null, h("ul", { class: "columns", "aria-label": `Columns of ${table.name}: choose one to add it` }, table.columns.map(item)));
  }

  meter(dataset) {
    fill(this.gauge, gauge(dataset), h("p", { class: "hint" }, budget(dataset.remaining.text)));
  }

  /** The question of the address (#sql=...&share=...), or a count of everything. */
  open() {
    const given = new URLSearchParams(location.hash.slice(1));
    const model = { ...empty(), table: this.tables[0].name };
    this.text.value = given.get("sql") ?? write(model, this.tables[0]);
    given.delete("sql");
    this.price.set(Object.fromEntries(given));
    this.typed();
  }

  typed() {
    this.build(read(this.text.value, this.tables));
    this.changed();
  }

  clicked(model) {
    this.text.value = write(model, this.tables.find((each) => each.name === model.table));
    this.typed();
  }

  add(table, column) {
    const model = read(this.text.value, this.tables);
    if (!model || model.table !== table.name) {
      this.text.setRangeText(quoted(column.name), this.text.selectionStart, this.text.selectionEnd, "end");
      this.text.focus();
      return this.typed();
    }
    if (["real", "integer"].includes(column.type)) return this.clicked({ ...model, what: [...model.what, aggregate("avg", column.name, model)] });
    if (groups(column) && !model.by.includes(column.name)) return this.clicked({ ...model, by: [...model.by, column.name] });
    return undefined;
  }

  pressed(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (event.shiftKey) this.buy();
    else this.rehearse();
  }

  get question() {
    return { sql: this.text.value, terms: this.price.terms() };
  }

  changed() {
    this.asking?.abort(); // an offer that is on its way is for another question
    this.current = null;
    this.buttons();
    this.says.setAttribute("aria-busy", "true");
    this.later();
  }

  async offer() {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    try {
      const offer = await post(`${this.path}/offers`, this.question, { signal: asking.signal });
      const hindrance = this.hindrance(offer);
      this.current = { ...offer, sold: hindrance === null };
      this.price.follow(offer.share);
      fill(this.says, hindrance ? this.refused(hindrance) : null, offered(offer, this.price.isPolicy));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.current = null;
      fill(this.says, this.refused(error));
    }
    this.says.removeAttribute("aria-busy");
    this.buttons();
  }

  refused(error) {
    if (["budget_exceeded", "policy", "refused"].includes(error.code)) return refusal(error, ...this.remedies());
    if (error.code === "bad_question" && !error.position && this.price.isPolicy) return refusal(error, button("Ask for a share of the budget", () => this.price.usual(), { class: "small" }));
    return error.position ? refusal(error, button("Show the place", () => this.show(error.position), { class: "small" })) : refusal(error);
  }

  /** Puts the cursor where an error is. */
  show([line, column]) {
    const before = this.text.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0) + column - 1;
    this.text.focus();
    this.text.setSelectionRange(before, before + 1);
  }

  remedies() {
    return [button("Ask at the least price", () => this.price.cheapest(), { class: "small" }), h("a", { class: "small", href: `${location.pathname}/history` }, "What was bought is free")];
  }

  /** Why the question of an offer cannot be bought now, as an error would say it; null if it can be. */
  hindrance({ refusal: why, covered, free, left }) {
    if (free) return null;
    if (why) return new ApiError(403, { code: "policy", message: why });
    if (covered) return null;
    return new ApiError(403, { code: "budget_exceeded", message: `This costs more than is left to you: ${budget(left.text)}.`, remedy: "Ask at a lower price or for a larger error, or read again what was bought." });
  }

  buttons() {
    const { current } = this;
    const price = current ? (current.free ? "Show again, free" : current.needs_approval ? "Ask for approval" : `Buy for ${percent(current.share)}`) : "Buy";
    fill(
      this.actions,
      button("Rehearse", () => this.rehearse(), { disabled: !current, title: "Free, on made-up rows" }),
      button(price, () => this.buy(), { class: "first", id: "buy", disabled: !current?.sold }),
    );
  }

  rehearse = () => this.asked("rehearsals");
  buy = () => this.asked("asks");

  async asked(kind) {
    if (!this.current || this.busy || (kind === "asks" && !this.current.sold)) return;
    this.busy = true;
    const question = this.question;
    this.actions.querySelectorAll("button").forEach((each) => (each.disabled = true));
    try {
      const { data, status } = await api(`${this.path}/${kind}`, { body: question });
      if (status === 202) fill(this.answered, waiting(data));
      else {
        const download = (accept) => api(`${this.path}/${kind}`, { body: question, accept });
        fill(this.answered, answer(data, { download }));
        this.answered.firstChild.focus({ preventScroll: true });
        this.answered.firstChild.scrollIntoView({ block: "start", behavior: "smooth" });
      }
    } catch (error) {
      fill(this.answered, this.refused(error));
    }
    if (kind === "asks") await this.spent();
    this.busy = false;
    this.buttons();
  }

  /** After a purchase: what is left, and that the same is free now.  The answer stays where that cannot be learnt. */
  async spent() {
    await get(this.path).then((dataset) => this.meter(dataset), () => {});
    await this.offer();
  }
}

function offered(offer, isPolicy) {
  const noisy = offer.errors.filter((each) => each.theorem);
  const remarks = offer.free ? [] : offer.remarks.filter((text) => !text.includes(offer.promised));
  const [main] = noisy.filter((each) => each.error !== null);
  return h(
    "div",
    { class: "clicks" },
    offer.free ? notice(`Free: bought on ${day(offer.free.time)}`, h("p", {}, "The stored answer is shown again, as to everybody who may ask this data set; nothing is charged.")) : null,
    offer.needs_approval && !offer.free ? notice("An owner must approve this purchase", h("p", {}, "Ask for it; once it is approved, ask again.")) : null,
    main ? h("p", { class: "big" }, `\u00b1 ${bound(main.error)} `, h("small", {}, main.relative ? `${main.column}: about ${percent(main.relative)} of the rows` : main.column)) : null,
    h("ul", { class: "errors" }, (main ? noisy.filter((each) => each !== main || noisy.length > 1) : noisy).map((each) => h("li", { class: "small" }, h("strong", {}, each.column), ` ${each.text.replaceAll("+-", "\u00b1 ")}`))),
    facts([
      ["Price", offer.free ? "nothing" : `${percent(offer.share)} of the budget${isPolicy ? ", the owner's default" : ""}`],
      offer.free ? null : ["Left after", percent(offer.left_after)],
      ["Confidence", `${percent(offer.confidence)} for each value`],
      ["Guarantee", `${offer.promised}, taken alone`],
    ], { class: "small" }),
    remarks.length ? h("p", { class: "hint" }, budget(remarks.join("; "))) : null,
  );
}

const waiting = ({ approval, message }) =>
  h("div", {}, notice("Waiting for an owner's approval", h("p", {}, message), h("p", { class: "hint" }, `Nothing was charged. Request ${approval.id}.`)));

start(async (page) => {
  const [, name] = place();
  heading(name, "ask");
  const dataset = await get(`/datasets/${encodeURIComponent(name)}`);
  new Ask(page, dataset);
  (window.requestIdleCallback ?? setTimeout)(vega);
});
