// What people do: by mouse, by keyboard, in controls; each means what the tree says it means.

import { isControl, isTyped } from "./controls.js";

const CONTROL = "button, input, select, textarea, summary, label, a[href], [role=button]";

export function acting({ body, root, records, attributesOf, named, guarded }, parts) {
  const { controls, files, act, sort, finds } = parts;

  // ── the mouse ───────────────────────────────────────────────────────────────────────────────

  function clicked(event) {
    const link = event.target.closest("a[href^='#']");
    if (link && body.contains(link)) {
      event.preventDefault();
      const name = attributesOf(link).href.slice(1);
      document.getElementById(named(name))?.scrollIntoView();
    }
    const element = meant(event.target);
    if (!element || element.disabled || element.ariaDisabled === "true") return;
    if (!element.matches(CONTROL) && String(getSelection())) return; // text is being marked
    const { on, blob, copies, download, leads, sorts } = attributesOf(element);
    if (copies) files.copy(element, copies, blob);
    else if (download) files.download(blob, download);
    else if (sorts) act([...on.click, sort(element, sorts)]);
    else if (leads) lead(on.click);
    else act(on.click);
  }

  // What the action makes room for is typed there, also what was typed before it was there.
  function lead(action) {
    const before = new Set(body.querySelectorAll("input, textarea"));
    early = "";
    act(action, () => {
      const [words, isNew] = [early, (one) => isTyped(one) && !before.has(one)];
      early = null;
      const room = [...body.querySelectorAll("input, textarea")].find(isNew);
      room?.focus();
      if (room && words) room.setRangeText(words, 0, 0, "end");
      if (room && words) room.dispatchEvent(new InputEvent("input", { bubbles: true }));
    });
  }

  function meant(target) {
    for (let one = target; one && one !== body && root.contains(one); one = one.parentElement) {
      const { on, copies, download } = attributesOf(one);
      if (on?.click || copies || download) return one;
      if (one.matches(CONTROL)) return null; // it has a meaning of its own
    }
    return null;
  }

  function toggled({ target }) {
    const record = records.get(target);
    if (target.localName !== "details" || !record || target.open === record.open) return;
    record.open = target.open;
    const { on } = attributesOf(target);
    if (on?.toggle) act([...on.toggle, target.open]);
  }

  // What lies over the page goes when one does something elsewhere.
  const popped = () => [...body.querySelectorAll("details[open]")].filter(pops);
  const pops = (one) => attributesOf(one).pops;

  function away({ target }) {
    for (const one of popped()) if (!one.contains(target)) one.open = false;
  }

  // ── the keyboard ────────────────────────────────────────────────────────────────────────────

  let turning = false; // a key is held down: one action at a time
  let early = null; // what is typed while room for it is being made

  // Keys are the widget's own: JupyterLab takes them where they come up to the page. Where it
  // takes them before, it looks from the element that has the focus up to the first one that wants
  // none of its shortcuts; some it has for whatever has the focus, so the element says so itself.
  const quieted = ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true");

  function pressed(event) {
    event.stopPropagation();
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (early !== null && event.key.length === 1) {
      early += event.key;
      event.preventDefault();
      return;
    }
    if (event.key === "Escape" && popped().map(close).length) return;
    if (event.target.matches("[role=tab]") && turnTab(event)) return;
    if (event.key === "/" && !isTyped(event.target) && finds.look()) return event.preventDefault();
    if (isOwn(event)) return;
    const isMeant = (one) => attributesOf(one).pressed === event.key && one.checkVisibility();
    const pressing = [...body.querySelectorAll("*")].find(isMeant);
    if (pressing) {
      event.preventDefault();
      if (!event.repeat) pressing.click();
      return;
    }
    for (let one = start(event); one && one !== body; one = one.parentElement) {
      const found = attributesOf(one).keys?.[event.key];
      if (!found) continue;
      event.preventDefault();
      if (event.repeat && turning) return;
      turning = true;
      act(found, () => (turning = false));
      return;
    }
  }

  // Where the widget as a whole has the focus, keys are those of the first part that has any.
  function start({ target }) {
    if (target !== root) return target;
    return [...body.querySelectorAll("*")].find((one) => attributesOf(one).keys);
  }

  // What the element itself does at a key.
  function isOwn({ target, key }) {
    if (isTyped(target) || target.localName === "select") return true;
    if (target.type === "radio" && key.startsWith("Arrow")) return true;
    if (target.matches(CONTROL)) return key === "Enter" || key === " ";
    if (/^Arrow(Left|Right)$/.test(key)) return target.scrollWidth > target.clientWidth + 1;
    return /^(Arrow|Page|Home|End)/.test(key) && target.scrollHeight > target.clientHeight + 1;
  }

  function close(one) {
    one.open = false;
    one.querySelector("summary").focus();
  }

  function turnTab(event) {
    const list = event.target.closest("[role=tablist]");
    const tabs = [...(list?.querySelectorAll("[role=tab]:enabled") ?? [])];
    const at = tabs.indexOf(event.target);
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 };
    const to = steps[event.key];
    if (to === undefined) return false;
    const tab = tabs.at(to % tabs.length);
    tab.focus();
    tab.click();
    event.preventDefault();
    return true;
  }

  // ── all of it ───────────────────────────────────────────────────────────────────────────────

  const ofControls = (does) => (event) => {
    if (!records.has(event.target) || !isControl(event.target)) return;
    does(event.target, event);
    if ("finds" in attributesOf(event.target)) finds.find();
  };

  const listeners = {
    focusin: quieted,
    click: clicked,
    toggle: toggled,
    keydown: pressed,
    change: ofControls(controls.changed),
    input: ofControls((element, { isComposing }) => controls.typed(element, isComposing)),
    compositionend: ofControls((element) => controls.typed(element, false)),
    focusout: ofControls((element) => isTyped(element) && controls.left(element)),
  };
  for (const [name, does] of Object.entries(listeners))
    root.addEventListener(name, guarded(does), name === "toggle"); // which does not bubble
  return { away: guarded(away) };
}
