// Trees of plain values, as tree.py makes them: what may stand in one, and how two are compared.

export const TAGS = new Set(
  ("a b blockquote br button caption code dd del details div dl dt em fieldset h3 h4 h5 h6 " +
    "hr i iframe img input ins kbd label legend li mark ol optgroup option p pre progress s " +
    "section select small span strong summary table tbody td textarea th thead time tr ul").split(" "),
);

const ATTRIBUTES = new Set(
  ("alt checked class colspan dir disabled for href id label lang max min name open " +
    "placeholder role rows scope selected spellcheck start step tabindex title type value " +
    "width height").split(" "),
);

// Those that refer to elements by name.
const NAMES = new Set(
  ("for id list name aria-activedescendant aria-controls aria-describedby aria-details " +
    "aria-errormessage aria-flowto aria-labelledby aria-owns").split(" "),
);

const SAFE_LINK = /^(https?:\/\/|mailto:|#)/i;
const SAFE_STYLE = /^(?!.*(?:url|image|src))[\w\s.,%#()+*/-]*$/is;

export const isAttribute = (name) => ATTRIBUTES.has(name) || /^aria-[a-z]+$/.test(name);
export const isName = (name) => NAMES.has(name);
export const isSafeLink = (value) => SAFE_LINK.test(value);
export const isSafeStyle = (value) => SAFE_STYLE.test(value);
export const isText = (node) => typeof node === "string";

export function parse(tree) {
  if (tree instanceof DataView) return JSON.parse(new TextDecoder().decode(tree));
  return isText(tree) ? JSON.parse(tree) : tree;
}

export function same(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    for (let at = 0; at < one.length; at += 1) if (!same(one[at], other[at])) return false;
    return true;
  }
  let names = 0;
  for (const name in one) {
    if (!same(one[name], other[name])) return false;
    names += 1;
  }
  return names === Object.keys(other).length;
}

// What two nodes share when one element can become the other: all that cannot be changed.
export function kind(node) {
  if (isText(node)) return isLong(node) ? "long" : "";
  const [tag, { key, keep, type, blob, download }] = node;
  return JSON.stringify([tag, key, keep, type, download ? undefined : blob]);
}

// … and when they are likely to be about the same thing.
export const likeness = (node) =>
  kind(node) + (isText(node) ? "" : (node[1].class ?? "").split(" ")[0]);

// A browser takes minutes to lay out a line of ten million characters; in pieces, which it lays
// out as one comes to see them, it takes no time.
const LONG = 100_000;
const PIECE = 20_000;

export const isLong = (text) => text.length > LONG;

export function pieces(text) {
  const found = [];
  for (let at = 0; at < text.length; ) {
    const line = text.slice(at, at + PIECE).lastIndexOf("\n") + 1;
    let end = at + (line || PIECE);
    if (/[\ud800-\udbff]/.test(text[end - 1])) end += 1; // half a character
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}
