/** Columns of the table of chips: head, figure, whether it is a word. */
const COLUMNS = [
  ["Chip", (c) => c.target.name.toUpperCase(), true],
  ["GPRs", (c) => c.gprs],
  ["Scratch", (c) => c.scratch],
  ["Waves", (c) => c.waves_per_simd],
  ["Held by", (c) => c.held_by, true],
  ["ALU", (c) => c.code.alu_clauses],
  ["Tex", (c) => c.code.fetch_clauses],
  ["Writes", (c) => c.code.writes],
  ["Ctl", (c) => c.code.control],
  ["VLIW", (c) => c.code.vliw],
  ["Packed", (c) => (100 * c.code.packing).toFixed(1) + " %"],
  ["Clocks least", (c) => c.wave_clocks[0].toFixed(1)],
  ["mean", (c) => c.wave_clocks[1].toFixed(1)],
  ["most", (c) => c.wave_clocks[2].toFixed(1)],
  ["ALU:tex", (c) => (c.alu_to_fetch === null ? "–" : c.alu_to_fetch.toFixed(2))],
  ["Threads/s", (c) => short(c.threads_per_second)],
  ["Limit", (c) => c.limit, true],
];

/** The analyzer's table. */
function chips(list) {
  const head = element("tr", {}, ...COLUMNS.map(([name, , word]) => element("th", { scope: "col", class: word ? "word" : null }, name)));
  const rows = list.map((chip) => {
    const name = chip.target.name.toUpperCase();
    if (chip.error) {
      return element("tr", {}, element("td", {}, name), element("td", { class: "word", colspan: COLUMNS.length - 1 }, chip.error));
    }
    return element("tr", {}, ...COLUMNS.map(([, of, word]) => element("td", { class: word ? "word" : null }, String(of(chip)))));
  });
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

/** What is said of the run. */
function ran(run) {
  if (run.error) {
    return "It did not run: " + run.error;
  }
  const [done, all] = run.parts;
  const part = done < all ? " Counting ended after " + run.limit + " s: " + done + " of " + all + " parts were counted." : "";
  const time = run.seconds ? " A launch without counting took " + (1000 * run.seconds).toPrecision(3) + " ms at best." : "";
  return short(run.threads) + " threads on " + run.device + ", counted by the reference interpreter: " + short(run.flops) +
    " floating-point operations, " + short(run.bytes, "B") + " of different cache lines and outputs." + part + time;
}
