// Rows that a person looks for: the others are hidden at once, with no kernel. Python hears of it
// and has a list of its own from then on; until then, and without it, this holds.

export function finding({ body, records, attributesOf }) {
  const all = (tags, name) => [...body.querySelectorAll(tags)].filter((one) => name in attributesOf(one));

  function find() {
    const controls = all("input, select", "finds");
    if (!controls.length) return;
    const isOurs = controls.some((one) => records.get(one).dirty);
    const wanted = isOurs ? controls.map((one) => [attributesOf(one).finds, one.value]) : [];
    for (const row of all("tr", "has")) {
      const { has } = attributesOf(row);
      row.hidden = !wanted.every(([kind, value]) => isMet(has[kind], kind, value));
      for (let below = row.nextElementSibling; below; below = below.nextElementSibling) {
        if (attributesOf(below).has) break;
        below.hidden = row.hidden;
      }
    }
  }

  function isMet(own, kind, value) {
    if (!value || (!kind && own === undefined)) return true;
    if (kind) return Boolean(own?.includes(value));
    return value.toLowerCase().split(/\s+/).every((word) => own.includes(word));
  }

  // What a key leads to: the search, which all of its text is chosen in.
  function look() {
    const search = body.querySelector("input[type=search]");
    search?.focus();
    search?.select();
    return search;
  }

  return { find, look };
}
