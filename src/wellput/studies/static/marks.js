// The marks of errors in a text: which marks there are, what each of them lacks, and how they are changed.
// Offsets count code points of the text, as in Python, not UTF-16 units. `drawn_marks.js` shows the marks;
// `spans.js` handles the judge's mouse and keys.
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

  class Marks {
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
      this.begun = null; // the first piece of a mark that has no end yet
      this.selected = null;
      this.choosesCategory = false;
      this.past = [];
      this.marks = this.read(this.field.value) ?? this.prefilled.map((mark) => ({ ...mark }));
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

    // The marks over a piece of the text, shortest first.
    marksOver({ start, end }) {
      return this.marks.filter((mark) => mark.start !== MISSING && mark.start < end && mark.end > start)
        .sort((one, other) => (one.end - one.start) - (other.end - other.start));
    }

    // The rows of choices: the severities, then one row for each level of the tree of categories.

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
  }

  globalThis.wellputMarks = { MISSING, shift, Marks };
})();
