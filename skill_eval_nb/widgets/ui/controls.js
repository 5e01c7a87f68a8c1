// Controls show what Python gives, unless a person has changed one and Python has not answered
// yet. What Python refused stays, to be put right, until the next thing that is done.
//
// The record of a control has, beside what was drawn: what Python has (`given`), whether a person
// has changed it since (`dirty`), the `timer` until it is sent, how many messages are `under_way`,
// and the texts that Python may have (`known`).

import { isFocused } from "./place.js";

const AFTER_TYPING = 300; // ms without a key before what was typed is sent

const peers = new Set(); // the controls of all views of this model

const isTick = ({ type }) => type === "checkbox" || type === "radio";
export const isTyped = (element) =>
  element.localName === "textarea" || (element.localName === "input" && !isTick(element));
export const isControl = (element) =>
  isTyped(element) || isTick(element) || element.localName === "select";

export function controls({ body, root, records, attributesOf, guarded }, { ask, also }) {
  const refused = new Set();

  // ── what Python gives ───────────────────────────────────────────────────────────────────────

  function settle(element, isNew = false) {
    if (!isNew && groupOf(element).some((one) => records.get(one).dirty)) return;
    const { value = "", checked = false } = attributesOf(element);
    if (isTick(element)) {
      if (element.checked !== checked) element.checked = checked;
    } else if (element.localName === "select") choose(element, attributesOf(element).value);
    else if (isNew || String(value) !== records.get(element).given) put(element, String(value));
  }

  function put(element, text) {
    records.get(element).given = text;
    if (element.value === text) return;
    const at = isFocused(element) && element.selectionStart;
    const { scrollTop } = element;
    element.value = text;
    if (typeof at === "number") element.setSelectionRange(at, at);
    element.scrollTop = scrollTop;
  }

  function choose(element, value) {
    if (value !== undefined && element.value !== value) element.value = value; // or none at all
  }

  // ── what a person gives ─────────────────────────────────────────────────────────────────────

  function valueOf(element) {
    if (element.type === "checkbox") return element.checked;
    if (element.type === "number") return element.value === "" ? null : Number(element.value);
    return element.value;
  }

  function typed(element, isComposing) {
    const record = records.get(element);
    const { on, keep } = attributesOf(element);
    record.dirty = true;
    refused.delete(element);
    if (keep) storage.keep(keep, element.value, (record.known ??= [record.given]));
    hold(element);
    if (!on?.input || isComposing) return;
    if (!isTyped(element)) return tell(element, on.input);
    also(+1);
    record.timer = setTimeout(guarded(() => tell(element, on.input)), AFTER_TYPING);
  }

  function hold(element) {
    const record = records.get(element);
    if (record.timer === undefined) return;
    clearTimeout(record.timer);
    record.timer = undefined;
    also(-1);
  }

  function changed(element) {
    const { on } = attributesOf(element);
    if (element.validity.badInput) {
      element.reportValidity();
      return;
    }
    if (records.get(element).timer !== undefined) tell(element, on.input);
    if (on?.change) tell(element, on.change);
  }

  // One has left a field as it was: it is Python's again.
  function left(element) {
    const record = records.get(element);
    const isIdle = record.timer === undefined && !record.under_way;
    if (isIdle && element.value === record.given) record.dirty = false;
  }

  // ── telling ─────────────────────────────────────────────────────────────────────────────────

  function tell(element, [action, ...values]) {
    const record = records.get(element);
    const { keep } = attributesOf(element);
    const text = element.value;
    hold(element);
    if (element.validity.badInput) return; // half a number
    record.dirty = true;
    record.under_way = (record.under_way ?? 0) + 1;
    (record.known ??= []).push(text);
    if (keep) storage.keep(keep, text, record.known);
    const answered = ({ fault, redrew }) => {
      record.under_way -= 1;
      if (fault) refuse(element, record, keep);
      else taken(element, record, { keep, text, redrew });
    };
    const lost = () => {
      record.under_way -= 1;
      if (element.type === "radio" && !element.checked) record.dirty = false;
      else if (root.contains(element)) tell(element, [action, ...values]); // as it is by now
    };
    ask({ action, values: [...values, valueOf(element)] }, answered, lost);
  }

  function taken(element, record, { keep, text, redrew }) {
    if (keep) {
      storage.forget(keep, text);
      for (const peer of peers) peer.hear(keep, text);
    }
    record.known = [text];
    if (isTyped(element)) {
      record.given = text;
      if (element.value !== text) return; // one has gone on typing
    }
    if (record.timer !== undefined || record.under_way) return;
    record.dirty = false;
    if (redrew) for (const one of groupOf(element)) settle(one);
  }

  function refuse(element, record, keep) {
    if (keep) return; // it stays what it is, and in this browser, until Python takes it
    record.dirty = false;
    if (isTyped(element)) refused.add(element);
    else for (const one of groupOf(element)) settle(one);
  }

  // Something else was done: what was refused is Python's again.
  function forgive() {
    for (const element of refused) {
      if (isFocused(element)) continue;
      put(element, String(attributesOf(element).value ?? ""));
      refused.delete(element);
    }
  }

  // Of radio buttons one is chosen: what a person has done to one, they have done to all of them.
  function groupOf(element) {
    if (element.type !== "radio") return [element];
    const radios = [...body.querySelectorAll("input[type=radio]")];
    return radios.filter((one) => one.name === element.name);
  }

  // ── coming and going ────────────────────────────────────────────────────────────────────────

  function recover(element, keep) {
    const record = records.get(element);
    const kept = storage.recall(keep);
    record.known = [record.given];
    if (!kept) return;
    if (kept.text === element.value) {
      storage.forget(keep, kept.text);
      return;
    }
    element.value = joined(kept, element.value, element.localName === "textarea");
    const action = actionOf(element);
    if (action) tell(element, action);
  }

  // Send what was typed and not sent, before its element goes.
  function flush(element) {
    const record = records.get(element);
    const action = actionOf(element);
    const isUnsent = record.timer !== undefined || (record.dirty && !record.under_way);
    if (isUnsent && action) tell(element, action);
    hold(element);
    refused.delete(element);
  }

  const actionOf = (element) => attributesOf(element).on?.input ?? attributesOf(element).on?.change;

  const all = () =>
    [...body.querySelectorAll("input, textarea, select")].filter((one) => records.has(one));

  // Another view of the same widget has had this text taken.
  function hear(keep, text) {
    for (const one of all())
      if (attributesOf(one).keep === keep && !records.get(one).dirty) put(one, text);
  }

  const peer = { hear };
  peers.add(peer);

  const flushAll = () => all().forEach(flush);

  function leave() {
    flushAll();
    peers.delete(peer);
  }

  return { settle, typed, changed, left, forgive, groupOf, recover, flush, flushAll, leave };
}

// ── what is typed, kept in this browser until Python has said that it took it ─────────────────

const storage = {
  // `known`: the texts that Python may have, as far as this page knows.
  keep(name, text, known) {
    try {
      localStorage.setItem(`sen:${name}`, JSON.stringify({ text, known: known.slice(-20) }));
    } catch {} // a browser without storage: Python still takes what is typed
  },

  recall(name) {
    try {
      const { text, known } = JSON.parse(localStorage.getItem(`sen:${name}`));
      return typeof text === "string" && Array.isArray(known) ? { text, known } : null;
    } catch {
      return null;
    }
  },

  forget(name, text) {
    if (storage.recall(name)?.text === text) localStorage.removeItem(`sen:${name}`);
  },
};

// Text typed before the page or the kernel died, together with what Python has now.
function joined(kept, now, manyLines) {
  const isNews = now !== "" && !kept.known.includes(now) && !kept.text.startsWith(now);
  return isNews && manyLines ? `${now}\n\n${kept.text}` : kept.text;
}
