// Draws a tree of plain values (see tree.py), and tells Python which action a person asked for.
//
// Text becomes text nodes, elements and attributes are those of the lists below: no string is
// ever read as HTML, but for the files that a sandboxed frame shows. What is typed is kept in
// the page until Python has said that it took it.

const TAGS = new Set(
  ("a b blockquote br button caption code col colgroup dd del details div dl dt em fieldset " +
    "figcaption figure h3 h4 h5 h6 hr i iframe img input ins kbd label legend li mark ol optgroup " +
    "option output p pre progress s section select small span strong sub summary sup table tbody " +
    "td textarea tfoot th thead time tr ul").split(" "),
);
const ATTRIBUTES = new Set(
  ("alt checked class cols colspan dir disabled for href id label lang max min multiple name open " +
    "placeholder role rows rowspan scope selected spellcheck start step tabindex title type value " +
    "width height").split(" "),
);
const OF_CONTROLS = new Set(["checked", "open", "selected"]); // a person changes these, too
const NAMES = new Set(
  ("for id list name aria-activedescendant aria-controls aria-describedby aria-details " +
    "aria-errormessage aria-flowto aria-labelledby aria-owns").split(" "),
); // what refers to elements: see `write`
const SAFE_LINK = /^(https?:\/\/|mailto:|#)/i;
const SAFE_STYLE = /^(?!.*(?:url|image|src))[\w\s.,%#()+*/-]*$/is;
const UNSAFE_IN_FILE_NAMES = /[\p{Cc}\p{Bidi_Control}/\\:*?"<>|]/gu;

const AFTER_TYPING = 300; // ms without a key before what was typed is sent
const BUSY_AFTER = 300; // ms without an answer before it shows
const SILENT_AFTER = 10_000; // ms without an answer before it is said
const SILENT =
  "The kernel has not answered for 10 seconds: it is busy, or it has ended. What you type is kept " +
  "in this page. If the kernel was restarted, run the cell again.";

const LONG = 100_000; // characters of a text that is laid out piece by piece, as one comes to see it
const PIECE = 20_000;

const CONTROL = "button, input, select, textarea, summary, label, a[href], [role=button]";
const REACHABLE =
  "button:enabled, summary, a[href], input:enabled, select:enabled, textarea:enabled, [tabindex='0']";

const views = new Set(); // those of this model

// ── trees ───────────────────────────────────────────────────────────────────────────────────────

const isText = (node) => typeof node === "string";

function same(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false;
  const names = Object.keys(one);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => same(one[name], other[name]))
  );
}

// What two nodes share when one element can become the other: all that cannot be changed.
function kind(node) {
  if (isText(node)) return node.length > LONG ? "long" : "";
  const [tag, { key, keep, type, blob, download }] = node;
  return JSON.stringify([tag, key, keep, type, download ? undefined : blob]);
}

// … and when it is likely to be about the same thing.
const likeness = (node) => kind(node) + (isText(node) ? "" : (node[1].class ?? "").split(" ")[0]);

// A browser takes minutes for a line of ten million characters.
function pieces(text) {
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

function parse(tree) {
  if (tree instanceof DataView) return JSON.parse(new TextDecoder().decode(tree));
  return isText(tree) ? JSON.parse(tree) : tree;
}

// ── what is typed, kept in this browser until Python took it ───────────────────────────────────

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
      return isText(text) && Array.isArray(known) ? { text, known } : null;
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

// ── files in frames ─────────────────────────────────────────────────────────────────────────────
// A frame holds a file of somebody else's: sandboxed, it runs no scripts, and the policy lets it
// fetch nothing. What both would refuse is taken out before: refusals fill the console, and a
// link would lead the frame away.

const POLICY =
  "default-src 'none'; img-src data: blob:; media-src data: blob:; style-src 'unsafe-inline'; " +
  "font-src data:; form-action 'none'; base-uri 'none'";
const FETCHING = new Set(
  "action background cite classid codebase data formaction href longdesc ping poster src srcset xlink:href"
    .split(" "),
);
const AS_IS = /^(application\/pdf|text\/plain|image\/(?!svg))/; // for the rest may have scripts

function harmless(source) {
  const page = new DOMParser().parseFromString(source, "text/html"); // runs and fetches nothing
  page.querySelectorAll("script, base, link, object, embed, iframe, frame, meta[http-equiv]")
    .forEach((one) => one.remove());
  for (const element of page.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      const stays = /^\s*(#|data:image\/)/i.test(value);
      const refused = name.startsWith("on") || name === "autofocus";
      if (refused || (FETCHING.has(name) && !stays)) element.removeAttribute(name);
      else if (name === "style") element.setAttribute(name, quiet(value));
    }
  }
  page.querySelectorAll("style").forEach((one) => (one.textContent = quiet(one.textContent)));
  const meta = page.createElement("meta");
  meta.setAttribute("http-equiv", "Content-Security-Policy");
  meta.setAttribute("content", POLICY);
  page.head.prepend(meta);
  return (page.doctype ? "<!doctype html>" : "") + page.documentElement.outerHTML;
}

const quiet = (css) => css.replace(/@import[^;]*;?|url\(\s*(?!["']?\s*data:)[^)]*\)/gi, "");

// ── a view ──────────────────────────────────────────────────────────────────────────────────────

function render({ model, el }) {
  const own = `s${Math.random().toString(36).slice(2, 10)}`; // of many views, this one
  const made = (tag, attributes, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };
  const told = made("p", { class: "sen-silent", role: "status" });
  const crashed = made("div", { class: "sen-crashed" });
  const body = made("div", { class: "sen-body" });
  const root = made(
    "div",
    {
      class: "sen",
      role: "region",
      "aria-label": model.get("_name"),
      "data-lm-suppress-shortcuts": "true", // JupyterLab's own keys stay out
      tabindex: "-1",
    },
    told,
    crashed,
    body,
  );

  // By element what was drawn there: `node`, `inside` (the page's nodes of its children), and of
  // a control what Python has (`given`), whether a person has changed it since (`dirty`), the
  // `timer` until it is sent, and how many messages are `under_way`.
  const records = new WeakMap();
  const top = { node: ["div", {}, []], inside: [] };
  records.set(body, top);
  const attributesOf = (element) => records.get(element)?.node[1] ?? {};

  // What goes wrong here is said, and is in the console: it is a defect of this script.
  const guarded = (what) => (...given) => {
    try {
      return what(...given);
    } catch (error) {
      defect(error);
    }
  };

  function defect(error, words = "This widget has a defect") {
    console.error(error);
    say(`${words}: ${error?.message ?? error}`);
  }

  function say(words) {
    const away = made("button", { type: "button" }, "Dismiss");
    away.onclick = () => crashed.replaceChildren();
    crashed.replaceChildren(made("div", { class: "sen-fault", role: "alert" }, made("p", {}, words), away));
  }

  // ── asking and being answered ───────────────────────────────────────────────────────────────

  const asked = new Map(); // number → what to do with the answer; the oldest first
  let number = 0;
  let typing = 0; // timers until what was typed is sent
  let loading = 0; // files on their way into a frame
  let ticking;

  function ask(message, answered, lost = () => {}) {
    asked.set(++number, { answered, lost, at: Date.now() });
    ticking ??= setInterval(wait, 100);
    count();
    try {
      model.send({ ...message, view: own, number: `${own}-${number}` });
    } catch {} // no kernel: there will be no answer, and that is said
  }

  const heard = guarded((message, buffers) => {
    const [view, at] = String(message?.answer).split("-");
    const question = view === own && asked.get(Number(at));
    if (!question) return;
    for (const [earlier, one] of asked) {
      if (earlier > Number(at)) break;
      asked.delete(earlier);
      if (one !== question) guarded(one.lost)(); // Python answers in order: this one never came
    }
    wait();
    guarded(question.answered)(message, buffers);
    if (message.redrew && !message.fault) forgive();
    count();
  });

  function wait() {
    const [oldest] = asked.values();
    const waited = oldest ? Date.now() - oldest.at : 0;
    root.classList.toggle("sen-busy", waited > BUSY_AFTER);
    const words = waited > SILENT_AFTER ? SILENT : "";
    if (told.textContent !== words) told.textContent = words;
    if (waited > BUSY_AFTER) root.style.setProperty("--sen-top", `${hidden()}px`);
    if (oldest) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  // How much of the widget is scrolled away above: what is said stands where it is seen.
  function hidden() {
    let edge = 0;
    for (let one = root.parentElement; one; one = one.parentElement)
      if (one.scrollHeight > one.clientHeight && getComputedStyle(one).overflowY !== "visible")
        edge = Math.max(edge, one.getBoundingClientRect().top);
    return Math.max(0, edge - root.getBoundingClientRect().top);
  }

  function count() {
    root.setAttribute("aria-busy", String(asked.size > 0));
    root.dataset.pending = asked.size + typing + loading; // what tests wait for
  }

  function act([action, ...values], answered = () => {}) {
    ask({ action, values }, (answer) => {
      answered(answer);
      if (answer.fault) body.querySelector(".sen-fault")?.scrollIntoView({ block: "nearest" });
    });
  }

  // ── controls ────────────────────────────────────────────────────────────────────────────────
  // A control shows what Python gives, unless a person has changed it and Python has not answered
  // yet. What Python refused stays to be put right, until the next thing that is done.

  const refused = new Set();
  const isTick = (element) => element.type === "checkbox" || element.type === "radio";
  const isTyped = (element) =>
    element.localName === "textarea" || (element.localName === "input" && !isTick(element));
  const isControl = (element) => isTyped(element) || isTick(element) || element.localName === "select";
  const isFocused = (element) => element.getRootNode().activeElement === element;

  function valueOf(element) {
    if (element.localName === "details") return element.open;
    if (element.type === "checkbox") return element.checked;
    if (element.multiple) return [...element.selectedOptions].map((option) => option.value);
    if (element.type === "number" || element.type === "range")
      return element.value === "" ? null : Number(element.value);
    return element.value;
  }

  // Show what Python gives.
  function settle(element, isNew = false) {
    const record = records.get(element);
    if (!record || (record.dirty && !isNew)) return;
    const { value = "", checked = false } = attributesOf(element);
    if (isTick(element)) {
      if (element.checked !== checked) element.checked = checked;
    } else if (element.localName === "select") choose(element, attributesOf(element).value);
    else if (isNew || String(value) !== record.given) put(element, String(value));
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
    const options = [...element.options];
    const given = options.filter((option) => attributesOf(option).selected);
    if (value === undefined && !given.length) return;
    const named = new Set([value].flat());
    for (const option of options) {
      const selected = value === undefined ? given.includes(option) : named.has(option.value);
      if (option.selected !== selected) option.selected = selected;
    }
    if (!element.multiple && value !== undefined && element.value !== value) element.selectedIndex = -1;
  }

  // Tell Python what the control has now.
  function tell(element, action) {
    const record = records.get(element);
    const { keep } = record.node[1];
    const text = element.value;
    const value = valueOf(element);
    hold(element);
    if (element.validity.badInput) return; // half a number
    record.dirty = true;
    record.under_way = (record.under_way ?? 0) + 1;
    (record.known ??= []).push(text);
    if (keep) storage.keep(keep, text, record.known);
    const ended = () => (record.under_way -= 1);
    ask(
      { action: action[0], values: [...action.slice(1), value] },
      ({ fault, redrew }) => {
        ended();
        if (fault) refuse(element, record, keep);
        else taken(element, record, text, redrew);
      },
      () => {
        ended();
        if (root.contains(element)) tell(element, action); // as it is by now
      },
    );
  }

  function taken(element, record, text, redrew) {
    const { keep } = record.node[1];
    if (keep) {
      storage.forget(keep, text);
      for (const view of views) if (view.own !== own) view.taken(keep, text);
    }
    record.known = [text];
    if (isTyped(element)) record.given = text;
    if (isTyped(element) && element.value !== text) return; // one has gone on typing
    if (record.timer !== undefined || record.under_way) return;
    record.dirty = false;
    if (!redrew) return;
    for (const one of element.type === "radio" ? ofGroup(element) : [element]) settle(one);
  }

  function refuse(element, record, keep) {
    if (keep) return; // it stays what it is, and in this browser, until Python takes it
    record.dirty = false;
    if (isTyped(element)) refused.add(element);
    else settle(element);
  }

  function forgive() {
    for (const one of refused) {
      if (isFocused(one)) continue;
      put(one, String(attributesOf(one).value ?? ""));
      refused.delete(one);
    }
  }

  const ofGroup = ({ name }) =>
    [...body.querySelectorAll("input[type=radio]")].filter((one) => one.name === name);

  function hold(element) {
    const record = records.get(element);
    if (record?.timer === undefined) return;
    clearTimeout(record.timer);
    record.timer = undefined;
    typing -= 1;
    count();
  }

  function typed(element, { on, keep }, isComposing) {
    const record = records.get(element);
    record.dirty = true;
    refused.delete(element);
    if (keep) storage.keep(keep, element.value, (record.known ??= [record.given]));
    hold(element);
    if (!on?.input || isComposing) return;
    if (!isTyped(element) || element.type === "range") return tell(element, on.input);
    typing += 1;
    record.timer = setTimeout(guarded(() => tell(element, on.input)), AFTER_TYPING);
    count();
  }

  // Send what was typed and not sent, before its element goes.
  function flush(element) {
    const record = records.get(element);
    const { on } = attributesOf(element);
    const unsent = record.timer !== undefined || (record.dirty && !record.under_way);
    if (unsent && (on?.input ?? on?.change)) tell(element, on.input ?? on.change);
    hold(element);
    refused.delete(element);
  }

  function recover(element, keep) {
    const record = records.get(element);
    const kept = storage.recall(keep);
    record.known = [record.given];
    if (!kept) return;
    if (kept.text === element.value) return storage.forget(keep, kept.text);
    element.value = joined(kept, element.value, element.localName === "textarea");
    const { on } = attributesOf(element);
    if (on?.input ?? on?.change) tell(element, on.input ?? on.change);
  }

  // ── bytes ───────────────────────────────────────────────────────────────────────────────────
  // They are asked for when their element comes into sight.

  const sight = new IntersectionObserver(
    guarded((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        sight.unobserve(target);
        fill(target);
      }
    }),
    { rootMargin: "400px", scrollMargin: "400px" },
  );
  const urls = new Map(); // element → the URL of its bytes

  function fetchBytes(name, then, failed) {
    ask({ blob: name }, ({ type, fault }, buffers) => {
      if (fault) failed(fault);
      else then(new Blob(buffers, { type }));
    });
  }

  function fill(element) {
    const show = async (blob) => {
      if (!root.contains(element)) return;
      if (element.localName === "iframe" && !AS_IS.test(blob.type)) {
        loading += 1;
        element.srcdoc = harmless(await blob.text().finally(() => (loading -= 1)));
        return count();
      }
      if (blob.type === "application/pdf") element.removeAttribute("sandbox"); // the viewer has its own
      urls.set(element, URL.createObjectURL(blob));
      element.src = urls.get(element);
    };
    fetchBytes(attributesOf(element).blob, (blob) => show(blob).catch(defect), (fault) => replace(element, fault));
  }

  // Words instead of a picture; for the next drawing it is still the picture.
  function replace(element, words) {
    const { inside } = records.get(element.parentNode);
    const instead = made("p", { class: "sen-soft" }, words);
    records.set(instead, records.get(element));
    inside[inside.indexOf(element)] = instead;
    element.replaceWith(instead);
  }

  function download(name, file) {
    const save = (blob) => {
      const url = URL.createObjectURL(blob);
      made("a", { href: url, download: file.replace(UNSAFE_IN_FILE_NAMES, "_") }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    };
    fetchBytes(name, save, say);
  }

  // ── drawing ─────────────────────────────────────────────────────────────────────────────────

  function build(node) {
    if (isText(node) && node.length > LONG)
      return made("span", {}, ...pieces(node).map((one) => made("span", { class: "sen-piece" }, one)));
    if (isText(node)) return document.createTextNode(node);
    const [tag, attributes, children] = node;
    if (!TAGS.has(tag)) throw new Error(`no tree has a <${tag}>`);
    const element = document.createElement(tag);
    const record = { node: [tag, {}, []], inside: [] };
    records.set(element, record);
    if (tag === "input") element.type = attributes.type ?? "text"; // it decides what the others mean
    if (tag === "iframe") element.setAttribute("sandbox", "");
    dress(element, {}, attributes);
    reconcile(element, record, children);
    record.node = node;
    if (tag === "details") element.open = record.open = Boolean(attributes.open);
    if (isControl(element)) settle(element, true);
    if (attributes.keep) recover(element, attributes.keep);
    if (attributes.blob && !attributes.download) sight.observe(element);
    return element;
  }

  function update(element, node) {
    if (isText(node) && node.length > LONG) return element.replaceChildren(...build(node).childNodes);
    if (isText(node)) {
      if (element.data !== node) element.data = node;
      return;
    }
    const record = records.get(element);
    const [, before, children] = record.node;
    dress(element, before, node[1]);
    reconcile(element, record, node[2], children);
    record.node = node;
    if (isControl(element)) settle(element);
    if (Boolean(before.open) !== Boolean(node[1].open)) element.open = record.open = Boolean(node[1].open);
  }

  function dress(element, before, attributes) {
    for (const name of Object.keys(before)) if (!(name in attributes)) write(element, name, null);
    for (const [name, value] of Object.entries(attributes))
      if (!same(before[name], value)) write(element, name, value);
    if (element.localName === "button") element.type = "button"; // never a form's
  }

  function write(element, name, value) {
    if (name === "style") return paint(element, value ?? {});
    if (!ATTRIBUTES.has(name) && !/^aria-[a-z]+$/.test(name)) return;
    if (OF_CONTROLS.has(name) || (name === "value" && (isTyped(element) || element.localName === "select")))
      return; // settled below, as a person may have changed it
    const unsafe = name === "href" && !SAFE_LINK.test(value);
    if (value === null || value === false || unsafe) element.removeAttribute(name);
    else element.setAttribute(name, NAMES.has(name) ? named(value) : value === true ? "" : value);
    if (name !== "href") return;
    const leaves = element.hasAttribute("href") && !String(value).startsWith("#");
    for (const [one, other] of [["target", "_blank"], ["rel", "noopener noreferrer"]])
      leaves ? element.setAttribute(one, other) : element.removeAttribute(one);
  }

  // Two views of a page have the same names for different elements; and a name that a file has
  // chosen could stand for something of the page's own.
  const named = (value) => String(value).replace(/\S+/g, (name) => `${own}-${name}`);

  function paint(element, rules) {
    element.removeAttribute("style");
    for (const [name, value] of Object.entries(rules))
      if (SAFE_STYLE.test(value)) element.style.setProperty(name, value);
  }

  // Make the children of an element those that are wanted, with as many of those that are there
  // as can be: so focus, what is typed, what is open and where one has scrolled to stay.
  function reconcile(parent, record, wanted, there = []) {
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
    const left = new Set();
    for (let at = first; at < last; at += 1) left.add(at);
    for (const alike of [likeness, kind]) {
      const spare = new Map();
      for (const at of left) {
        const like = alike(there[at]);
        spare.has(like) ? spare.get(like).push(at) : spare.set(like, [at]);
      }
      for (const places of spare.values()) places.reverse();
      for (let at = first; at < end && left.size; at += 1) {
        if (now[at]) continue;
        const from = spare.get(alike(wanted[at]))?.pop();
        if (from === undefined) continue;
        left.delete(from);
        now[at] = old[from];
      }
    }
    for (const at of left) discard(old[at]);
    for (let at = first; at < end; at += 1) {
      if (now[at]) update(now[at], wanted[at]);
      else now[at] = build(wanted[at]);
    }
    for (let at = end - 1; at >= first; at -= 1) {
      const next = now[at + 1]?.parentNode === parent ? now[at + 1] : null;
      if (now[at].parentNode !== parent) parent.insertBefore(now[at], next);
      else if (now[at].nextSibling !== next) move(parent, now[at], next);
    }
    record.inside = now;
  }

  // A move keeps focus, frames and scrolling where the browser can do that.
  function move(parent, node, next) {
    if (parent.moveBefore && parent.isConnected) parent.moveBefore(node, next);
    else parent.insertBefore(node, next);
  }

  function discard(node) {
    if (node.nodeType === Node.ELEMENT_NODE) {
      for (const one of [node, ...node.querySelectorAll("input, textarea, select, img, iframe")]) {
        if (urls.has(one)) URL.revokeObjectURL(urls.get(one));
        urls.delete(one);
        sight.unobserve(one);
        if (records.has(one) && isControl(one)) guarded(flush)(one);
      }
    }
    node.remove();
  }

  function draw() {
    const back = focus();
    try {
      const tree = parse(model.get("_tree"));
      reconcile(body, top, tree, top.node[2]);
      top.node = ["div", {}, tree];
      if (crashed.dataset.drawing) crashed.replaceChildren();
      delete crashed.dataset.drawing;
    } catch (error) {
      defect(error, "This widget could not be drawn");
      crashed.dataset.drawing = "true";
      [...body.childNodes].forEach(discard); // which is drawn in part; the next one starts anew
      Object.assign(top, { node: ["div", {}, []], inside: [] });
    }
    back();
    count();
  }

  // Where the focus is; the answer brings it back there, or near to where its element was.
  function focus() {
    const active = root.getRootNode().activeElement;
    if (!active || !body.contains(active)) return () => {};
    const way = []; // up from the element: parent, and which child of it
    for (let one = active; one !== body; one = one.parentElement)
      way.push([one.parentElement, [...one.parentElement.children].indexOf(one)]);
    const range = isTyped(active) && [active.selectionStart, active.selectionEnd];
    return () => {
      if (isFocused(active) && !active.disabled) return follow(active);
      const other = root.getRootNode().activeElement;
      if (other && other !== active && other !== document.body) return; // somebody else has it
      if (active.isConnected && !active.disabled) {
        active.focus({ preventScroll: true });
        if (typeof range[0] === "number") active.setSelectionRange(...range);
        return;
      }
      (near(way) ?? root).focus({ preventScroll: true });
    };
  }

  // Another one of its group was chosen by a key: the focus goes with the choice.
  function follow(element) {
    if (element.type !== "radio" || element.checked) return;
    ofGroup(element).find((one) => one.checked)?.focus({ preventScroll: true });
  }

  function near(way) {
    for (const [parent, at] of way) {
      if (!body.contains(parent)) continue;
      const children = [...parent.children];
      for (const one of [...children.slice(at), ...children.slice(0, at).reverse()]) {
        const found = [one, ...one.querySelectorAll(REACHABLE)].find(
          (each) => each.matches(REACHABLE) && !isTyped(each) && each.checkVisibility(),
        );
        if (found) return found;
      }
    }
    return null;
  }

  // ── what people do ──────────────────────────────────────────────────────────────────────────

  function meant(event, name) {
    for (let one = event.target; one && one !== body && root.contains(one); one = one.parentElement) {
      const attributes = attributesOf(one);
      if (attributes.on?.[name] || (name === "click" && attributes.download)) return [one, attributes];
      if (name === "click" && one.matches(CONTROL)) break; // it has a meaning of its own
    }
    return [null, {}];
  }

  function clicked(event) {
    const [element, { on, blob, download: file }] = meant(event, "click");
    const link = event.target.closest("a[href^='#']");
    if (link && body.contains(link)) {
      event.preventDefault();
      document.getElementById(named(attributesOf(link).href.slice(1)))?.scrollIntoView();
    }
    if (!element || element.disabled || element.getAttribute("aria-disabled") === "true") return;
    if (!element.matches(CONTROL) && String(getSelection())) return; // text is being marked
    if (file) download(blob, file);
    else act(on.click);
  }

  function changed({ target }) {
    const { on } = attributesOf(target);
    if (!records.has(target) || !isControl(target)) return;
    if (target.validity.badInput) {
      target.reportValidity();
      return;
    }
    if (records.get(target).timer !== undefined) tell(target, on.input);
    if (on?.change) tell(target, on.change);
  }

  function entered({ target, isComposing }) {
    if (records.has(target) && isControl(target)) typed(target, attributesOf(target), isComposing);
  }

  // One has left a field as it was: it is Python's again.
  function left({ target }) {
    const record = records.get(target);
    if (!record || !isTyped(target) || record.timer !== undefined || record.under_way) return;
    if (target.value === record.given) record.dirty = false;
  }

  function toggled({ target }) {
    const record = records.get(target);
    if (target.localName !== "details" || !record || target.open === record.open) return;
    record.open = target.open;
    const { on } = attributesOf(target);
    if (on?.toggle) act([...on.toggle, target.open]);
  }

  let turning = false; // a key is held down: one action at a time

  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (event.target.matches("[role=tab]") && turnTab(event)) return;
    if (isOwn(event)) return;
    const from = event.target === root ? body.querySelectorAll("*") : [event.target];
    const start = [...from].find((one) => event.target !== root || attributesOf(one).keys);
    for (let one = start; one && one !== body; one = one.parentElement) {
      const found = attributesOf(one).keys?.[event.key];
      if (!found) continue;
      event.preventDefault();
      event.stopPropagation();
      if (event.repeat && turning) return;
      turning = true;
      act(found, () => (turning = false));
      return;
    }
  }

  // What the element itself does at a key.
  function isOwn({ target, key }) {
    if (isTyped(target) || target.localName === "select") return true;
    if (target.type === "radio" && key.startsWith("Arrow")) return true;
    if ((key === "Enter" || key === " ") && target.matches(CONTROL)) return true;
    if (target.matches(CONTROL)) return false;
    if (/^Arrow(Left|Right)$/.test(key)) return target.scrollWidth > target.clientWidth + 1;
    return /^(Arrow|Page|Home|End)/.test(key) && target.scrollHeight > target.clientHeight + 1;
  }

  function turnTab(event) {
    const list = event.target.closest("[role=tablist]");
    const tabs = [...(list?.querySelectorAll("[role=tab]:enabled") ?? [])];
    const [back, on] = list?.ariaOrientation === "vertical" ? ["Up", "Down"] : ["Left", "Right"];
    const at = tabs.indexOf(event.target);
    const to = { [`Arrow${back}`]: at - 1, [`Arrow${on}`]: at + 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return false;
    const tab = tabs.at(to % tabs.length);
    tab.focus();
    tab.click();
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  for (const [name, does] of Object.entries({
    click: clicked,
    change: changed,
    input: entered,
    compositionend: entered,
    focusout: left,
    keydown: pressed,
    toggle: toggled,
  }))
    root.addEventListener(name, guarded(does), name === "toggle"); // which does not bubble

  // ── coming and going ────────────────────────────────────────────────────────────────────────

  function flushAll() {
    for (const one of body.querySelectorAll("input, textarea, select"))
      if (records.has(one)) flush(one);
  }

  const view = {
    own,
    // Another view of the same widget has had this text taken.
    taken(keep, text) {
      for (const one of body.querySelectorAll("input, textarea")) {
        const record = records.get(one);
        if (attributesOf(one).keep === keep && !record.dirty) put(one, text);
      }
    },
  };

  const leaving = guarded(flushAll);
  el.append(root);
  views.add(view);
  model.on("change:_tree", draw);
  model.on("msg:custom", heard);
  window.addEventListener("pagehide", leaving);
  model.send({ view: own, open: true });
  draw();

  return () => {
    leaving();
    sight.disconnect();
    clearInterval(ticking);
    window.removeEventListener("pagehide", leaving);
    model.off("change:_tree", draw);
    model.off("msg:custom", heard);
    for (const url of urls.values()) URL.revokeObjectURL(url);
    views.delete(view);
    model.send({ view: own, open: false });
    root.remove();
  };
}

export default { render };
