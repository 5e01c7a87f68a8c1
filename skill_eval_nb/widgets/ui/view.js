// Draws a tree of plain values (see tree.py), and tells Python which action a person asked for.
//
// Text becomes text nodes, elements and attributes are those of a list: no string is ever read as
// HTML, but for the files that a sandboxed frame shows. What is typed is kept in the page until
// Python has said that it took it.

import { acting } from "./acting.js";
import { asking } from "./asking.js";
import { controls } from "./controls.js";
import { drawing } from "./drawing.js";
import { files } from "./files.js";
import { finding } from "./finding.js";
import { remembered } from "./focus.js";
import { placed } from "./place.js";
import { parse } from "./tree.js";

function render({ model, el }) {
  const place = placed(model.get("_name"));
  const kernel = asking(model, place);
  const fields = controls(place, kernel);
  const bytes = files(place, kernel);
  const { draw, sort } = drawing(place, fields, bytes);
  const finds = finding(place);
  const { away } = acting(place, { controls: fields, files: bytes, act: kernel.act, sort, finds });

  // What was garbled on its way is asked for again, once; meanwhile stays what was drawn.
  let isAwaited = false;
  function read(wire) {
    try {
      const tree = parse(wire);
      isAwaited = false;
      return tree;
    } catch (error) {
      if (isAwaited) throw error;
      isAwaited = true;
      model.send({ view: place.own, again: true });
    }
  }

  const redraw = place.guarded(() => {
    const tree = read(model.get("_wire"));
    if (!tree) return;
    const bringBack = remembered(place, fields);
    draw(tree);
    finds.find();
    bringBack();
    kernel.count();
  });
  const heard = place.guarded((message, buffers) => {
    kernel.heard(message, buffers);
    finds.find();
    if (message?.redrew && !message.fault) fields.forgive();
  });
  const lost = place.guarded(kernel.lose);
  const flush = place.guarded(fields.flushAll);

  el.append(place.root);
  model.on("change:_wire", redraw);
  model.on("msg:custom", heard);
  model.on("comm_live_update", lost); // told once, when it is live no more
  window.addEventListener("pagehide", flush);
  window.addEventListener("pointerdown", away, true);
  model.send({ view: place.own, open: true });
  redraw();

  return () => {
    place.guarded(fields.leave)();
    bytes.leave();
    kernel.rest();
    window.removeEventListener("pagehide", flush);
    window.removeEventListener("pointerdown", away, true);
    model.off("change:_wire", redraw);
    model.off("msg:custom", heard);
    model.off("comm_live_update", lost);
    model.send({ view: place.own, open: false });
    place.root.remove();
  };
}

export default { render };
