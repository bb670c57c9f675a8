/* The item explorer: a list that is searched, filtered and sorted, and one item opened beside it. */

const ROW = 62;
const isParaphrased = (item) => item.references.some((reference) => reference.changed);

class Explorer {
  constructor(data, items) {
    Object.assign(this, { data, items, found: items, opened: null, rows: new Map() });
    // `sort` is "order", or has the places of a metric M and a question Q: "score:M", "people:Q", "versus:score:M", "versus:people:Q", "apart:M:Q".
    this.state = { search: "", system: "", show: "all", sort: "order", descending: false, a: data.order[0], b: data.order[1] };
    this.texts = items.map((item) => [item.id, item.source, item.context, ...item.references.map(wholeText),
      ...item.outputs.filter(Boolean).map(wholeText)].join("\n").toLowerCase());
    this.count = element("span", { class: "note", role: "status", id: "found" });
    this.room = element("div", { class: "room" });
    this.list = element("div", { class: "card", id: "list", role: "region", "aria-label": "Items", tabindex: "0", onscroll: () => this.fill(), onkeydown: (event) => this.onKey(event) }, this.room);
    this.detail = element("div", { id: "item", "aria-live": "polite" });
    this.element = element("section", { id: "explorer" }, element("h2", {}, "The items"), this.sampled(), this.tools(),
      element("div", { id: "items" }, this.list, this.detail));
    new ResizeObserver(() => this.fill()).observe(this.list);
    this.update();
  }

  sampled() {
    const { shown, total, seed } = this.data;
    if (shown === total) return null;
    return element("p", { class: "note", id: "sampled" }, `${shown.toLocaleString("en")} of ${total.toLocaleString("en")} items are shown here and as points in charts, drawn at random (seed ${seed}), judged ones first. Scores, intervals, tests and lines are over all items.`);
  }

  tools() {
    const { metrics, questions, systems, order } = this.data;
    const set = (key) => (value) => { this.state[key] = value; this.update(); };
    const choose = (id, ...given) => {
      const made = chooser(...given);
      made.querySelector("select").id = id;
      return made;
    };
    const scorers = (kind) => [...metrics.map((metric, m) => [`${kind}score:${m}`, metric]), ...questions.map((question, q) => [`${kind}people:${q}`, `people: ${question}`])];
    const named = order.map((place) => [String(place), systems[place]]);
    this.direction = element("button", { type: "button", id: "direction", onclick: () => { this.state.descending = !this.state.descending; this.update(); } });
    const search = element("input", { type: "search", id: "search", placeholder: "Search texts and ids", "aria-label": "Search", oninput: (event) => set("search")(event.target.value) });
    const sort = choose("sort", "sort by", [["order", "order in the file"], { group: "score of an output", options: scorers("") },
      ...(systems.length > 1 ? [{ group: "A against B", options: scorers("versus:").map(([value, label]) => [value, `A against B: ${label}`]) }] : []),
      ...(questions.length ? [{ group: "a metric and people disagree", options: questions.flatMap((question, q) => metrics.map((metric, m) => [`apart:${m}:${q}`, `${metric} and people disagree on ${question}`])) }] : [])],
    "order", (value) => {
      this.state.descending = /^(apart|versus)/.test(value);
      set("sort")(value);
    });
    const show = choose("show", "show", [["all", "all items"], ["wrong", "with a difference"], ["moved", "with moved words"], ["same", "like a reference"],
      ...(questions.length ? [["judged", "judged"], ["left_out", "left out of figures"]] : []), ["missing", "without an output"],
      ...(this.items.some((item) => isParaphrased(item)) ? [["paraphrased", "with a paraphrased reference"]] : [])], "all", set("show"));
    const side = (key, label) => choose(`side-${key}`, label, named, String(this.state[key]), (value) => set(key)(Number(value)));
    this.sides = element("span", { class: "sides", hidden: "" }, side("a", "A"), side("b", "B"));
    this.bar = element("div", { class: "bar tools" }, search, choose("system", "system", [["", "all"], ...named], "", set("system")), show, sort, this.sides, this.direction, this.count);
    return this.bar;
  }

  /* Makes the controls show the state, after another part of the page has changed it. */
  setControls() {
    const { search, system, show, sort, a, b } = this.state;
    this.bar.querySelector("#search").value = search;
    for (const [id, value] of Object.entries({ system, show, sort, "side-a": a, "side-b": b })) this.bar.querySelector(`#${id}`).value = String(value);
  }

  /* Opens an item by its id, with one system's output in sight. */
  show(id, system) {
    const item = this.items.find((each) => each.id === id);
    if (!item) return;
    if (!this.found.includes(item)) {
      Object.assign(this.state, { search: "", system: "", show: "all" });
      this.setControls();
      this.update();
    }
    this.open(item);
    this.list.scrollTop = Math.max(0, this.found.indexOf(item) * ROW - this.list.clientHeight / 2);
    this.fill();
    const own = [...this.detail.querySelectorAll(".output")].find((card) => card.dataset.system === system);
    this.reveal(own || this.detail.firstElementChild);
    if (own) own.classList.add("revealed");
  }

  /* The same from elsewhere on the page: the browser's back button returns there. */
  visit(id, system) {
    history.pushState(null, "", `#item=${encodeURIComponent(id)}`);
    this.show(id, system);
  }

  /* Opens the item that the address names after its #, if any. */
  follow() {
    const [name, id] = location.hash.slice(1).split("=");
    if (name === "item" && id) this.show(decodeURIComponent(id));
  }

  /* The items in which one system is furthest ahead of another, under a metric or to people. */
  compare(ahead, behind, { metric, question }) {
    const { systems, metrics, questions } = this.data;
    const scorer = metric ? `score:${metrics.indexOf(metric)}` : `people:${questions.indexOf(question)}`;
    Object.assign(this.state, { search: "", system: "", show: "all", sort: `versus:${scorer}`, descending: true, a: systems.indexOf(ahead), b: systems.indexOf(behind) });
    this.setControls();
    this.update();
    this.reveal(this.element);
  }

  reveal(part) {
    part.tabIndex = -1;
    part.focus({ preventScroll: true });
    part.scrollIntoView({ block: "start" });
  }

  outputs(item) {
    return this.state.system === "" ? item.outputs : [item.outputs[Number(this.state.system)]];
  }

  passes(item) {
    const outputs = this.outputs(item);
    const present = outputs.filter(Boolean);
    const some = (test) => present.some(test);
    switch (this.state.show) {
      case "wrong": return some((o) => o.alignment && isDifferent(o.alignment));
      case "moved": return some((o) => o.alignment && o.alignment.moves);
      case "same": return some((o) => o.alignment && !isDifferent(o.alignment));
      case "judged": return some((o) => o.people && o.people.some((value) => value !== null));
      case "left_out": return some((o) => o.left_out);
      case "paraphrased": return isParaphrased(item);
      case "missing": return present.length < outputs.length;
      default: return true;
    }
  }

  /* How far system A is ahead of system B, positive also where lower is better. */
  lead(item, scorer, place) {
    const [a, b] = [this.state.a, this.state.b].map((system) => item.outputs[system] && item.outputs[system][scorer === "score" ? "scores" : "people"][place]);
    if (typeof a !== "number" || typeof b !== "number") return null;
    const { lower, lower_questions: lowerQuestions, metrics, questions } = this.data;
    const isLowerBetter = scorer === "score" ? lower.includes(metrics[place]) : lowerQuestions.includes(questions[place]);
    return isLowerBetter ? b - a : a - b;
  }

  /* The value an item is sorted by: of its outputs, the one that comes first in the chosen direction. */
  key(item) {
    const [kind, first, second] = this.state.sort.split(":");
    if (kind === "order") return null;
    if (kind === "versus") return this.lead(item, first, Number(second));
    const values = this.outputs(item).filter(Boolean).map((output) => {
      if (kind === "score") return output.scores[first];
      if (kind === "people") return output.people[first];
      const [metric, people] = [output.ranks[first], output.people_ranks[second]];
      return metric === null || people === null ? null : Math.abs(metric - people);
    }).filter((value) => value !== null);
    if (!values.length) return null;
    return this.state.descending ? Math.max(...values) : Math.min(...values);
  }

  update() {
    const { search, sort, descending } = this.state;
    const wanted = search.toLowerCase();
    this.found = this.items.filter((item, place) => (!wanted || this.texts[place].includes(wanted)) && this.passes(item));
    if (sort === "order") {
      if (descending) this.found.reverse();
      this.keys = new Map();
    } else {
      this.keys = new Map(this.found.map((item) => [item, this.key(item)]));
      const sign = descending ? -1 : 1;
      this.found.sort((a, b) => {
        const [x, y] = [this.keys.get(a), this.keys.get(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (x - y);
      });
    }
    const isVersus = sort.startsWith("versus");
    const [a, b] = [this.state.a, this.state.b].map((place) => this.data.systems[place]);
    this.sides.hidden = !isVersus;
    if (isVersus) this.direction.textContent = `${descending ? a : b} ahead first`;
    else if (sort === "order") this.direction.textContent = descending ? "from the end" : "from the start";
    else this.direction.textContent = descending ? "highest first" : "lowest first";
    this.count.textContent = `${this.found.length.toLocaleString("en")} item${this.found.length === 1 ? "" : "s"}`;
    this.room.style.height = `${this.found.length * ROW}px`;
    this.list.scrollTop = 0;
    this.rows.clear();
    this.room.replaceChildren();
    this.fill();
    if (this.found.length) this.open(this.found[0]);
    else this.detail.replaceChildren(element("p", { class: "note" }, "No item matches."));
  }

  /* Only the rows in sight exist. Rows that stay in sight are kept, so that scrolling is fast. */
  fill() {
    const first = Math.max(0, Math.floor(this.list.scrollTop / ROW) - 4);
    const last = Math.min(this.found.length, Math.ceil((this.list.scrollTop + this.list.clientHeight) / ROW) + 4);
    for (const [place, row] of this.rows) {
      if (place >= first && place < last) continue;
      row.remove();
      this.rows.delete(place);
    }
    for (let place = last - 1; place >= first; place -= 1) {
      if (this.rows.has(place)) continue;
      this.rows.set(place, this.row(this.found[place], place));
      this.room.insertBefore(this.rows.get(place), this.rows.get(place + 1) || null);
    }
  }

  row(item, place) {
    const key = this.keys.get(item);
    const reference = item.references.length ? wholeText(item.references[0]) : item.source || "";
    const value = this.keyShown(key);
    return element("button", { type: "button", class: "row", style: `top:${place * ROW}px`, "aria-current": String(item === this.opened), onclick: () => this.choose(item) },
      element("b", {}, element("span", {}, item.id.slice(0, 80)), element("i", {}, value)), element("span", {}, reference.slice(0, 120)));
  }

  keyShown(key) {
    if (key === undefined || key === null) return "";
    if (this.state.sort.startsWith("versus")) return key ? `${key > 0 ? "A" : "B"} ahead by ${figure(Math.abs(key))}` : "even";
    return this.state.sort.startsWith("apart") ? `${Math.round(key)} points apart` : figure(key);
  }

  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const place = this.found.indexOf(this.opened) + step;
    if (place < 0 || place >= this.found.length) return;
    this.choose(this.found[place]);
    const top = place * ROW;
    if (top < this.list.scrollTop) this.list.scrollTop = top;
    if (top + ROW > this.list.scrollTop + this.list.clientHeight) this.list.scrollTop = top + ROW - this.list.clientHeight;
    this.list.focus();
  }

  choose(item) {
    this.open(item);
    history.replaceState(null, "", `#item=${encodeURIComponent(item.id)}`);
  }

  open(item) {
    this.opened = item;
    this.rows.forEach((row, place) => row.setAttribute("aria-current", String(this.found[place] === item)));
    const fields = [["source", item.source], ["context", item.context]].filter(([, text]) => text);
    const references = item.references.map((reference, place) => this.reference(reference, place));
    this.detail.replaceChildren(
      element("div", { class: "card" }, element("h3", { class: "text" }, `Item ${item.id}`),
        fields.length ? element("dl", { class: "fields" }, fields.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)])) : null,
        references, item.outputs.some((output) => output && output.alignment && isDifferent(output.alignment)) ? alignmentLegend() : null),
      ...this.sideBySide().map((place) => this.output(item, this.data.systems[place], item.outputs[place])));
  }

  /* First the systems that the list is sorted or filtered by, then the others, best first. */
  sideBySide() {
    const { system, sort, a, b } = this.state;
    const first = sort.startsWith("versus") ? [a, b] : system === "" ? [] : [Number(system)];
    return [...new Set([...first, ...this.data.order])];
  }

  reference(reference, place) {
    const changed = new Set(reference.changed || []);
    const label = element("small", {}, reference.changed ? `reference ${place + 1}, paraphrased: ` : `reference ${place + 1}: `);
    if (!changed.size) return element("p", { class: "text" }, label, wholeText(reference));
    const words = tokensOf(reference).flatMap((token, at) => [changed.has(at) ? element("mark", { title: "paraphrased" }, token) : token, " "]);
    return element("p", { class: "text" }, label, words);
  }

  output(item, system, output) {
    if (!output) return element("div", { class: "card output", "data-system": system }, element("h3", {}, system), element("p", { class: "note" }, "has no output for this item."));
    const { metrics, questions } = this.data;
    const chips = [
      ...questions.map((question, q) => element("span", { class: "chip people", title: this.data.unit }, `people, ${question} `, element("b", {}, figure(output.people[q])))),
      ...metrics.map((metric, m) => element("span", { class: "chip" }, `${metric} `, element("b", {}, figure(output.scores[m]))))];
    const reasons = (output.left_out || []).flatMap((reason, q) => (reason ? [element("p", { class: "note" }, `Left out of correlations and lines on ${questions[q]}: ${reason}.`)] : []));
    const { alignment, treelets } = output;
    const explained = (output.explained || []).map(([metric, text]) => element("details", {}, element("summary", {}, `${metric} explained`), element("pre", {}, text)));
    return element("div", { class: "card output", "data-system": system }, element("h3", {}, system), element("p", { class: "text said" }, wholeText(output)),
      alignment ? this.aligned(item, output) : null, element("div", { class: "chips" }, chips), reasons, treelets ? this.tree(item, treelets) : null, explained);
  }

  aligned(item, output) {
    const { alignment } = output;
    const which = item.references.length > 1 ? `reference ${alignment.reference + 1}, the closest` : "the reference";
    if (!isDifferent(alignment)) return element("p", { class: "note" }, `✓ word for word like ${which}`);
    return [element("p", { class: "note" }, `against ${which}:`), drawAlignment(alignment, item.references[alignment.reference], output)];
  }

  tree(item, treelets) {
    const { tree } = item.references[treelets.reference];
    const wrong = (treelets.wrong || []).length;
    const details = element("details", { class: "trees" }, element("summary", {}, `Tree of reference ${treelets.reference + 1}: ${wrong ? `${wrong} treelet${wrong === 1 ? "" : "s"} with errors` : "no treelet with errors"}`));
    details.addEventListener("toggle", () => { if (details.open && details.children.length === 1) details.append(...drawTreelets(treelets, tree)); });
    return details;
  }
}
