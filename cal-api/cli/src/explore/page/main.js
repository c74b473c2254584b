/** What stays as it was chosen when the kernel changes. */
const state = { shown: new Set(["il", "after", "spirv", "code"]), heat: "executions" };

/** Lightness: as the system says, until one is chosen. */
function theme() {
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = element("button", { type: "button", id: "theme" });
  const say = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    say();
  });
  say();
  return button;
}

/** Which listings and which counts are shown. */
function tools(data, counts) {
  const made = data.listings.map((of) => {
    const show = (on) => {
      byId("listing-" + of.id).hidden = !on;
      button.setAttribute("aria-pressed", String(on));
      on ? state.shown.add(of.id) : state.shown.delete(of.id);
    };
    const button = element("button", { type: "button", "data-listing": of.id }, of.title);
    button.addEventListener("click", () => show(!state.shown.has(of.id)));
    show(state.shown.has(of.id));
    return button;
  });
  if (counts.size > 0) {
    const options = Object.entries(COUNTS).map(([name, { title }]) => element("option", { value: name, selected: name === state.heat }, title));
    const select = element("select", { id: "heat", "aria-label": "Counts beside the lines" }, ...options);
    select.addEventListener("change", () => heat((state.heat = select.value), counts));
    made.push(select);
    heat(state.heat, counts);
  }
  byId("tools").replaceChildren(...made, theme());
}

/** Shows everything that is known of a kernel. */
function show(data) {
  const name = data.file.split(/[\\/]/).pop();
  document.title = name + " – recal explore";
  byId("title").textContent = name;
  const counts = new Map((data.run?.lines ?? []).map((one) => [one.line, one]));
  byId("listings").replaceChildren(...data.listings.map((of) => listing(of, counts)));
  diagnose(data.diagnostics);
  const errors = data.diagnostics.filter((one) => one.severity === "error").length;
  const said = errors > 0 ? [element("p", { class: "error" }, "The kernel is not accepted: " + errors + (errors === 1 ? " error." : " errors."))] : [];
  byId("problems").replaceChildren(...said);
  byId("chosen").replaceChildren("Point at a line, or go through a list with the arrow keys: what comes from the same line of IL is marked everywhere.");
  linked = [];
  tools(data, counts);
  for (const list of document.querySelectorAll(".lines")) {
    listen(list, counts, data);
  }
  byId("run").hidden = !data.run;
  byId("run-said").textContent = data.run ? ran(data.run) : "";
  byId("roof").hidden = data.roofs.length === 0;
  const [chart, roofs] = data.roofs.length > 0 ? roofline(data.roofs) : ["", ""];
  byId("roof-chart").replaceChildren(chart);
  byId("roof-said").textContent = roofs;
  byId("chips").hidden = data.chips.length === 0;
  byId("chips-table").replaceChildren(data.chips.length > 0 ? chips(data.chips) : "");
}

/** Compiles what is typed, where a server does that. */
function edit(data) {
  const source = byId("source");
  byId("editor").hidden = false;
  source.value = data.text;
  let [wait, latest] = [0, 0];
  const compile = async () => {
    const turn = (latest += 1);
    let found;
    try {
      const answer = await fetch("/compile", { method: "POST", body: source.value });
      found = await answer.json();
    } catch (error) {
      found = { error: "no answer: " + error.message };
    }
    if (turn !== latest) {
      return;
    }
    if (found.error) {
      byId("problems").replaceChildren(element("p", { class: "error" }, found.error));
    } else {
      show({ ...found, file: data.file });
    }
  };
  source.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(compile, 250);
  });
}

const data = JSON.parse(byId("data").textContent);
show(data);
if (data.served) {
  edit(data);
}
