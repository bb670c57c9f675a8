/* Every pair of systems as a table whose first row and column stay in sight. */

const PAIR_LOOKS = { 1: ["better", "▲"], "-1": ["worse", "▼"], 0: ["same", "·"], null: ["differ", "≠"] };

class PairsCard {
  constructor(matrix, data, items, explorer) {
    Object.assign(this, { matrix, explorer });
    this.scorer = matrix.scorers[0];
    this.sorted = "report";
    this.place = element("div", { class: "matrix", tabindex: "0", role: "region", "aria-label": matrix.title, onkeydown: (event) => this.onKey(event) });
    this.key = element("p", { class: "note key" });
    this.element = element("div", { class: "card", id: `chart-${matrix.name}` }, this.tools(), this.place, this.key, element("p", { class: "note" },
      `Row minus column; p corrected by Holm’s method over all pairs, and for metrics over all metrics too. Intervals and p of metrics hold for these systems, other ${matrix.units}. Choose a cell to see the items where the two systems are furthest apart.`));
    this.draw();
  }

  tools() {
    const { scorers } = this.matrix;
    const byName = new Map(scorers.map((scorer) => [scorer.name, scorer]));
    const peoples = scorers.some(({ question }) => question);
    return element("div", { class: "bar" }, element("h3", {}, this.matrix.title),
      scorers.length > 1 ? chooser("by", [...byName.keys()], this.scorer.name, (name) => { this.scorer = byName.get(name); this.draw(); }) : null,
      chooser("sorted by", [["report", peoples ? "people" : "all metrics"], ["own", "the same"]], "report", (value) => { this.sorted = value; this.draw(); }),
      element("span", { class: "gap" }), saveButton("CSV", () => save(asCsv(this.rows()), "text/csv", "wellput-pairs.csv")));
  }

  rows() {
    const { systems, scorers } = this.matrix;
    return scorers.flatMap(({ name, pairs }) => pairs.map(([a, b, difference, , p, holm, n, low, high]) => (
      { by: name, system: systems[a], other: systems[b], difference, low, high, p, p_holm: holm, n })));
  }

  order() {
    const every = this.matrix.systems.map((_, place) => place);
    if (this.sorted === "report") return every;
    return [...this.scorer.order, ...every.filter((place) => !this.scorer.order.includes(place))];
  }

  draw() {
    const { systems } = this.matrix;
    const found = new Map();
    const negated = (value) => (value === null ? null : -value);
    for (const [a, b, delta, ahead, p, holm, n, low, high] of this.scorer.pairs) {
      found.set(`${a},${b}`, { delta, ahead, p, holm, n, low, high });
      found.set(`${b},${a}`, { delta: negated(delta), ahead: ahead && -ahead, p, holm, n, low: negated(high), high: negated(low) });
    }
    const order = this.order().filter((place) => [...found.keys()].some((key) => key.startsWith(`${place},`)));
    const head = element("tr", {}, element("td", { class: "corner" }), order.map((place) => element("th", { scope: "col", title: systems[place] }, element("span", {}, systems[place]))));
    const rows = order.map((row) => element("tr", {}, element("th", { scope: "row", title: systems[row] }, systems[row]),
      order.map((column) => (row === column ? element("td", { class: "self" }) : this.cell(row, column, found.get(`${row},${column}`))))));
    this.place.replaceChildren(element("table", {}, element("caption", { class: "unseen" }, `${this.matrix.title} by ${this.scorer.name}`), element("thead", {}, head), element("tbody", {}, rows)));
    this.place.style.setProperty("--fit", Math.min(0.8, 660 / (150 + 86 * order.length)).toFixed(2)); // on paper
    const first = this.place.querySelector("button");
    if (first) first.tabIndex = 0;
    const words = { 1: "row is better", "-1": "row is worse", 0: "no difference shown", null: "they differ" };
    const used = new Set([...found.values()].map(({ ahead }) => String(ahead)));
    this.key.replaceChildren(...["1", "-1", "null", "0"].filter((ahead) => used.has(ahead)).map((ahead) => element("span", {}, element("span", { class: `tile ${PAIR_LOOKS[ahead][0]}` }, PAIR_LOOKS[ahead][1]), ` ${words[ahead]}`)));
  }

  cell(row, column, pair) {
    if (!pair) return element("td");
    const { systems } = this.matrix;
    const [look, sign] = PAIR_LOOKS[pair.ahead];
    const p = /^[<≤]/.test(pair.holm) ? `p ${pair.holm}` : `p = ${pair.holm}`;
    const words = `${systems[row]} − ${systems[column]} by ${this.scorer.name}: ${signed(pair.delta)}${pair.low === null ? "" : ` [${signed(pair.low)}, ${signed(pair.high)}]`}, ${p} (uncorrected ${pair.p})${pair.n === null ? "" : `, ${pair.n.toLocaleString("en")} items`}`;
    return element("td", {}, element("button", { type: "button", class: `pair ${look}`, tabindex: "-1", title: words, onclick: () => this.explorer.compare(systems[row], systems[column], this.scorer) },
      element("b", {}, `${sign} ${signed(pair.delta)}`), element("small", {}, p)));
  }

  /* The tab key reaches one cell; arrow keys go to the others. */
  onKey(event) {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step || !event.target.matches("button")) return;
    event.preventDefault();
    const rows = [...this.place.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")]);
    const cell = event.target.closest("td");
    let y = rows.findIndex((row) => row.includes(cell));
    let x = rows[y].indexOf(cell);
    do { y += step[0]; x += step[1]; } while (rows[y] && rows[y][x] && !rows[y][x].querySelector("button"));
    const next = rows[y] && rows[y][x] && rows[y][x].querySelector("button");
    if (!next) return;
    event.target.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  }
}
