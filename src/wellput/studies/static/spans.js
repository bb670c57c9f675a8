// Handles how a judge marks errors: by mouse (dragging, or choosing the first and the last word), by touch
// (tapping the first and the last word) and by keys. The marks are JSON in a hidden field.
"use strict";
(() => {
  const { shift, element, DrawnMarks } = globalThis.wellputMarks;

  class Marking extends DrawnMarks {
    constructor(box) {
      super(box);
      box.querySelector("[data-act=missing]").addEventListener("click", () => this.addMissing());
      this.undoButton.addEventListener("click", () => this.undo());
      this.area.addEventListener("pointerdown", (event) => this.onPointerDown(event));
      this.area.addEventListener("pointermove", (event) => this.onPointerMove(event));
      this.area.addEventListener("pointerup", (event) => this.onPointerUp(event));
      this.area.addEventListener("click", (event) => this.onClick(event));
      box.addEventListener("keydown", (event) => this.onKey(event));
      this.show();
    }

    // The pointer.

    stepAt(event) {
      const under = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("[data-step]");
      return under && this.area.contains(under) ? Number(under.dataset.step) : null;
    }

    onPointerDown(event) {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      event.preventDefault(); // the browser must not select text
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
      if (event.pointerType === "mouse") return; // handled by onPointerUp
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

  // While a mark lacks something, the answer cannot be sent. The reason stands above the buttons.
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
