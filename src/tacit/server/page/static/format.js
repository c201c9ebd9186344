// Numbers, intervals, prices and times as people read them.

const MINUS = "\u2212";
const plain = (x, digits) => x.toLocaleString("en-GB", { maximumFractionDigits: digits }).replace("-", MINUS);

/** A number: integers in full, others with about four digits. */
export function number(x) {
  if (x === null || x === undefined) return "\u2013";
  if (typeof x !== "number") return String(x);
  if (!Number.isFinite(x)) return x > 0 ? "\u221e" : x < 0 ? `${MINUS}\u221e` : "\u2013";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e15) return plain(x, 0);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return Number(x.toPrecision(3)).toExponential().replace("e-", `e${MINUS}`).replace("e+", "e");
  return plain(x, size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

/** A number with as many decimals as tell the ends of its interval apart. */
export function sized(x, width) {
  if (x === null || !Number.isFinite(x) || Number.isInteger(x) || !(width > 0) || !Number.isFinite(width)) return number(x);
  return plain(x, Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(width)))));
}

/** A bound on an error, rounded up to two or three digits: never smaller than it is. */
export function bound(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "unknown";
  if (x === 0) return "0";
  const unit = 10 ** (Math.floor(Math.log10(x)) - 2);
  const up = Math.ceil(x / unit - 1e-9) * unit;
  return x >= 1000 ? plain(Math.ceil(x), 0) : number(Number(up.toPrecision(12)));
}

export const interval = (low, high, width = high - low) =>
  `${low === null ? `${MINUS}\u221e` : sized(low, width)} to ${high === null ? "\u221e" : sized(high, width)}`;

/** A share as per cent. */
export function percent(x) {
  const p = 100 * Number(x);
  if (!Number.isFinite(p)) return "\u2013";
  if (p === 0) return "0\u202f%";
  return `${p >= 10 ? plain(p, 1) : p >= 0.01 ? Number(p.toPrecision(2)).toString() : p.toExponential(1)}\u202f%`;
}

/** A day, and the time on it: 3 Nov 2026, 14:05. */
export function time(text) {
  const t = new Date(text);
  if (Number.isNaN(t.getTime())) return String(text ?? "");
  const day = t.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
  return `${day}, ${t.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}

export const day = (text) => time(text).split(",")[0];

export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** A budget as its custodian wrote it, in text such as "0.4 of Budget(epsilon=1, delta=1e-09)". */
export const budget = (text) => text.replace(/Budget\(([^)]*)\)/g, (_, inside) => inside.replaceAll("=", " = "));
