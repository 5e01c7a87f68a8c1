// A tree over the one drawn before: what is the same stays, and with it focus, what is typed, what
// is open, and where one has scrolled to.

import { isControl, isTyped } from "./controls.js";
import { made } from "./place.js";
import { TAGS, isAttribute, isLong, isName, isSafeLink, isSafeStyle, isText } from "./tree.js";
import { kind, likeness, pieces, same } from "./tree.js";

export function drawing(place, controls, files) {
  const { body, records, attributesOf, named, defect, unsay, guarded } = place;
  let hasFailed = false;

  function draw(wanted) {
    const top = records.get(body) ?? { node: ["div", {}, []], inside: [] };
    records.set(body, top);
    try {
      reconcile(body, top, wanted);
      top.node = ["div", {}, wanted];
      if (hasFailed) unsay();
      hasFailed = false;
    } catch (error) {
      defect(error, "This widget could not be drawn");
      hasFailed = true;
      [...body.childNodes].forEach(discard); // which is drawn in part; the next one starts anew
      records.delete(body);
    }
  }

  // ── an element ──────────────────────────────────────────────────────────────────────────────

  function build(node) {
    if (isText(node) && isLong(node)) return made("span", {}, ...cut(node));
    if (isText(node)) return document.createTextNode(node);
    const [tag, attributes, children] = node;
    if (!TAGS.has(tag)) throw new Error(`no tree has a <${tag}>`);
    const element = document.createElement(tag);
    const record = { node: [tag, {}, []], inside: [] };
    records.set(element, record);
    if (tag === "input") element.type = attributes.type ?? "text"; // what the others mean
    if (tag === "iframe") element.setAttribute("sandbox", "");
    dress(element, {}, attributes);
    reconcile(element, record, children);
    record.node = node;
    if (tag === "details") element.open = record.open = Boolean(attributes.open);
    if (tag === "table") put(element, record, attributes.order);
    if (isControl(element)) controls.settle(element, true);
    if (attributes.keep) controls.recover(element, attributes.keep);
    if (attributes.blob && !attributes.download) files.watch(element);
    return element;
  }

  function update(element, node) {
    if (isText(node)) {
      if (isLong(node)) element.replaceChildren(...cut(node));
      else if (element.data !== node) element.data = node;
      return;
    }
    const record = records.get(element);
    const [, before] = record.node;
    const [, attributes, children] = node;
    dress(element, before, attributes);
    reconcile(element, record, children);
    record.node = node;
    const isNews = !same(before.order ?? null, attributes.order ?? null);
    if (element.localName === "table") put(element, record, isNews ? attributes.order : record.order);
    if (isControl(element)) controls.settle(element);
    const open = Boolean(attributes.open);
    if (open !== Boolean(before.open)) element.open = record.open = open;
  }

  const cut = (text) => pieces(text).map((one) => made("span", { class: "sen-piece" }, one));

  function discard(node) {
    if (node.nodeType === Node.ELEMENT_NODE)
      for (const one of [node, ...node.querySelectorAll("input, textarea, select, img, iframe")]) {
        files.drop(one);
        if (records.has(one) && isControl(one)) guarded(controls.flush)(one);
      }
    node.remove();
  }

  // ── its attributes ──────────────────────────────────────────────────────────────────────────

  function dress(element, before, attributes) {
    for (const name of Object.keys(before)) if (!(name in attributes)) write(element, name, null);
    for (const [name, value] of Object.entries(attributes))
      if (!same(before[name], value)) write(element, name, value);
    if (element.localName === "button") element.type = "button"; // never a form's
  }

  function write(element, name, value) {
    if (name === "style") paint(element, value ?? {});
    else if (name === "href") link(element, value);
    else if (!isAttribute(name) || isPersons(element, name)) return;
    else if (value === null || value === false) element.removeAttribute(name);
    else if (isName(name)) element.setAttribute(name, named(value));
    else element.setAttribute(name, value === true ? "" : value);
  }

  // What a person changes, too, is not an attribute's: controls settle it.
  const isPersons = (element, name) =>
    name === "checked" ||
    name === "open" ||
    name === "selected" ||
    (name === "value" && (isTyped(element) || element.localName === "select"));

  function link(element, value) {
    for (const name of ["href", "target", "rel"]) element.removeAttribute(name);
    if (value === null || !isSafeLink(value)) return;
    element.setAttribute("href", value);
    if (value.startsWith("#")) return;
    element.setAttribute("target", "_blank");
    element.setAttribute("rel", "noopener noreferrer");
  }

  function paint(element, rules) {
    element.removeAttribute("style");
    for (const [name, value] of Object.entries(rules))
      if (isSafeStyle(value)) element.style.setProperty(name, value);
  }

  // ── what is inside ──────────────────────────────────────────────────────────────────────────

  function reconcile(parent, record, wanted) {
    const there = record.node[2];
    const old = record.inside;
    const now = new Array(wanted.length);
    let first = 0;
    let last = there.length;
    let end = wanted.length;
    while (first < last && first < end && same(there[first], wanted[first])) {
      now[first] = old[first];
      first += 1;
    }
    while (first < last && first < end && same(there[last - 1], wanted[end - 1])) {
      last -= 1;
      end -= 1;
      now[end] = old[last];
    }
    const spare = new Set();
    for (let at = first; at < last; at += 1) spare.add(at);
    for (const alike of [likeness, kind]) {
      const found = grouped(spare, (at) => alike(there[at]));
      for (let at = first; at < end && spare.size; at += 1) {
        const from = now[at] ? undefined : found.get(alike(wanted[at]))?.shift();
        if (from === undefined) continue;
        spare.delete(from);
        now[at] = old[from];
      }
    }
    for (const at of spare) discard(old[at]);
    for (let at = first; at < end; at += 1)
      if (now[at]) update(now[at], wanted[at]);
      else now[at] = build(wanted[at]);
    record.inside = now;
    if (record.isSorted) return; // its table puts the rows in order
    for (let at = end - 1; at >= first; at -= 1) lay(parent, now[at], now[at + 1]);
  }

  function grouped(items, by) {
    const groups = new Map();
    for (const one of items) {
      const name = by(one);
      if (groups.has(name)) groups.get(name).push(one);
      else groups.set(name, [one]);
    }
    return groups;
  }

  // A move keeps focus, frames and scrolling where the browser can do that.
  function lay(parent, node, following) {
    const next = following?.parentNode === parent ? following : null;
    if (node.parentNode !== parent) parent.insertBefore(node, next);
    else if (node.nextSibling === next) return;
    else if (parent.moveBefore && parent.isConnected) parent.moveBefore(node, next);
    else parent.insertBefore(node, next);
  }

  // ── rows in the order that a person wants ───────────────────────────────────────────────────

  // A click on a head: the least first, then the largest, then as Python gives them. Python hears
  // of it and has an order of its own from then on; until then, and without it, this one holds.
  function sort(button, column) {
    const table = button.closest("table");
    const record = records.get(table);
    const [now, isDown] = record.order ?? [];
    put(table, record, now !== column ? [column, false] : isDown ? null : [column, true]);
    return record.order ? (record.order[1] ? "down" : "up") : "";
  }

  function put(table, record, order) {
    record.order = order;
    for (const one of table.tBodies) {
      const inside = records.get(one);
      const rows = order ? ordered(inside.inside, ...order) : inside.inside;
      if (order || inside.isSorted)
        for (let at = rows.length - 1; at >= 0; at -= 1) lay(one, rows[at], rows[at + 1]);
      inside.isSorted = Boolean(order);
    }
    for (const head of table.tHead?.rows[0]?.cells ?? []) {
      const buttons = [...head.children].filter((one) => attributesOf(one).sorts);
      for (const one of buttons)
        one.classList.toggle("sen-sorted", attributesOf(one).sorts === order?.[0]);
      if (!buttons.some((one) => one.classList.contains("sen-sorted")))
        head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", order[1] ? "descending" : "ascending");
    }
  }

  function ordered(rows, column, isDown) {
    const blocks = []; // a row, and those that stay below it
    for (const row of rows)
      if (attributesOf(row).by || !blocks.length) blocks.push([row]);
      else blocks.at(-1).push(row);
    const place = ([row]) => attributesOf(row).by?.[column] ?? Infinity; // without one: last
    const sign = isDown ? -1 : 1;
    const known = blocks.filter((one) => place(one) < Infinity);
    known.sort((one, other) => sign * (place(one) - place(other)));
    return [...known, ...blocks.filter((one) => place(one) === Infinity)].flat();
  }

  return { draw, sort };
}
