// Files of somebody else's in a frame. Sandboxed, it runs no scripts, and the policy lets it fetch
// nothing. What both would refuse is taken out before: refusals fill the console, and a link would
// lead the frame away.

const POLICY =
  "default-src 'none'; img-src data: blob:; media-src data: blob:; style-src 'unsafe-inline'; " +
  "font-src data:; form-action 'none'; base-uri 'none'";

const REMOVED = "script, base, link, object, embed, iframe, frame, meta[http-equiv]";

const FETCHING = new Set(
  ("action background cite classid codebase data formaction href longdesc ping poster src srcset " +
    "xlink:href").split(" "),
);

const AS_IS = /^(application\/pdf|text\/plain|image\/(?!svg))/; // the rest may have scripts

export const isMarkup = (type) => !AS_IS.test(type);

export function harmless(source) {
  let known = source;
  for (let turn = 0; turn < 4; turn += 1) {
    const cleaned = clean(known);
    if (cleaned === known) break;
    known = cleaned; // some markup means something else once it was read and written
  }
  return known;
}

function clean(source) {
  const page = new DOMParser().parseFromString(source, "text/html"); // runs and fetches nothing
  page.querySelectorAll(REMOVED).forEach((one) => one.remove());
  page.querySelectorAll("form").forEach((one) => one.replaceWith(...one.childNodes));
  for (const element of page.querySelectorAll("*"))
    for (const { name, value } of [...element.attributes]) {
      const stays = /^\s*(#|data:image\/)/i.test(value);
      const acts = name.startsWith("on") || name === "autofocus";
      if (acts || (FETCHING.has(name) && !stays)) element.removeAttribute(name);
      else if (name === "style") element.setAttribute(name, quiet(value));
    }
  page.querySelectorAll("style").forEach((one) => (one.textContent = quiet(one.textContent)));
  const meta = page.createElement("meta");
  meta.setAttribute("http-equiv", "Content-Security-Policy");
  meta.setAttribute("content", POLICY);
  page.head.prepend(meta);
  return (page.doctype ? "<!doctype html>" : "") + page.documentElement.outerHTML;
}

const quiet = (css) => css.replace(/@import[^;]*;?|url\(\s*(?!["']?\s*data:)[^)]*\)/gi, "");
