/* Charts: rows that the reader chose, put into a specification made by Altair, and saved as SVG, PNG, CSV. */

const LOOKS = {
  light: { ink: "#1e2422", soft: "#59625e", line: "#dcd8ce", ground: "#ffffff" },
  dark: { ink: "#e9ece9", soft: "#a5b0ab", line: "#333c39", ground: "#1d2322" },
};

/* Replacements for colors that are hard to see on a dark ground. */
const ON_DARK = { "#0072B2": "#5b9ee6", "#D55E00": "#f0834a", "#56B4E9": "#a5dcf7", "#009E73": "#2fc49a" };

const NARROW = matchMedia("(max-width: 760px)");
const MARGIN = 120; // labels beside an axis

/* The specification fitted to the width: fewer panels in a row, narrower plots. Grids of cells keep their size and scroll. */
function fittedTo(room, spec) {
  const widest = Math.max(160, room - MARGIN);
  if (spec.facet) {
    const panel = spec.spec.width;
    const columns = Math.floor((room - MARGIN + panel / 3) / (panel + 20));
    const width = Math.min(panel, widest);
    return { ...spec, columns: Math.max(1, Math.min(spec.columns, columns)), spec: { ...spec.spec, width } };
  }
  return typeof spec.width === "number" ? { ...spec, width: Math.min(spec.width, widest) } : spec;
}

function chartConfig(theme, room) {
  const look = LOOKS[theme];
  const text = { labelColor: look.ink, titleColor: look.ink };
  return {
    background: look.ground,
    font: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif",
    axis: { ...text, gridColor: look.line, domainColor: look.soft, tickColor: look.soft, labelFontSize: 12, labelLimit: Math.min(200, room / 3), titleFontSize: room < 500 ? 9 : 11, titleLimit: room },
    axisY: { titleLimit: 340 },
    legend: { ...text, labelFontSize: 12, labelLimit: Math.min(260, room - 40), titleLimit: room - 40, columns: Math.max(1, Math.floor(room / 160)) },
    header: text,
    title: { color: look.ink },
    view: { stroke: look.line },
  };
}

/* Tables that the page makes from its items, for the charts of single outputs. */
const TABLES = {
  people(items, data, choice) {
    const metric = data.metrics.indexOf(choice.metric);
    const question = data.questions.indexOf(choice.question);
    return outputsOf(items, data).flatMap(({ item, system, output }) => {
      const score = output.scores[metric];
      const rating = output.people[question];
      if (score === null || rating === null) return [];
      const reason = output.left_out ? output.left_out[question] : null;
      return [{ item: item.id, system, score, rating, reason }];
    });
  },
  lengths(items, data, choice) {
    const metric = data.metrics.indexOf(choice.metric);
    return outputsOf(items, data).flatMap(({ item, system, output }) => {
      const score = output.scores[metric];
      const length = wholeText(output).split(/\s+/).filter(Boolean).length;
      return score === null ? [] : [{ item: item.id, system, length, score }];
    });
  },
};

function outputsOf(items, data) {
  return items.flatMap((item) =>
    item.outputs.flatMap((output, place) => (output ? [{ item, system: data.systems[place], output }] : [])));
}

function matching(rows, choice) {
  const wanted = Object.entries(choice);
  return rows.filter((row) => wanted.every(([key, value]) => !(key in row) || row[key] === value));
}

function filledIn(value, choice) {
  if (typeof value === "string") return value.replace(/\$(metric|question|coefficient|comparison)\b/g, (_, key) => choice[key]);
  if (Array.isArray(value)) return value.map((entry) => filledIn(entry, choice));
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, filledIn(entry, choice)]));
  }
  return value;
}

function recolored(value) {
  if (typeof value === "string") return ON_DARK[value] || value;
  if (Array.isArray(value)) return value.map(recolored);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, recolored(entry)]));
  return value;
}

class ChartCard {
  constructor(chart, data, items, explorer) {
    Object.assign(this, { chart, data, items, explorer, view: null });
    this.choice = Object.fromEntries(Object.entries(chart.choices).map(([key, values]) => [key, values[0]]));
    this.place = element("div", { class: "chart", role: "img", "aria-label": chart.title });
    this.note = element("p", { class: "note" });
    this.element = element("div", { class: "card", id: `chart-${chart.name}` }, this.tools(), this.place, this.note);
  }

  tools() {
    const choosers = Object.entries(this.chart.choices)
      .filter(([, values]) => values.length > 1)
      .map(([key, values]) => chooser(key, values, this.choice[key], (value) => {
        this.choice[key] = value;
        this.draw();
      }));
    const name = `wellput-${this.chart.name}`;
    return element("div", { class: "bar" }, element("h3", {}, this.chart.title), choosers, element("span", { class: "gap" }),
      saveButton("SVG", async () => save(await this.view.toSVG(), "image/svg+xml", `${name}.svg`)),
      saveButton("PNG", async () => save(await this.view.toImageURL("png", 2), "image/png", `${name}.png`)),
      saveButton("CSV", () => save(asCsv(this.rows()), "text/csv", `${name}.csv`)));
  }

  rows() {
    const { rows } = this.chart;
    return typeof rows === "string" ? TABLES[rows](this.items, this.data, this.choice) : matching(rows, this.choice);
  }

  lines() {
    return matching(this.chart.lines, this.choice).flatMap((line) => [
      { ...line, x: line.low, y: line.at_low }, { ...line, x: line.high, y: line.at_high },
    ]);
  }

  async draw() {
    const theme = document.documentElement.dataset.theme;
    const rows = this.rows();
    const room = this.place.clientWidth;
    const chosen = filledIn(this.chart.spec, this.choice);
    const spec = fittedTo(room, theme === "dark" ? recolored(chosen) : chosen);
    const lines = this.lines();
    spec.datasets = { rows, lines };
    const isDrawn = { always: true, lines: lines.length > 0, left_out: rows.some((row) => row.reason) };
    const words = Object.entries(this.chart.notes).filter(([what]) => isDrawn[what]).map(([, note]) => note).join(" ");
    this.note.textContent = lines.length ? words.replace("$equation", lines[0].equation) : words;
    const config = { ...(spec.config || {}), ...chartConfig(theme, room) };
    delete spec.config;
    // Thousands of points are drawn as pixels: thousands of SVG elements would make scrolling slow.
    const renderer = rows.length > 3000 ? "canvas" : "svg";
    const { view } = await vegaEmbed(this.place, spec, { actions: false, renderer, config, defaultStyle: false, logLevel: 1 });
    this.view = view;
    view.addEventListener("click", (_, mark) => {
      if (mark && mark.datum && mark.datum.item !== undefined) this.explorer.visit(mark.datum.item, mark.datum.system);
    });
    this.element.dataset.drawn = theme;
  }
}
