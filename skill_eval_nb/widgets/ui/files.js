// Bytes that the kernel has by name: pictures and frames, asked for as they come into sight, and
// downloads.

import { harmless, isMarkup } from "./frames.js";
import { made } from "./place.js";

const UNSAFE_IN_FILE_NAMES = /[\p{Cc}\p{Bidi_Control}/\\:*?"<>|]/gu;

export function files({ root, records, attributesOf, say, defect, guarded }, { ask, also }) {
  const urls = new Map(); // element → the URL of its bytes

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

  function fetchBytes(name, then, failed) {
    ask({ blob: name }, ({ type, fault }, buffers) => {
      if (fault) failed(fault);
      else then(new Blob(buffers, { type }));
    });
  }

  function fill(element) {
    const { blob } = attributesOf(element);
    const then = (bytes) => show(element, bytes).catch(defect);
    fetchBytes(blob, then, (fault) => replace(element, fault));
  }

  async function show(element, bytes) {
    if (!root.contains(element)) return;
    if (element.localName === "iframe" && isMarkup(bytes.type)) {
      also(+1);
      element.srcdoc = harmless(await bytes.text().finally(() => also(-1)));
      return;
    }
    if (bytes.type === "application/pdf") element.removeAttribute("sandbox"); // its viewer has one
    urls.set(element, URL.createObjectURL(bytes));
    element.src = urls.get(element);
  }

  // Words instead of a picture; for the next drawing it is still the picture.
  function replace(element, words) {
    if (!root.contains(element)) return;
    const { inside } = records.get(element.parentNode);
    const instead = made("p", { class: "sen-soft" }, words);
    records.set(instead, records.get(element));
    inside[inside.indexOf(element)] = instead;
    element.replaceWith(instead);
  }

  function download(name, file) {
    const save = (bytes) => {
      const url = URL.createObjectURL(bytes);
      made("a", { href: url, download: file.replace(UNSAFE_IN_FILE_NAMES, "_") }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000);
    };
    fetchBytes(name, save, say);
  }

  function copy(button, text, name) {
    const put = (words) => clip(words).then(() => tick(button), say);
    if (!name) put(text);
    else fetchBytes(name, (bytes) => bytes.text().then(put), say);
  }

  function tick(button) {
    const done = button.querySelector(".sen-done");
    done.textContent = " ✓";
    setTimeout(() => (done.textContent = ""), 1_500);
  }

  // A page that is not from this computer and not encrypted has no clipboard of the new kind.
  async function clip(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = made("textarea", { class: "sen-unseen" });
    const before = document.activeElement;
    area.value = text;
    root.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    before?.focus();
    if (!isDone) throw new Error("The browser did not allow the copy.");
  }

  function drop(element) {
    sight.unobserve(element);
    if (urls.has(element)) URL.revokeObjectURL(urls.get(element));
    urls.delete(element);
  }

  function leave() {
    sight.disconnect();
    [...urls.keys()].forEach(drop);
  }

  return { watch: (element) => sight.observe(element), copy, download, drop, leave };
}
