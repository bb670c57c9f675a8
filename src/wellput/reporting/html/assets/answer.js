/* The top of the report: two sentences, and a picture of who won beside the ranks under the metrics. Positions
   are percentages, so that the picture fits any width without being drawn again. */

const MANY_ROWS = 10;
const STRONG_FROM_RANKS = 2; // ranks away from those that people leave open

const joined = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`);

/* Round numbers from low to high, about `count` of them. */
function ticksOf([low, high], count) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9; n += 1) ticks.push(Number((n * step).toPrecision(12)));
  return ticks;
}

class IntervalAxis {
  constructor(cells, domain, { isShare = false, ticks = 6 } = {}) {
    const ends = cells.filter(Boolean).flatMap(({ value, low, high }) => [value, low, high]).filter((end) => typeof end === "number");
    const [low, high] = domain || [Math.min(...ends), Math.max(...ends)];
    Object.assign(this, { low, span: high - low || 1, isShare, ticks: ticksOf([low, high], ticks) });
  }

  /* Values beyond the axis are drawn at its end. */
  at(value) { return `${Math.min(100, Math.max(0, 4 + (92 * (value - this.low)) / this.span)).toFixed(2)}%`; }

  label(value) { return this.isShare ? this.tickLabel(value) : figure(value); }

  tickLabel(tick) { return (this.isShare ? `${Math.round(tick * 100)}%` : String(tick)).replace("-", "−"); }

  grid() { return this.ticks.map((tick) => drawn("line", { class: "grid", x1: this.at(tick), x2: this.at(tick), y1: "0", y2: "100%" })); }

  /* A dot at the value, a whisker over its interval. */
  draw({ value, low, high }) {
    const svg = drawn("svg", { class: "interval", "aria-hidden": "true" });
    svg.append(...this.grid());
    if (typeof low === "number") svg.append(drawn("line", { class: "whisker", x1: this.at(low), x2: this.at(high), y1: "50%", y2: "50%" }));
    svg.append(drawn("circle", { class: "dot", cx: this.at(value), cy: "50%", r: 5 }));
    return svg;
  }

  words({ value, low, high }) {
    return typeof low === "number" ? `${this.label(value)}, 95% interval ${this.label(low)} to ${this.label(high)}` : this.label(value);
  }

  scale() {
    const svg = drawn("svg", { class: "ticks", "aria-hidden": "true" });
    svg.append(...this.ticks.map((tick) => drawn("text", { x: this.at(tick), y: "11", "text-anchor": "middle" }, this.tickLabel(tick))));
    return svg;
  }
}

/* Rows of headings, and one heading. */
const headed = (...rows) => element("thead", {}, rows.map((cells) => element("tr", {}, cells)));
const heading = (text, properties = {}) => element("th", { scope: "col", ...properties }, text);

class PeoplePicture {
  constructor(answer, explorer) {
    Object.assign(this, { answer, explorer });
    this.said = element("p", { class: "note said" });
    const isDense = answer.systems.length > MANY_ROWS;
    const tables = [this.standing(), answer.metrics.length ? element("div", { class: "sideways", tabindex: "0", role: "region", "aria-label": "Ranks under the metrics" }, this.ranks()) : null];
    this.element = element("div", {}, element("div", { class: isDense ? "picture dense" : "picture" }, tables), this.legend(), this.said);
    this.lightRows();
  }

  /* A rule above each group of systems that people tell apart from the one before. */
  rowClass(place) {
    const { systems } = this.answer;
    return place && systems[place].cluster !== systems[place - 1].cluster ? "apart" : "";
  }

  standing() {
    const { systems, domain, unit, is_share: isShare, question, who } = this.answer;
    const axis = new IntervalAxis(systems, domain, { isShare });
    const rows = systems.map((row, place) => element("tr", { class: this.rowClass(place), "data-row": place },
      element("td", { class: "place" }, row.ranks),
      element("th", { scope: "row", class: "name", title: row.system }, row.system),
      element("td", { class: "drawn", title: `${row.system}: ${axis.words(row)}; ${row.n.toLocaleString("en")} judgments` }, axis.draw(row)),
      element("td", { class: "value" }, axis.label(row.value), element("span", { class: "unseen" }, typeof row.low === "number" ? ` (${axis.label(row.low)} to ${axis.label(row.high)})` : ""))));
    return element("table", { class: "standing" }, element("caption", { class: "unseen" }, `Systems by ${who === "people" ? "people’s" : `${who}’`} answers on ${question}, best first`),
      headed([heading("place", { class: "place" }), heading("system", { class: "name" }), heading(element("span", { title: question }, element("strong", {}, who[0].toUpperCase() + who.slice(1)), ` on ${question}`)), heading(unit, { class: "value" })]),
      element("tbody", {}, rows), element("tfoot", { "aria-hidden": "true" }, element("tr", {}, element("td"), element("td"), element("td", { class: "drawn" }, axis.scale()), element("td"))));
  }

  ranks() {
    const { systems, metrics } = this.answer;
    const counts = metrics.map(({ agreeing, pairs }) => heading([element("b", {}, `${agreeing} of ${pairs}`)], { class: agreeing === pairs ? "whole" : "" }));
    return element("table", { class: "ranks" }, element("caption", { class: "unseen" }, "The rank of each system under each metric"),
      headed([heading("", { class: "name" }), element("th", { colspan: metrics.length, scope: "colgroup" }, element("strong", {}, "Rank"), " under each metric")], [heading("system", { class: "name" }), ...metrics.map(({ metric }) => heading(element("span", { title: metric }, metric)))]),
      element("tbody", {}, systems.map(({ system }, place) => element("tr", { class: this.rowClass(place), "data-row": place },
        element("th", { scope: "row", class: "name", title: system }, system), metrics.map((metric) => this.cell(metric, place))))),
      metrics.some(({ pairs }) => pairs) ? element("tfoot", {}, element("tr", {}, heading("pairs right", { class: "name", scope: "row" }), counts)) : null);
  }

  cell(metric, place) {
    const cell = metric.cells[place];
    if (!cell) return element("td", {}, "–");
    const { rank, score, misplaced } = cell;
    const [look, sign] = misplaced > 0 ? ["over", "▲"] : misplaced < 0 ? ["under", "▼"] : ["", ""];
    const isStrong = Math.abs(misplaced) >= Math.min(STRONG_FROM_RANKS, this.answer.systems.length - 1);
    const words = this.words(metric.metric, place);
    const content = [element("b", {}, String(rank)), sign ? element("i", {}, sign) : null];
    const tile = look
      ? element("button", { type: "button", class: `tile ${look} ${isStrong ? "strong" : ""}`, title: words, "aria-label": words, onclick: () => this.open(metric.metric, place), onfocus: () => this.say(words), onmouseenter: () => this.say(words) }, content)
      : element("span", { class: `tile ${rank === 1 ? "first" : ""}`, title: words }, content);
    return element("td", {}, tile, element("small", {}, figure(score)));
  }

  words(metric, place) {
    const { system, ranks } = this.answer.systems[place];
    const { rank, score, above, below } = this.answer.metrics.find((entry) => entry.metric === metric).cells[place];
    const parts = [];
    if (above.length) parts.push(`it stands above ${joined(above)}, but people clearly put it below`);
    if (below.length) parts.push(`it stands below ${joined(below)}, but people clearly put it above`);
    return `${metric} ranks ${system} ${rank} (${figure(score)}), people ${ranks}.${parts.length ? ` Under ${metric} ${joined(parts)}.` : ""}`;
  }

  say(words) { this.said.textContent = words; }

  /* Opens the items where the metric most prefers the wrong one of two systems. */
  open(metric, place) {
    const { system } = this.answer.systems[place];
    const { above, below } = this.answer.metrics.find((entry) => entry.metric === metric).cells[place];
    if (above.length) this.explorer.compare(system, above[0], { metric });
    else this.explorer.compare(below[0], system, { metric });
  }

  legend() {
    const { systems, metrics, notes } = this.answer;
    const cells = metrics.flatMap(({ cells: own }) => own.filter(Boolean));
    const marked = (look, sign, words) => (cells.some(({ misplaced }) => (look === "over" ? misplaced > 0 : misplaced < 0))
      ? [element("span", {}, element("span", { class: `tile ${look}` }, element("i", {}, sign)), " ", element("span", { class: `tile ${look} strong` }, element("i", {}, sign)), words)] : []);
    const key = [...marked("over", "▲", " the metric ranks it higher than people do: by 1 rank, by 2 or more"), ...marked("under", "▼", " lower")];
    const { agreeing, pairs } = metrics[0] || {};
    if (pairs) key.push(element("span", {}, element("b", {}, `${agreeing} of ${pairs}`), ` pairs of systems that people tell apart are in the same order under ${metrics[0].metric}`));
    const words = [key.length && cells.some(({ misplaced }) => misplaced) ? "Choose a marked rank to see the items behind it." : "",
      systems.some((_, place) => this.rowClass(place)) ? "A line between two rows: people tell every system above it from every system below it." : "", ...notes];
    return [key.length ? element("p", { class: "note key" }, key) : null, element("p", { class: "note" }, words.filter(Boolean).join(" "))];
  }

  lightRows() {
    const light = (event, isOn) => {
      const row = event.target.closest("tr[data-row]");
      if (row) this.element.querySelectorAll(`tr[data-row="${row.dataset.row}"]`).forEach((each) => each.classList.toggle("lit", isOn));
    };
    this.element.addEventListener("mouseover", (event) => light(event, true));
    this.element.addEventListener("mouseout", (event) => light(event, false));
  }
}

class MetricPicture {
  constructor(answer) {
    const { systems, metrics, notes } = answer;
    const axes = metrics.map(({ cells }) => new IntervalAxis(cells, null, { ticks: 3 }));
    const cell = (metric, m, place) => {
      const own = metric.cells[place];
      if (!own) return element("td", {}, "–");
      return element("td", { class: own.rank === 1 ? "drawn ahead" : "drawn", title: `${systems[place].system} under ${metric.metric}: ${axes[m].words(own)}` },
        element("div", {}, axes[m].draw(own), element("b", {}, own.rank === 1 ? "★ " : "", figure(own.value))));
    };
    const names = metrics.map(({ metric, is_lower_better: isLower }) => heading([element("span", { title: metric }, metric), isLower ? element("small", {}, "↓ lower is better") : null]));
    const table = element("table", { class: "standing", style: `min-width: ${8 + 9.5 * metrics.length}rem` }, element("caption", { class: "unseen" }, "Systems under each metric"),
      headed([heading("system", { class: "name" }), ...names]),
      element("tbody", {}, systems.map(({ system }, place) => element("tr", { "data-row": place },
        element("th", { scope: "row", class: "name", title: system }, system), metrics.map((metric, m) => cell(metric, m, place))))),
      element("tfoot", { "aria-hidden": "true" }, element("tr", {}, element("td"), axes.map((axis) => element("td", { class: "drawn" }, axis.scale())))));
    const hasLeader = metrics.some(({ cells }) => cells.some((own) => own && own.rank === 1));
    const hasInterval = metrics.some(({ cells }) => cells.some((own) => own && typeof own.low === "number"));
    const words = [hasLeader ? "★: best under the metric." : "", hasInterval ? "Whiskers: 95% intervals." : "", ...notes].filter(Boolean);
    this.element = element("div", {}, element("div", { class: `picture alone sideways ${systems.length > MANY_ROWS ? "dense" : ""}`, tabindex: "0", role: "region", "aria-label": "Systems under each metric" }, table), element("p", { class: "note" }, words.join(" ")));
  }
}

/* A row for each system, with its figures from people and metrics. */
function answerRows({ kind, question, systems, metrics }) {
  return systems.map(({ system, value, low, high, ranks }, place) => {
    const row = kind === "people" ? { question, system, place: ranks, estimate: value, low, high } : { system };
    for (const { metric, cells } of metrics) {
      const { rank = null, ...own } = cells[place] || {};
      row[metric] = kind === "people" ? own.score : own.value;
      row[`${metric} rank`] = rank;
    }
    return row;
  });
}

function answerElement(data, explorer) {
  const articles = data.answers.map((answer) => {
    const [first, ...rest] = answer.sentences;
    const picture = answer.kind === "people" ? new PeoplePicture(answer, explorer) : new MetricPicture(answer);
    return element("article", { class: "card answer" }, element("h2", {}, first), rest.map((line) => element("p", { class: "second" }, line)), picture.element,
      answer.tables.length ? element("details", { class: "figures" }, element("summary", {}, "The figures as a table"), answer.tables.map(tableElement)) : null);
  });
  const choose = (place) => articles.forEach((article, own) => article.classList.toggle("left-out", own !== place));
  const questions = data.answers.map(({ question }, place) => [String(place), question]);
  const choice = articles.length > 1 ? chooser("question", questions, "0", (value) => choose(Number(value))) : null;
  choose(0);
  return element("section", { id: "answer", "aria-label": "The answer" }, element("div", { class: "bar" }, element("span", { class: "facts" }, data.facts.join(" · ")), choice, element("span", { class: "gap" }),
    saveButton("CSV", () => save(asCsv(data.answers.flatMap(answerRows)), "text/csv", "wellput-answer.csv"))), articles);
}
