/** Lines of all listings that come from one line of the kernel. */
let linked = [];

/** Marks them, shows them in the other listings, and says what there is to say of the line. */
function choose(line, counts, data, show) {
  for (const old of linked) {
    old.classList.remove("linked", "chosen");
    old.setAttribute("aria-selected", "false");
  }
  const from = Number(line.dataset.from);
  linked = from > 0 ? [...document.querySelectorAll('.line[data-from="' + from + '"]')] : [line];
  for (const one of linked) {
    one.classList.add("linked");
  }
  line.classList.add("chosen");
  line.setAttribute("aria-selected", "true");
  if (!linked.includes(line)) {
    linked.push(line);
  }
  const own = line.closest(".lines");
  own.setAttribute("aria-activedescendant", line.id);
  if (show) {
    const seen = new Set([own]);
    for (const one of linked) {
      const list = one.closest(".lines");
      if (!seen.has(list)) {
        seen.add(list);
        within(list, one);
      }
    }
  }
  tell(line, from, counts, data);
}

/** Scrolls a list, and nothing else, so that a line is seen. */
function within(list, line) {
  const [a, b] = [list.getBoundingClientRect(), line.getBoundingClientRect()];
  if (b.top < a.top || b.bottom > a.bottom) {
    list.scrollTop += b.top - a.top - list.clientHeight / 3;
  }
}

/** The sentence about the line at hand. */
function tell(line, from, counts, data) {
  const parts = [];
  if (from > 0) {
    parts.push(element("b", {}, "Line " + from + ". "));
    const of = data.listings.filter((l) => l.id !== "il").map((l) => {
      const many = l.from.filter((f) => f === from).length;
      return many + " in " + l.title;
    });
    if (of.length > 0) {
      parts.push("Becomes lines: " + of.join(", ") + ". ");
    }
  }
  const count = counts.get(from);
  if (count) {
    const lanes = count.lanes / Math.max(1, count.executions);
    const sent = count.launched / Math.max(1, count.executions);
    parts.push(
      short(count.executions) + " executions by waves, " + lanes.toFixed(1) + " of " + sent.toFixed(1) +
        " lanes active, " + short(count.splits) + " times they parted" +
        (count.touched > 0 ? ", " + short(count.touched) + " cache lines touched, " + short(count.new) + " of them new" : "") +
        (count.flops > 0 ? ", " + short(count.flops) + " floating-point operations" : "") + ". ",
    );
  }
  const [, id, at] = line.id.match(/^(\w+)-(\d+)$/);
  const live = data.listings.find((l) => l.id === id).live?.[Number(at)];
  if (Array.isArray(live)) {
    parts.push("Live when it begins: " + (live.length > 0 ? live.map((r) => "%" + r).join(" ") : "nothing") + ".");
  }
  byId("chosen").replaceChildren(...parts);
}

/** Pointer and keys of a list. */
function listen(list, counts, data) {
  const lines = () => [...list.querySelectorAll(".line")].filter((line) => line.offsetParent !== null);
  const active = () => byId(list.getAttribute("aria-activedescendant") ?? "");
  list.addEventListener("mouseover", (event) => {
    const line = event.target.closest(".line");
    if (line && !line.classList.contains("chosen")) {
      choose(line, counts, data, false);
    }
  });
  list.addEventListener("click", (event) => {
    const line = event.target.closest(".line");
    if (line) {
      choose(line, counts, data, true);
    }
  });
  list.addEventListener("focus", () => {
    const line = active() ?? lines()[0];
    if (line) {
      choose(line, counts, data, true);
    }
  });
  list.addEventListener("keydown", (event) => {
    const all = lines();
    const at = all.indexOf(active());
    const page = Math.max(1, Math.floor(list.clientHeight / 20) - 1);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: all.length - 1 };
    if (event.ctrlKey || event.altKey || event.metaKey || !(event.key in to) || all.length === 0) {
      return;
    }
    event.preventDefault();
    const line = all[Math.min(all.length - 1, Math.max(0, to[event.key]))];
    choose(line, counts, data, true);
    within(list, line);
  });
}
