// Keys and sliders of a judge's page. Without this script the same forms work with the mouse, with Tab and
// with the browser's own keys.
"use strict";
(() => {
  let isBusy = false; // a form is being sent, so keys must do nothing
  let latest = null; // the question answered last: a second key may still change it

  const form = () => document.getElementById("answer");
  const questions = () => [...document.querySelectorAll("#answer .question")];
  const radios = (question) => [...question.querySelectorAll("input[type=radio]")];
  const typed = (question) => question.querySelector("input[type=number], input[type=text]");
  const isAnswered = (question) =>
    radios(question).some((radio) => radio.checked) || Boolean(typed(question)?.value);
  const isTyping = (target) => target.matches?.("input[type=number], input[type=text], textarea");

  function current() {
    const focused = document.activeElement?.closest?.("#answer .question");
    return focused ?? questions().find((question) => !isAnswered(question)) ?? latest ?? questions()[0];
  }

  function pick(question, radio) {
    radio.checked = true;
    radio.focus();
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    latest = question;
  }

  function goOn(question) {
    const all = questions();
    const next = all.slice(all.indexOf(question) + 1).find((other) => !isAnswered(other));
    if (!next) return;
    (radios(next)[0] ?? typed(next)).focus({ preventScroll: true });
    const card = next.closest(".card") ?? next;
    (all.some((other) => other !== next && card.contains(other)) ? next : card)
      .scrollIntoView({ block: "nearest" });
  }

  // 1–9 choose a point by its number, or an option by its place. 0 means ten if there is no zero.
  function onDigit(digit) {
    const question = current();
    const all = radios(question);
    const radio = question.dataset.kind === "points"
      ? all.find((each) => each.value === digit) ?? all.find((each) => digit === "0" && each.value === "10")
      : all[Number(digit) - 1];
    if (!radio) return false;
    pick(question, radio);
    goOn(question);
    return true;
  }

  // ← and → choose a side of a pair, and move along a scale. They stop at its ends. In a page that is
  // written from right to left, a scale begins at the right.
  function onArrow(side) {
    const step = document.documentElement.dir === "rtl" ? -side : side;
    const question = current();
    const all = radios(question);
    if (question.dataset.kind === "pair") {
      pick(question, all.find((radio) => radio.value === (step < 0 ? "a" : "b")));
      return true;
    }
    if (question.dataset.kind !== "points") return false;
    const checked = all.findIndex((radio) => radio.checked);
    const from = checked >= 0 ? checked : step > 0 ? -1 : all.length;
    pick(question, all[Math.min(Math.max(from + step, 0), all.length - 1)]);
    return true;
  }

  function onKey(event) {
    if (!form() && event.key === "Enter" && !event.repeat && !event.target.closest?.("a, button, input, summary")) {
      document.querySelector("[data-continue]")?.click();
    }
    if (!form() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (isBusy) return event.preventDefault();
    const { key, target } = event;
    let isHandled = false;
    if (key === "Enter") {
      if (target.closest?.("button, a, summary, textarea")) return;
      if (!event.repeat) form().requestSubmit();
      isHandled = true;
    } else if (isTyping(target)) {
      return;
    } else if (target.type === "range") {
      if (/^[0-9]$/.test(key)) { // a typed number goes into the field beside the slider
        const field = target.parentElement.querySelector("input[type=number]");
        field.value = "";
        field.focus();
      }
      return;
    } else if (/^[0-9]$/.test(key)) {
      isHandled = onDigit(key);
    } else if (key === "ArrowLeft" || key === "ArrowRight") {
      isHandled = onArrow(key === "ArrowLeft" ? -1 : 1);
    } else if (key === "t" || key === "T") {
      const question = current();
      const tie = radios(question).find((radio) => radio.value === "tie");
      if (tie && question.dataset.kind === "pair") { pick(question, tie); isHandled = true; }
    } else if ((key === "u" || key === "U") && !event.repeat) {
      document.querySelector("button[form=undo]")?.click();
      isHandled = true;
    }
    if (isHandled) event.preventDefault();
  }

  // The number is the answer. The slider sets it, and has no value until it is moved.
  function prepareSlider(box) {
    const range = box.querySelector("input[type=range]");
    const number = box.querySelector("input[type=number]");
    const take = () => { number.value = range.value; range.classList.remove("untouched"); };
    range.hidden = false;
    range.classList.toggle("untouched", number.value === "");
    range.addEventListener("input", take);
    range.addEventListener("pointerup", take);
    number.addEventListener("input", () => {
      range.classList.toggle("untouched", number.value === "");
      if (number.value !== "") range.value = number.value;
    });
  }

  function arrive(event) {
    isBusy = false;
    latest = null;
    document.querySelectorAll(".slider").forEach(prepareSlider);
    const hasKeys = matchMedia("(hover: hover) and (pointer: fine)").matches;
    document.querySelectorAll(".keys").forEach((keys) => { keys.hidden = !hasKeys; });
    const field = questions()[0]?.querySelector("input[type=range], input[type=number], input[type=text]");
    if (field && hasKeys) field.focus({ preventScroll: true });
    else if (event?.detail.boosted) document.querySelector("[data-focus]")?.focus({ preventScroll: true });
  }

  function onSubmit(event) {
    if (!isBusy) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  // A form or a link is boosted; a page that refreshes itself is not, and waits while a form is being sent:
  // it would take the form away.
  function onRequest(event) {
    if (event.detail.boosted) isBusy = true;
    else if (isBusy) event.preventDefault();
  }

  function onResponse(event) {
    if (isBusy && !event.detail.boosted) event.preventDefault();
  }

  document.addEventListener("keydown", onKey);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:beforeRequest", onRequest);
  document.addEventListener("htmx:beforeOnLoad", onResponse);
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.boosted) isBusy = false; });
  document.addEventListener("htmx:afterSettle", arrive);
  addEventListener("pageshow", (event) => { if (event.persisted) arrive(); });
  arrive();
})();
