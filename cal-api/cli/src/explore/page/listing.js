/** What a line's count shows: what to call it, the figure of a line, how it is written, and what the colour goes by. */
const COUNTS = {
  executions: { title: "executions", of: (c) => c.executions, shown: short, heat: (c) => c.executions },
  lanes: {
    title: "active lanes",
    of: (c) => c.lanes / Math.max(1, c.executions),
    shown: (n) => n.toFixed(1),
    heat: (c) => 1 - c.lanes / Math.max(1, c.launched),
  },
  divergence: { title: "divergence", of: (c) => c.splits, shown: short, heat: (c) => c.splits },
  touched: { title: "cache lines", of: (c) => c.touched, shown: short, heat: (c) => c.touched },
};

/** A listing as a list of which one line is at hand. */
function listing(of, counts) {
  const list = element("ol", {
    class: "lines",
    role: "listbox",
    tabindex: "0",
    id: "lines-" + of.id,
    "aria-label": of.title + ", " + of.lines.length + " lines",
  });
  of.lines.forEach((text, at) => {
    const live = of.live ? of.live[at] : null;
    const number = live === null ? (of.id === "il" ? String(at + 1) : "") : String(Array.isArray(live) ? live.length : live);
    const count = of.id === "il" ? counts.get(at + 1) : undefined;
    list.append(
      element(
        "li",
        { class: "line", role: "option", "aria-selected": "false", id: of.id + "-" + at, "data-from": of.from[at] },
        of.live || of.id === "il" ? element("span", { class: "number", title: of.live ? "live registers" : null }, number) : "",
        of.id === "il" && counts.size > 0 ? element("span", { class: "count", "data-line": count ? at + 1 : null }) : "",
        element("code", {}, text === "" ? " " : text),
      ),
    );
  });
  const about = of.live ? of.about + "; left: live registers" : of.about;
  const head = element("header", {}, element("h2", { id: "head-" + of.id }, of.title), element("p", {}, about));
  return element("section", { class: "listing", id: "listing-" + of.id, "aria-labelledby": "head-" + of.id }, head, list);
}

/** Puts diagnostics below the lines that they are about. */
function diagnose(found) {
  for (const one of found) {
    const line = byId("il-" + (one.line - 1));
    const text = one.severity + ": " + one.message + (one.note ? "\n" + one.note : "") +
      (one.suggestion ? "\nhelp: " + one.suggestion.message : "");
    const note = element("li", { class: "note " + one.severity, role: "presentation" }, text);
    if (line) {
      line.after(note);
    }
  }
}

/** Shows one kind of count beside the lines, coloured by how high it is. */
function heat(kind, counts) {
  const { of, shown, heat: hot } = COUNTS[kind];
  const most = Math.max(...[...counts.values()].map(hot), 0);
  for (const cell of document.querySelectorAll(".count[data-line]")) {
    const count = counts.get(Number(cell.dataset.line));
    cell.textContent = shown(of(count));
    cell.title = COUNTS[kind].title;
    cell.style.setProperty("--hot", most > 0 ? (0.55 * hot(count)) / most : 0);
  }
}
