/** Axes of the picture, in powers of ten. */
function range(numbers) {
  const logs = numbers.filter((n) => n > 0).map(Math.log10);
  return [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs))];
}

/** Roofs over operations a byte, both axes logarithmic, and the kernel's dots. */
function roofline(roofs) {
  const [width, height, left, bottom, top, right] = [720, 380, 90, 56, 16, 24];
  const dots = roofs.filter((roof) => roof.dot);
  const ridges = roofs.map((roof) => roof.peak / roof.bandwidth);
  const [x0, x1] = range([0.1, 100, ...ridges.map((r) => 3 * r), ...dots.map((d) => d.dot[0])]);
  const floor = Math.min(...roofs.map((r) => r.bandwidth * 10 ** x0), ...dots.map((d) => d.dot[1]));
  const [y0, y1] = range([floor, ...roofs.map((r) => 1.5 * r.peak)]);
  const x = (n) => left + ((Math.log10(n) - x0) / (x1 - x0)) * (width - left - right);
  const y = (n) => height - bottom - ((Math.log10(n) - y0) / (y1 - y0)) * (height - bottom - top);
  const said = roofs.map((r) => r.name + " (" + r.source + "): at most " + short(r.peak, "FLOPS") + " and " + short(r.bandwidth, "B/s") +
    (r.dot ? ", the kernel at " + short(r.dot[1], "FLOPS") + ", " + r.dot[0].toPrecision(3) + " operations a byte" : "")).join("; ");
  const made = drawn("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Roofline. " + said });
  for (let n = x0; n <= x1; n += 1) {
    const at = x(10 ** n);
    made.append(drawn("line", { class: "grid", x1: at, x2: at, y1: top, y2: height - bottom }));
    made.append(drawn("text", { class: "weak", x: at, y: height - bottom + 20, "text-anchor": "middle" }, n < 0 ? (10 ** n).toFixed(-n) : short(10 ** n)));
  }
  for (let n = y0; n <= y1; n += 1) {
    const at = y(10 ** n);
    made.append(drawn("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }));
    made.append(drawn("text", { class: "weak", x: left - 8, y: at + 4, "text-anchor": "end" }, short(10 ** n)));
  }
  made.append(drawn("text", { class: "weak", x: (left + width) / 2, y: height - 12, "text-anchor": "middle" }, "operations a byte; upwards: operations a second"));
  for (const roof of roofs) {
    const ridge = roof.peak / roof.bandwidth;
    const points = [[10 ** x0, roof.bandwidth * 10 ** x0], [ridge, roof.peak], [10 ** x1, roof.peak]];
    made.append(drawn("polyline", { class: "roof", points: points.map(([a, b]) => x(a) + "," + y(b)).join(" ") }));
    made.append(drawn("text", { x: width - right - 4, y: y(roof.peak) - 6, "text-anchor": "end" }, roof.name + ", " + roof.source));
  }
  // Names stand apart even where dots do not.
  let free = -Infinity;
  for (const roof of [...dots].sort((a, b) => b.dot[1] - a.dot[1])) {
    const [a, b] = [x(roof.dot[0]), y(roof.dot[1])];
    const at = Math.max(b + 4, free);
    free = at + 15;
    const right = a > width / 2;
    made.append(drawn("circle", { class: "dot", cx: a, cy: b, r: 5 }));
    made.append(drawn("text", { x: right ? a - 9 : a + 9, y: at, "text-anchor": right ? "end" : "start" }, "kernel, " + roof.name));
  }
  return [made, said + "."];
}
