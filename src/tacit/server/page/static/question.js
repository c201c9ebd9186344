// One model of a question, two views of it: clicks and SQL text.
//
// The clicks can show
//     SELECT keys, aggregates FROM table [WHERE conditions joined by AND] [GROUP BY keys]
// where a key is a column; an aggregate is COUNT(*), COUNT(DISTINCT unit), or SUM, AVG, MEDIAN or STDDEV of a column, each
// with a name or without; and a condition is  column = | <> | < | <= | > | >= value,  column IN (values), a boolean
// column, or NOT a boolean column.  `read` gives null for any other text: then the text alone counts.

export const AGGREGATES = [
  ["count", "how many rows"],
  ["units", "how many, each unit once"],
  ["sum", "sum of"],
  ["avg", "mean of"],
  ["median", "median of"],
  ["stddev", "deviation of"],
];
export const NUMERIC = ["sum", "avg", "median", "stddev"];
export const COMPARISONS = ["=", "<>", "<", "<=", ">", ">="];
const RESERVED = new Set("select from where group by order having limit and or not in as distinct case when then else end null true false is between like join on union all".split(" "));

/** A name as SQL writes it: in quotes unless it is plain. */
export function name(text) {
  return /^[a-z_][a-z0-9_]*$/.test(text) && !RESERVED.has(text) ? text : `"${text.replaceAll('"', '""')}"`;
}

/** A value as SQL writes it, by the type of its column. */
export function literal(value, type) {
  const number = String(value).trim();
  if (["integer", "real"].includes(type) && /^-?\d+(\.\d+)?$/.test(number)) return number;
  const quoted = `'${String(value).replaceAll("'", "''")}'`;
  return type === "date" ? `DATE ${quoted}` : type === "timestamp" ? `TIMESTAMP ${quoted}` : quoted;
}

/** The SQL text of a model. */
export function write(model, table) {
  const items = [...model.by.map(name), ...model.what.map((each) => aggregate(each, table))];
  const conditions = model.where.map((each) => condition(each, table)).filter(Boolean);
  return [
    `SELECT ${items.join(", ") || "COUNT(*)"}`,
    `FROM ${name(table.name)}`,
    conditions.length ? `WHERE ${conditions.join(" AND ")}` : "",
    model.by.length ? `GROUP BY ${model.by.map(name).join(", ")}` : "",
  ].filter(Boolean).join("\n");
}

function aggregate({ kind, column, as }, table) {
  const inner = kind === "count" ? "COUNT(*)" : kind === "units" ? `COUNT(DISTINCT ${name(table.unit)})` : `${kind.toUpperCase()}(${name(column)})`;
  return as ? `${inner} AS ${name(as)}` : inner;
}

function condition({ column, test, value }, table) {
  const type = table.columns.find((each) => each.name === column)?.type;
  if (test === "true") return name(column);
  if (test === "false") return `NOT ${name(column)}`;
  if (test === "in") return value.length ? `${name(column)} IN (${value.map((each) => literal(each, type)).join(", ")})` : "";
  return value === "" || value === undefined ? "" : `${name(column)} ${test} ${literal(value, type)}`;
}

/** The model of a text that the clicks can show, for a table among these; else null. */
export function read(text, tables) {
  try {
    return new Reader(tokens(text), tables).question();
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
}

class Unknown extends Error {}

const TOKEN = /\s+|(?<word>[A-Za-z_][A-Za-z0-9_]*)|"(?<quoted>(?:[^"]|"")+)"|'(?<text>(?:[^']|'')*)'|(?<number>-?\d+(?:\.\d+)?)|(?<sign><>|!=|<=|>=|[=<>(),*;])/y;

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) throw new Unknown();
    const { word, quoted, text: string, number, sign } = match.groups;
    if (word !== undefined) found.push({ word: word.toLowerCase(), name: word });
    else if (quoted !== undefined) found.push({ name: quoted.replaceAll('""', '"') });
    else if (string !== undefined) found.push({ value: string.replaceAll("''", "'") });
    else if (number !== undefined) found.push({ value: number });
    else if (sign !== undefined) found.push({ sign });
  }
  return found;
}

class Reader {
  constructor(list, tables) {
    Object.assign(this, { list, tables, at: 0 });
  }

  next = () => this.list[this.at++] ?? {};
  sees = (sign) => this.list[this.at]?.sign === sign || this.list[this.at]?.word === sign;

  takes(...signs) {
    if (!signs.every((sign, i) => this.list[this.at + i]?.sign === sign || this.list[this.at + i]?.word === sign)) return false;
    this.at += signs.length;
    return true;
  }

  needs(...signs) {
    if (!this.takes(...signs)) throw new Unknown();
  }

  /** The name that comes next: one in quotes is exact, any other may be in capitals or not. */
  named() {
    const token = this.next();
    if (token.name === undefined || (token.word && RESERVED.has(token.word))) throw new Unknown();
    return token;
  }

  /** Which of these names a token means. */
  among(token, known) {
    const meant = known.find((each) => (token.word ? each.toLowerCase() === token.word : each === token.name));
    if (meant === undefined) throw new Unknown();
    return meant;
  }

  list_of(part) {
    const parts = [part()];
    while (this.takes(",")) parts.push(part());
    return parts;
  }

  question() {
    this.needs("select");
    const items = this.list_of(() => this.item());
    this.needs("from");
    const from = this.among(this.named(), this.tables.map((each) => each.name));
    this.table = this.tables.find((each) => each.name === from);
    const where = this.takes("where") ? this.conditions() : [];
    const by = this.takes("group", "by") ? this.list_of(() => this.column()) : [];
    this.takes(";");
    if (this.at !== this.list.length) throw new Unknown();
    const keys = items.filter((each) => each.key).map((each) => this.known(each.key));
    const ordered = items.slice(0, keys.length).every((each) => each.key);
    if (!ordered || JSON.stringify(keys) !== JSON.stringify(by)) throw new Unknown();
    return { table: from, what: items.filter((each) => each.kind).map((each) => this.aggregate(each)), where, by };
  }

  /** An aggregate, with the name of its column as the table has it. */
  aggregate({ kind, column, as }) {
    const named = as === undefined ? { kind } : { kind, as };
    if (kind === "count") return named;
    if (kind !== "units") return { ...named, column: this.known(column) };
    this.among(column, [this.table.unit ?? ""]);
    return named;
  }

  item() {
    const word = this.list[this.at]?.word;
    if (this.list[this.at + 1]?.sign !== "(") return { key: this.named() };
    this.at += 2;
    const item = this.called(word);
    this.needs(")");
    if (this.takes("as")) item.as = this.named().name;
    return item;
  }

  called(word) {
    if (word === "count") {
      if (this.takes("*")) return { kind: "count" };
      this.needs("distinct");
      return { kind: "units", column: this.named() };
    }
    if (!NUMERIC.includes(word)) throw new Unknown();
    return { kind: word, column: this.named() };
  }

  conditions() {
    const all = [this.condition()];
    while (this.takes("and")) all.push(this.condition());
    return all;
  }

  condition() {
    if (this.takes("not")) return this.boolean("false");
    const column = this.column();
    if (this.takes("in")) {
      this.needs("(");
      const value = this.list_of(() => this.value());
      this.needs(")");
      return { column, test: "in", value };
    }
    const sign = this.list[this.at]?.sign;
    const test = sign === "!=" ? "<>" : sign;
    if (!COMPARISONS.includes(test)) {
      this.at -= 1;
      return this.boolean("true");
    }
    this.at += 1;
    return { column, test, value: this.value() };
  }

  boolean(test) {
    const column = this.column();
    if (this.table.columns.find((each) => each.name === column)?.type !== "boolean") throw new Unknown();
    return { column, test };
  }

  value() {
    if (this.sees("date") || this.sees("timestamp")) this.at += 1;
    const { value } = this.next();
    if (value === undefined) throw new Unknown();
    return value;
  }

  column() {
    return this.known(this.named());
  }

  known(token) {
    return this.among(token, this.table.columns.map((each) => each.name));
  }
}
