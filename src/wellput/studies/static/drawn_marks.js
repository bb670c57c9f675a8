// Shows the marks of errors in a text: in the text itself, in the editor of the chosen mark, in a list, and
// to screen readers. All words that it shows come from the page (data-words).
"use strict";
(() => {
  const { MISSING, Marks } = globalThis.wellputMarks;

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // An element with words of the text to judge, which may have another direction than the page.
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

  // How judges read a name that the owner of the study gave: "non-translation" is "Non translation".
  function shownName(name) {
    const words = name.replaceAll("-", " ");
    return words.charAt(0).toLocaleUpperCase() + words.slice(1);
  }

  class DrawnMarks extends Marks {
    nameOf(mark) {
      const what = mark.start === MISSING ? this.words.missing : `“${mark.text}”`;
      return [what, this.named(mark.severity), this.kindOf(mark)].filter(Boolean).join(", ");
    }

    // The name that judges read for a severity, or for a kind of error below the kinds `above`.
    named(name, above = []) { return this.names[[...above, name].join("/")] ?? name; }

    // The choices in the row that is in use, for screen readers.
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

    // When the buttons are drawn again, the keyboard focus stays on the same button.
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

  Object.assign(globalThis.wellputMarks, { element, DrawnMarks });
})();
