// Elements from text alone: no string is ever read as markup, so no name, label or answer can act.

/** An element: `attributes` are set by name, `on*` are listeners, and children that are not nodes become text. */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "selected") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...nodes(children));
  return node;
}

/** The children as nodes and texts; lists are flattened, and what is null, undefined or false is left out. */
function nodes(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : visible(String(child))));
}

/** Replaces all children of a node. */
export function fill(node, ...children) {
  node.replaceChildren(...nodes(children));
  return node;
}

export const byId = (id) => document.getElementById(id);

// Controls, direction marks and overrides, and characters without width: text that acts or hides (see core/safe_text.py).
const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]/g;

/** The text, with the characters in it that act or hide written as escapes. */
export function visible(text) {
  return text.replace(ACTING, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A definition list of pairs. */
export function facts(pairs, attributes = {}) {
  return h("dl", attributes, pairs.filter(Boolean).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** A table in a box that scrolls sideways and can be reached by the keyboard. */
export function table(caption, head, rows, attributes = {}) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": `${caption}, as a table` },
    h(
      "table",
      attributes,
      h("caption", { class: "unseen" }, caption),
      h("thead", {}, h("tr", {}, head.map((cell) => (cell instanceof Node ? cell : h("th", { scope: "col" }, cell))))),
      h("tbody", {}, rows),
    ),
  );
}

/** A button; a name that starts with a dot is its class. */
export function button(text, onclick, attributes = {}) {
  return h("button", { type: "button", onclick, ...attributes }, text);
}

/** A labelled field: label, control, and a hint that screen readers announce with the control. */
export function field(label, control, hint) {
  const id = control.id || `f${(field.count = (field.count || 0) + 1)}`;
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    control,
    hint ? h("p", { class: "hint", id: `${id}-hint` }, hint) : null,
  );
}

/** A choice among [value, text] pairs. */
export function select(options, chosen, onchange, attributes = {}) {
  return h(
    "select",
    { onchange: (event) => onchange?.(event.target.value), ...attributes },
    options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
  );
}

/** Waits until nothing has happened for so many milliseconds. */
export function debounced(action, wait) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), wait);
  };
}

/** Hands a file to the reader. */
export function save(name, type, content) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = h("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
