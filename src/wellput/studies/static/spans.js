// Marks errors in texts: by mouse (drag, or choose the first and the last word), by touch (tap the first
// and the last word) and by keys. The marks are JSON in a hidden field. Offsets count code points of the
// text, as Python does, not UTF-16 units. Every word shown comes from the page (data-words).
"use strict";
(() => {
  const MISSING = "missing";
  const shift = (list, from, by) => list[Math.min(Math.max(from + by, 0), list.length - 1)];

  // The pieces of a text between boundaries of words (or of letters), as [start, end) in code points.
  function pieces(text, granularity) {
    const found = [];
    let at = 0;
    const add = (piece) => { const end = at + [...piece].length; found.push({ start: at, end, text: piece }); at = end; };
    if (typeof Intl.Segmenter === "function") {
      for (const { segment } of new Intl.Segmenter(undefined, { granularity }).segment(text)) add(segment);
    } else {
      const pattern = granularity === "word" ? /[\p{L}\p{N}\p{M}'’_-]+|\s+|[^]/gu : /[^]\p{M}*/gu;
      for (const [piece] of text.matchAll(pattern)) add(piece);
    }
    return found;
  }

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // Words of the text to judge, which may run in another direction than the page.
  function quoted(tag, className, text) {
    const made = element(tag, className, text);
    made.dir = "auto";
    return made;
  }

  function button(text, act, className) {
    const made = element("button", className, text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  // A name of the owner's, as judges read it: "non-translation" is "Non translation".
  function shownName(name) {
    const words = name.replaceAll("-", " ");
    return words.charAt(0).toLocaleUpperCase() + words.slice(1);
  }

  class Marking {
    constructor(box) {
      this.box = box;
      this.words = JSON.parse(box.dataset.words);
      this.names = JSON.parse(box.dataset.names); // of severities and of paths of kinds, as judges read them
      this.severities = JSON.parse(box.dataset.severities);
      this.categories = JSON.parse(box.dataset.categories);
      this.about = JSON.parse(box.dataset.about);
      this.prefilled = JSON.parse(box.dataset.prefilled);
      this.field = box.querySelector("input[type=hidden]");
      this.area = box.querySelector(".marked");
      this.editor = box.querySelector(".mark-editor");
      this.list = box.querySelector(".marks");
      this.hint = box.querySelector(".mark-hint");
      this.live = box.querySelector("[data-live]");
      this.undoButton = box.querySelector("[data-act=undo]");
      this.text = this.area.textContent;
      this.letters = [...this.text];
      this.steps = pieces(this.text, "word");
      this.stops = this.steps.flatMap((step, place) => (step.text.trim() ? [place] : [])); // words and signs
      this.edges = [0, ...pieces(this.text, "grapheme").map((piece) => piece.end)];
      this.cursor = this.stops[0] ?? 0;
      this.begun = null; // the piece where a mark begins that has no end yet
      this.selected = null;
      this.choosesCategory = false;
      this.past = [];
      this.marks = this.read(this.field.value) ?? this.prefilled.map((mark) => ({ ...mark }));
      box.querySelector("[data-act=missing]").addEventListener("click", () => this.addMissing());
      this.undoButton.addEventListener("click", () => this.undo());
      this.area.addEventListener("pointerdown", (event) => this.onPointerDown(event));
      this.area.addEventListener("pointermove", (event) => this.onPointerMove(event));
      this.area.addEventListener("pointerup", (event) => this.onPointerUp(event));
      this.area.addEventListener("click", (event) => this.onClick(event));
      box.addEventListener("keydown", (event) => this.onKey(event));
      this.show();
    }

    read(json) {
      try {
        const marks = JSON.parse(json);
        return Array.isArray(marks) ? marks.filter((mark) => mark && typeof mark === "object") : null;
      } catch { return null; }
    }

    // What is marked.

    isComplete(mark) {
      return Boolean(mark.severity) && (!this.categories.length || this.categories.includes(mark.category));
    }

    problem() {
      if (this.begun !== null) return this.words.unfinished;
      const open = this.marks.find((mark) => !this.isComplete(mark));
      if (!open) return "";
      this.select(open);
      return this.categories.length ? this.words.incomplete_category : this.words.incomplete;
    }

    remember() { this.past.push(JSON.stringify(this.marks)); }

    undo() {
      if (this.begun !== null) { this.begun = null; this.show(); return; }
      if (!this.past.length) return;
      this.marks = JSON.parse(this.past.pop());
      this.selected = null;
      this.say(this.words.undone);
      this.changed();
    }

    changed() {
      this.show();
      this.field.dispatchEvent(new Event("input", { bubbles: true }));
    }

    addRange(from, to) {
      let { start } = this.steps[Math.min(from, to)];
      let { end } = this.steps[Math.max(from, to)];
      while (start < end && !this.letters[start].trim()) start += 1;
      while (end > start && !this.letters[end - 1].trim()) end -= 1;
      this.begun = null;
      if (start === end) { this.show(); return; }
      const same = this.marks.find((mark) => mark.start === start && mark.end === end && !this.isComplete(mark));
      if (same) { this.select(same); return; }
      this.add({ start, end, severity: "", category: "", text: this.letters.slice(start, end).join("") });
    }

    addMissing() {
      const category = this.categories.find((path) => path.split("/").at(-1) === "omission") ?? "";
      this.begun = null;
      this.add({ start: MISSING, end: MISSING, severity: "", category, text: "" });
    }

    add(mark) {
      this.remember();
      if (this.severities.length === 1) [mark.severity] = this.severities;
      this.marks.push(mark);
      this.selected = mark;
      this.choosesCategory = false;
      this.changed();
      this.say(`${this.nameOf(mark)}. ${this.words.severity} ${this.offer()}`);
      this.editor.scrollIntoView({ block: "nearest" });
    }

    remove(mark) {
      if (!mark) return;
      this.remember();
      this.marks = this.marks.filter((other) => other !== mark);
      this.selected = null;
      this.say(this.words.removed);
      this.changed();
      this.area.focus({ preventScroll: true });
    }

    change(mark, values) {
      this.remember();
      Object.assign(mark, values);
      this.changed();
    }

    select(mark) {
      this.selected = mark;
      this.begun = null;
      this.choosesCategory = false;
      this.show();
    }

    // Moves one end of a mark by a letter; the mark never becomes empty.
    nudge(mark, side, by) {
      const at = this.edges.indexOf(mark[side]);
      const to = at < 0 ? mark[side] : shift(this.edges, at, by);
      const { start, end } = { ...mark, [side]: to };
      const text = this.letters.slice(start, end).join("");
      if (start < end && text.trim()) this.change(mark, { start, end, text });
    }

    // The rows of choices: how bad, then one row for each level of the tree of categories.

    levels(mark) {
      const chosen = (mark.category || mark.partly || "").split("/").filter(Boolean);
      const rows = [];
      for (let depth = 0; depth <= chosen.length; depth += 1) {
        const above = chosen.slice(0, depth);
        const below = this.categories.map((path) => path.split("/"))
          .filter((path) => path.length > depth && above.every((name, at) => path[at] === name));
        const names = [...new Set(below.map((path) => path[depth]))];
        if (!names.length) break;
        rows.push({ above, names, chosen: chosen[depth] });
      }
      return rows;
    }

    rowInUse(mark) {
      if (!mark.severity) return 0;
      if (!this.categories.length) return 0;
      const rows = this.levels(mark);
      const open = rows.findIndex((row) => !row.chosen);
      if (open >= 0) return open + 1;
      return this.choosesCategory ? 1 : 0;
    }

    offered() {
      const row = this.rowInUse(this.selected);
      return row === 0 ? this.severities : this.levels(this.selected)[row - 1].names;
    }

    choose(mark, row, name) {
      const above = row === 0 ? [] : this.levels(mark)[row - 1].above;
      this.selected = mark;
      if (row === 0) {
        this.choosesCategory = false;
        this.change(mark, { severity: name });
      } else {
        const path = [...above, name].join("/");
        const isLeaf = this.categories.includes(path);
        this.choosesCategory = false;
        this.change(mark, isLeaf ? { category: path, partly: undefined } : { category: "", partly: path });
      }
      this.say(this.isComplete(mark) ? this.nameOf(mark) : `${this.named(name, above)}. ${this.offer()}`);
    }

    onDigit(digit) {
      if (this.begun !== null) this.addRange(this.begun, this.cursor);
      else if (!this.selected) this.addRange(this.cursor, this.cursor);
      const mark = this.selected;
      if (!mark) return;
      const row = this.rowInUse(mark);
      const name = this.offered()[Number(digit) - 1];
      if (name) this.choose(mark, row, name);
    }

    // The pointer.

    stepAt(event) {
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-step]");
      return under && this.area.contains(under) ? Number(under.dataset.step) : null;
    }

    onPointerDown(event) {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      event.preventDefault(); // no selection of the browser's own
      this.area.focus({ preventScroll: true });
      const step = this.stepAt(event);
      this.dragged = step === null ? null : { from: step, to: step, isMoved: false };
      this.area.setPointerCapture(event.pointerId);
    }

    onPointerMove(event) {
      if (!this.dragged) return;
      const step = this.stepAt(event);
      if (step === null || step === this.dragged.to) return;
      Object.assign(this.dragged, { to: step, isMoved: true });
      [this.begun, this.cursor] = [this.dragged.from, step];
      this.selected = null;
      this.show();
    }

    onPointerUp(event) {
      if (event.pointerType !== "mouse" || !this.dragged) return;
      const { from, to, isMoved } = this.dragged;
      this.dragged = null;
      if (isMoved) { this.cursor = to; this.addRange(from, to); } else this.touch(from);
    }

    onClick(event) {
      if (event.pointerType === "mouse") return; // answered by onPointerUp
      const step = this.stepAt(event);
      if (step !== null) this.touch(step);
    }

    // A word was clicked or tapped: it ends a mark, is part of one, or begins one.
    touch(step) {
      this.cursor = step;
      if (this.begun !== null) { this.addRange(this.begun, step); return; }
      const over = this.marksOver(this.steps[step]);
      if (over.length) { this.select(over[(over.indexOf(this.selected) + 1) % over.length]); return; }
      if (!this.steps[step].text.trim()) return;
      this.begin(step);
    }

    begin(step) {
      this.begun = step;
      this.selected = null;
      this.show();
      this.say(this.words.end);
    }

    // The marks over a piece of the text, shortest first.
    marksOver({ start, end }) {
      return this.marks.filter((mark) => mark.start !== MISSING && mark.start < end && mark.end > start)
        .sort((one, other) => (one.end - one.start) - (other.end - other.start));
    }

    // The keys.

    onKey(event) {
      const { key, target } = event;
      const isUndo = (event.ctrlKey || event.metaKey) && key.toLowerCase() === "z" && !event.shiftKey;
      if (target.matches("input") || event.altKey || event.isComposing) return;
      if ((event.ctrlKey || event.metaKey) && !isUndo) return;
      if (isUndo || this.onCommonKey(key) || (target === this.area && this.onTextKey(event))) {
        if (isUndo) this.undo();
        event.preventDefault();
        event.stopPropagation();
      }
    }

    onCommonKey(key) {
      if (/^[1-9]$/.test(key)) this.onDigit(key);
      else if (key === "Delete" || key === "Backspace") this.remove(this.selected);
      else if (key === "z" || key === "Z") this.undo();
      else if (key === "m" || key === "M") this.addMissing();
      else if (key === "Escape" && this.begun !== null) { this.begun = null; this.show(); }
      else if (key === "Escape" && this.selected) this.select(null);
      else if ((key === "c" || key === "C") && this.selected && this.categories.length) {
        this.choosesCategory = true;
        this.show();
      } else return false;
      return true;
    }

    onTextKey(event) {
      const { key } = event;
      if (key === " ") {
        if (this.begun === null) this.begin(this.cursor);
        else this.addRange(this.begun, this.cursor);
        return true;
      }
      if (key === "Enter" && this.begun !== null) { this.addRange(this.begun, this.cursor); return true; }
      const isRightToLeft = getComputedStyle(this.area).direction === "rtl";
      const forward = isRightToLeft ? "ArrowLeft" : "ArrowRight";
      let to;
      if (key === "ArrowLeft" || key === "ArrowRight") to = this.beside(key === forward ? 1 : -1);
      else if (key === "ArrowUp" || key === "ArrowDown") to = this.onLine(key === "ArrowUp" ? -1 : 1);
      else if (key === "Home") to = this.stops[0];
      else if (key === "End") to = this.stops.at(-1);
      else return false;
      if (to === undefined) return true;
      if (event.shiftKey && this.begun === null) this.begun = this.cursor;
      this.cursor = to;
      if (this.begun === null) {
        this.selected = this.marksOver(this.steps[to])[0] ?? null;
        this.choosesCategory = false;
      }
      this.show();
      this.sayWord();
      return true;
    }

    beside(by) { return shift(this.stops, this.stops.indexOf(this.cursor), by); }

    // The word above or below: on the nearest other line, the one nearest sideways.
    onLine(by) {
      const here = this.boxOf(this.cursor);
      const others = this.stops.map((step) => ({ step, box: this.boxOf(step) }))
        .filter(({ box }) => (box.top - here.top) * by > here.height / 2);
      const line = Math.min(...others.map(({ box }) => (box.top - here.top) * by));
      const middle = here.left + here.width / 2;
      const aside = ({ box }) => Math.abs(box.left + box.width / 2 - middle);
      return others.filter(({ box }) => (box.top - here.top) * by < line + here.height / 2)
        .sort((one, other) => aside(one) - aside(other))[0]?.step;
    }

    boxOf(step) { return this.area.querySelector(`[data-step="${step}"]`).getBoundingClientRect(); }

    sayWord() {
      const step = this.steps[this.cursor];
      const over = this.marksOver(step).map((mark) => this.nameOf(mark));
      this.say([step.text, ...over].join(". "));
    }

    say(text) { this.live.textContent = text; }

    // What is shown.

    nameOf(mark) {
      const what = mark.start === MISSING ? this.words.missing : `“${mark.text}”`;
      return [what, this.named(mark.severity), this.kindOf(mark)].filter(Boolean).join(", ");
    }

    // A severity, or a kind of error below the kinds `above`.
    named(name, above = []) { return this.names[[...above, name].join("/")] ?? name; }

    // What the row in use offers, for screen readers.
    offer() {
      const row = this.rowInUse(this.selected);
      const above = row === 0 ? [] : this.levels(this.selected)[row - 1].above;
      return this.offered().map((name, at) => `${at + 1} ${this.named(name, above)}`).join(", ");
    }

    kindOf(mark) {
      const path = mark.category.split("/");
      return path.map((name, depth) => shownName(this.named(name, path.slice(0, depth)))).join(" › ");
    }

    stored(marks) {
      return JSON.stringify(marks.map(({ start, end, severity, category, text }) => ({ start, end, severity, category, text })));
    }

    show() {
      const order = (mark) => (mark.start === MISSING ? Infinity : mark.start);
      const sorted = [...this.marks].sort((one, other) => order(one) - order(other) || one.end - other.end);
      this.field.value = this.stored(sorted);
      this.undoButton.disabled = !this.past.length && this.begun === null;
      this.hint.textContent = this.begun === null ? this.words.begin : this.words.end;
      this.hint.hidden = this.selected !== null;
      this.box.classList.toggle("is-begun", this.begun !== null);
      this.draw();
      this.drawEditor();
      this.drawList(sorted);
      document.dispatchEvent(new CustomEvent("marks"));
    }

    // Overlapping marks lie in different lanes, one line of color below the other.
    lanes() {
      const ends = [];
      const lanes = new Map();
      const placed = this.marks.filter((mark) => mark.start !== MISSING)
        .sort((one, other) => one.start - other.start || other.end - one.end);
      for (const mark of placed) {
        const free = ends.findIndex((end) => end <= mark.start);
        const lane = free < 0 ? ends.length : free;
        ends[lane] = mark.end;
        lanes.set(mark, lane);
      }
      return lanes;
    }

    draw() {
      const lanes = this.lanes();
      const cuts = new Set([...lanes.keys()].flatMap((mark) => [mark.start, mark.end]));
      const [low, high] = this.begun === null ? [1, 0]
        : [Math.min(this.begun, this.cursor), Math.max(this.begun, this.cursor)];
      const drawn = document.createDocumentFragment();
      this.steps.forEach((step, place) => {
        let from = step.start;
        for (let at = step.start + 1; at <= step.end; at += 1) {
          if (at < step.end && !cuts.has(at)) continue;
          const piece = element("span", "piece", this.letters.slice(from, at).join(""));
          piece.dataset.step = place;
          if (place >= low && place <= high) piece.classList.add("taken");
          if (place === this.cursor) piece.classList.add("cursor");
          for (const mark of this.marksOver({ start: from, end: at })) this.paint(piece, mark, lanes.get(mark));
          drawn.append(piece);
          from = at;
        }
      });
      this.area.replaceChildren(drawn);
    }

    paint(piece, mark, lane) {
      const place = this.severities.indexOf(mark.severity);
      piece.classList.add("in-mark", `severity-${this.rank(place)}`, `lane-${Math.min(lane, 3)}-${this.rank(place)}`);
      if (mark === this.selected) piece.classList.add("selected");
    }

    // How a severity is colored: open, or 1 (least) to 3 (worst).
    rank(place) {
      if (place < 0) return 0;
      return this.severities.length === 1 ? 3 : 1 + Math.round((2 * place) / (this.severities.length - 1));
    }

    // The keyboard's place survives when the buttons are drawn anew.
    keepingFocus(within, redraw) {
      const focused = within.contains(document.activeElement) ? document.activeElement.dataset.name : null;
      redraw();
      if (focused) within.querySelector(`[data-name="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    }

    drawEditor() {
      const mark = this.selected;
      this.editor.hidden = !mark;
      this.keepingFocus(this.editor, () => {
        this.editor.replaceChildren();
        if (mark) this.fillEditor(mark);
      });
    }

    fillEditor(mark) {
      const { words, editor } = this;
      const inUse = this.rowInUse(mark);
      const head = element("div", "mark-head");
      head.append(quoted("p", "mark-title", mark.start === MISSING ? words.missing : `“${mark.text}”`));
      const remove = button(words.remove, () => this.remove(mark), "secondary small");
      remove.setAttribute("aria-keyshortcuts", "Delete");
      head.append(remove);
      editor.append(head);
      editor.append(this.rowOf(mark, 0, words.severity, this.severities, mark.severity, inUse));
      if (this.categories.length && mark.severity) {
        this.levels(mark).forEach((row, at) => {
          editor.append(this.rowOf(mark, at + 1, at ? "" : words.category, row.names, row.chosen, inUse, row.above));
        });
        const about = this.about[mark.category];
        if (about) editor.append(element("p", "hint", about));
      }
      if (mark.start === MISSING) {
        const label = element("label", "mark-said", words.say_missing);
        const input = element("input");
        Object.assign(input, { type: "text", maxLength: 300, value: mark.text, autocomplete: "off" });
        input.dataset.name = "said";
        input.addEventListener("input", () => { mark.text = input.value; this.drawList(this.marks); this.store(); });
        label.append(input);
        editor.append(label);
      }
      if (mark.start !== MISSING) {
        const tools = element("div", "mark-tools");
        for (const [side, label] of [["start", words.begins], ["end", words.ends]]) {
          const pair = element("span", "nudge");
          pair.append(element("span", "", label));
          for (const [sign, by, title] of [["‹", -1, words.earlier], ["›", 1, words.later]]) {
            const one = button(sign, () => this.nudge(mark, side, by), "secondary small");
            one.setAttribute("aria-label", `${label} ${title}`);
            one.dataset.name = `${side}${by}`;
            pair.append(one);
          }
          tools.append(pair);
        }
        const again = button(words.new, () => { this.area.focus({ preventScroll: true }); this.begin(this.cursor); }, "secondary small");
        if (this.marksOver(this.steps[this.cursor]).includes(mark)) tools.append(again);
        editor.append(tools);
      }
    }

    store() {
      this.field.value = this.stored(this.marks);
      this.field.dispatchEvent(new Event("input", { bubbles: true }));
    }

    rowOf(mark, row, title, names, chosen, inUse, above = []) {
      const made = element("div", "choices");
      made.setAttribute("role", "group");
      made.setAttribute("aria-label", title || above.map((name, at) => this.named(name, above.slice(0, at))).join(" › "));
      if (title) made.append(element("span", "choices-title", title));
      names.forEach((name, at) => {
        const one = button("", () => this.choose(mark, row, name), "choice");
        if (row === inUse && at < 9) {
          const digit = element("kbd", "", String(at + 1));
          digit.setAttribute("aria-hidden", "true");
          one.append(digit);
          one.setAttribute("aria-keyshortcuts", String(at + 1));
        }
        one.append(element("span", "", shownName(this.named(name, above))));
        one.dataset.name = `${row}:${name}`;
        one.setAttribute("aria-pressed", String(name === chosen));
        if (row === 0) one.classList.add(`severity-${this.rank(at)}`);
        const about = this.about[[...above, name].join("/")];
        if (row > 0 && about) one.title = about;
        made.append(one);
      });
      return made;
    }

    drawList(marks) {
      this.keepingFocus(this.list, () => {
        this.list.replaceChildren(...marks.map((mark, at) => this.entry(mark, at)));
      });
      this.list.hidden = !marks.length;
    }

    entry(mark, at) {
      const entry = element("li", `severity-${this.rank(this.severities.indexOf(mark.severity))}`);
      const go = button("", () => { this.select(mark); this.editor.scrollIntoView({ block: "nearest" }); }, "mark-name");
      go.dataset.name = `mark${at}`;
      go.setAttribute("aria-pressed", String(mark === this.selected));
      go.append(quoted("span", "mark-quote", mark.start === MISSING
        ? [this.words.missing, mark.text].filter(Boolean).join(": ") : `“${mark.text}”`));
      const kind = this.kindOf(mark) || (this.categories.length ? this.words.category : "");
      const said = [this.named(mark.severity) || this.words.severity, kind];
      go.append(element("span", "mark-about", said.filter(Boolean).join(" · ")));
      if (this.wasThere(mark)) go.append(element("span", "mark-about", `(${this.words.beforehand})`));
      const remove = button("×", () => this.remove(mark), "mark-remove");
      remove.setAttribute("aria-label", `${this.words.remove} ${this.nameOf(mark)}`);
      entry.append(go, remove);
      return entry;
    }

    wasThere(mark) {
      return this.prefilled.some((one) => one.start === mark.start && one.end === mark.end
        && one.severity === mark.severity && one.category === mark.category);
    }
  }

  let markings = [];

  function nameNext() {
    const [first] = markings;
    const next = document.querySelector(".actions .primary");
    if (!first || !next) return;
    const isOnlyMarked = !document.querySelector("#answer .question:not(.marking)");
    const isEmpty = markings.every((marking) => !marking.marks.length && marking.begun === null);
    next.textContent = isOnlyMarked && isEmpty ? first.words.next_without : first.words.next;
  }

  function arrive() {
    markings = [...document.querySelectorAll(".marking")].map((box) => new Marking(box));
    nameNext();
    if (!markings.length) return;
    document.querySelectorAll(".around.before").forEach((box) => { box.scrollTop = box.scrollHeight; });
    const hasKeys = matchMedia("(hover: hover) and (pointer: fine)").matches;
    document.querySelectorAll(".mark-keys").forEach((keys) => { keys.hidden = !hasKeys; });
    if (hasKeys) markings[0].area.focus({ preventScroll: true });
  }

  // A mark that lacks something is no answer yet. The reason stands above the buttons.
  function onSubmit(event) {
    if (event.target.id !== "answer" || !markings.length) return;
    document.querySelector(".reasons.unmarked")?.remove();
    const marking = markings.find((each) => each.problem());
    if (!marking) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const notice = element("p", "reasons unmarked", marking.problem());
    notice.setAttribute("role", "alert");
    marking.hint.before(notice);
    marking.area.focus();
  }

  document.addEventListener("marks", nameNext);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:afterSettle", arrive);
  arrive();
})();
