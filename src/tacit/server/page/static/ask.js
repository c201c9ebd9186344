// /d/NAME : ASK | OFFER, live while typing; then ANSWER.

import { api, get, place, post } from "./api.js";
import { answer, same } from "./answer.js";
import { aggregate, builder, empty, groups } from "./builder.js";
import { vega } from "./chart.js";
import { described, gauge, unit } from "./dataset.js";
import { button, byId, debounced, facts, fill, h } from "./dom.js";
import { heading, notice, refusal, start } from "./frame.js";
import { bound, day, percent } from "./format.js";
import { name as quoted, read, write } from "./question.js";
import { termsControl } from "./terms.js";

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
    this.price = termsControl(price, { least: Number(dataset.least_share ?? 1e-4), most: Number(policy.most ?? 1) }, () => this.changed());
    this.later = debounced(() => this.offer(), WAIT);
    fill(page, this.layout(price), this.answered);
    this.meter(dataset);
    this.open();
  }

  layout(price) {
    return h(
      "div",
      { class: "ask" },
      h("section", { class: "sheet about", "aria-labelledby": "columns-title" }, h("h2", { id: "columns-title" }, "Columns"), this.tables.map((each) => this.columns(each)), h("p", { class: "hint" }, unit(this.dataset))),
      h(
        "section",
        { class: "sheet", "aria-labelledby": "ask-title" },
        h("h2", { id: "ask-title" }, "Ask"),
        this.clicks,
        h("div", { class: "field" }, h("label", { for: "sql" }, "The same question as SQL"), this.text, h("p", { class: "hint", id: "sql-hint" }, "Write what you like; the offer follows. ", h("kbd", {}, "Ctrl+Enter"), " rehearses, ", h("kbd", {}, "Ctrl+Shift+Enter"), " buys.")),
        this.gauge,
      ),
      h("section", { class: "sheet offer", "aria-labelledby": "offer-title" }, h("h2", { id: "offer-title" }, "Offer"), this.says, price, this.actions),
    );
  }

  columns(table) {
    const item = (column) =>
      h("li", {}, button([column.name, h("span", {}, described(column))], () => this.add(table, column), { title: `Add ${column.name} to the question` }));
    return h("div", {}, this.tables.length > 1 ? h("h3", {}, table.name) : null, h("ul", { class: "columns", "aria-label": `Columns of ${table.name}: choose one to add it` }, table.columns.map(item)));
  }

  meter(dataset) {
    fill(this.gauge, gauge(dataset), dataset.remaining.text ? h("p", { class: "hint" }, dataset.remaining.text) : null);
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
      this.current = offer;
      this.price.follow(Number(offer.share));
      fill(this.says, offered(offer, this.price.isPolicy));
    } catch (error) {
      if (error.name === "AbortError") return;
      fill(this.says, this.refused(error));
    }
    this.says.removeAttribute("aria-busy");
    this.buttons();
  }

  refused(error) {
    const spent = ["budget_exceeded", "allowance_exceeded"].includes(error.code);
    const cheaper = spent || error.code === "policy_refused" ? [button("Ask at the least price", () => this.price.cheapest(), { class: "small" })] : [];
    return refusal(error, ...cheaper);
  }

  buttons() {
    const { current } = this;
    const price = current ? (current.free ? "Show again, free" : current.needs_approval ? "Ask for approval" : `Buy for ${percent(current.share)}`) : "Buy";
    fill(
      this.actions,
      button("Rehearse", () => this.rehearse(), { disabled: !current, title: "Free, on made-up rows" }),
      button(price, () => this.buy(), { class: "first", id: "buy", disabled: !current }),
    );
  }

  rehearse = () => this.asked("rehearsals");
  buy = () => this.asked("asks");

  async asked(kind) {
    if (!this.current || this.busy) return;
    this.busy = true;
    const question = this.question;
    this.actions.querySelectorAll("button").forEach((each) => (each.disabled = true));
    try {
      const { data, status } = await api(`${this.path}/${kind}`, { body: question });
      if (status === 202) fill(this.answered, waiting(data.approval ?? data));
      else {
        const download = (accept) => api(`${this.path}/${kind}`, { body: question, accept });
        fill(this.answered, answer(data, { download }));
        this.answered.firstChild.focus({ preventScroll: true });
        this.answered.firstChild.scrollIntoView({ block: "start", behavior: "smooth" });
      }
      if (kind === "asks") await this.spent();
    } catch (error) {
      fill(this.answered, this.refused(error));
    } finally {
      this.busy = false;
      this.buttons();
    }
  }

  /** After a purchase: what is left, and that the same is free now. */
  async spent() {
    this.meter(await get(this.path));
    await this.offer();
  }
}

function offered(offer, isPolicy) {
  const noisy = offer.errors.filter((each) => each.theorem);
  const remarks = (offer.remarks ?? []).filter((text) => !text.includes(offer.promised));
  const [main] = noisy.filter((each) => each.error !== null);
  return h(
    "div",
    { class: "clicks" },
    offer.free ? notice(`Free: bought on ${day(offer.free.time)}`, h("p", {}, "The stored answer is shown again; nothing is charged.")) : null,
    offer.needs_approval && !offer.free ? notice("An owner must approve this purchase", h("p", {}, "Ask for it; once it is approved, ask again.")) : null,
    main ? h("p", { class: "big" }, `\u00b1 ${bound(main.error)} `, h("small", {}, main.relative ? `about ${percent(main.relative)} of the rows` : main.column)) : null,
    h("ul", { class: "errors" }, (main ? noisy.filter((each) => each !== main || noisy.length > 1) : noisy).map((each) => h("li", { class: "small" }, h("strong", {}, each.column), ` ${each.text.replaceAll("+-", "\u00b1 ")}`))),
    facts([
      ["Price", offer.free ? "nothing" : `${percent(offer.share)} of the budget${isPolicy ? ", as the owner suggests" : ""}`],
      offer.free ? null : ["Left after", percent(offer.left_after_share ?? offer.left_after)],
      ["Confidence", `${percent(offer.confidence)} for each value`],
      ["Alone", offer.promised],
    ], { class: "small" }),
    remarks.length ? h("p", { class: "hint" }, remarks.join("; ")) : null,
    offer.covered === false ? notice("", "The budget that is left does not cover this.") : null,
    offer.equivalents ? same(offer.equivalents) : null,
  );
}

const waiting = (approval) =>
  h("div", {}, notice("Waiting for an owner's approval", h("p", {}, `Request ${approval.id ?? ""} is with the owners of the data. Nothing was charged. Once it is approved, ask the same question again to buy it.`)));

start(async (page) => {
  const [, name] = place();
  heading(name, "ask");
  const dataset = await get(`/datasets/${encodeURIComponent(name)}`);
  new Ask(page, dataset);
  (window.requestIdleCallback ?? setTimeout)(vega);
});
