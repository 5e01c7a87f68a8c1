// Asking Python for something, being answered once, and saying so when no answer comes.

const BUSY_AFTER = 300; // ms without an answer before it shows
const SILENT_AFTER = 10_000; // ms without an answer before it is said
const SILENT =
  "The kernel has not answered for 10 seconds: it is busy or has stopped. What you type is " +
  "kept on this page. If the kernel was restarted, run the cell again.";
const GONE =
  "The kernel of this widget is gone, so nothing here is updated and buttons are inactive. " +
  "Run the cell again: finished work is saved, and the job resumes.";

export function asking(model, { own, told, body, root, guarded }) {
  const asked = new Map(); // number → what to do with the answer; the oldest first
  let number = 0;
  let awaited = 0; // what else is under way, as a pause in somebody's typing
  let ticking;
  let isGone = false;

  function ask(message, answered, lost = () => {}) {
    number += 1;
    asked.set(number, { answered, lost, at: Date.now() });
    ticking ??= setInterval(wait, 100);
    count();
    try {
      model.send({ ...message, view: own, number: `${own}-${number}` });
    } catch {} // no kernel: there will be no answer, and that is said
  }

  function act([action, ...values], answered = () => {}) {
    ask({ action, values }, (answer) => {
      answered(answer);
      if (answer.fault) body.querySelector(".sen-fault")?.scrollIntoView({ block: "nearest" });
    });
  }

  function heard(message, buffers) {
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
    count();
  }

  function wait() {
    const [oldest] = asked.values();
    const waited = oldest ? Date.now() - oldest.at : 0;
    root.classList.toggle("sen-busy", waited > BUSY_AFTER);
    const words = isGone ? GONE : waited > SILENT_AFTER ? SILENT : "";
    if (told.textContent !== words) told.textContent = words;
    if (words || waited > BUSY_AFTER) root.style.setProperty("--sen-top", `${hidden()}px`);
    if (!oldest) rest();
  }

  // The notebook has let go of the kernel, as it does before it starts another one.
  function lose() {
    isGone = true;
    root.classList.add("sen-gone");
    wait();
  }

  // How much of the widget is scrolled away above: what is said stands where it is seen.
  function hidden() {
    let edge = 0;
    for (let one = root.parentElement; one; one = one.parentElement)
      if (one.scrollHeight > one.clientHeight && getComputedStyle(one).overflowY !== "visible")
        edge = Math.max(edge, one.getBoundingClientRect().top);
    return Math.max(0, edge - root.getBoundingClientRect().top);
  }

  function rest() {
    clearInterval(ticking);
    ticking = undefined;
  }

  function also(more) {
    awaited += more;
    count();
  }

  function count() {
    root.setAttribute("aria-busy", String(asked.size > 0));
    root.dataset.pending = asked.size + awaited; // what tests wait for
  }

  return { ask, act, heard, lose, also, count, rest };
}
