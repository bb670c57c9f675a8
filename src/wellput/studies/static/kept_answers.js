// Keeps the answer that a judge is giving in the browser (localStorage), so that neither a lost connection
// nor a closed page loses it. An answer that could not be sent is sent again when the server is back; the
// server takes the same answer to a trial only once. It is sent with the time since the judge gave it, because
// an answer that the judge gave later on another device must not be replaced.
"use strict";
(() => {
  const PREFIX = "wellput-answer:";
  const KEEP_DAYS = 7;
  const RETRY_SECONDS = 5;
  const OWN_FIELDS = ["csrf", "shown", "ms", "kept_ms"]; // fields of the form that are not part of the answer

  let began = performance.now();
  let earlier = 0; // milliseconds that the judge spent on this trial before the page was loaded again
  let waiting = null; // the timer of the next attempt
  let givenAt = 0; // when the judge sent the answer, whether or not it arrived, in milliseconds since 1970
  let isSentAgain = false; // the form is being sent by this script, not by the judge

  const form = () => document.getElementById("answer");

  // The key has the random id of the trial, and a hash of the judge's address, which nobody can read back.
  function ownPrefix(answer) {
    let hash = 0;
    for (const letter of answer.getAttribute("action").replace(/[^/]*$/, "")) {
      hash = (Math.imul(hash, 31) + letter.codePointAt(0)) | 0;
    }
    return `${PREFIX}${hash >>> 0}:`;
  }
  const keyOf = (answer) => ownPrefix(answer) + answer.getAttribute("action").split("/").at(-1);

  // The browser may forbid to store anything; then nothing is kept.
  function stored(act) { try { return act(localStorage); } catch { return null; } }
  const read = (key) => stored((storage) => JSON.parse(storage.getItem(key)));
  const drop = (key) => stored((storage) => storage.removeItem(key));

  function keep(isSent) {
    const answer = form();
    if (!answer) return;
    const values = [...new FormData(answer)].filter(([name]) => !OWN_FIELDS.includes(name));
    const ms = Math.round(earlier + performance.now() - began);
    const record = JSON.stringify({ values, ms, isSent, at: isSent ? givenAt : Date.now() });
    stored((storage) => storage.setItem(keyOf(answer), record));
  }

  function restore(answer, values) {
    for (const [name, value] of values) {
      for (const field of answer.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
        if (field.type === "radio" || field.type === "checkbox") field.checked = field.value === value;
        else field.value = value;
        if (field.type === "number") field.dispatchEvent(new Event("input"));
      }
    }
  }

  function forgetOld() {
    stored((storage) => {
      for (const key of Object.keys(storage).filter((each) => each.startsWith(PREFIX))) {
        if (!(Date.now() - (read(key)?.at ?? 0) < KEEP_DAYS * 86_400_000)) storage.removeItem(key);
      }
    });
  }

  function arrive() {
    clearTimeout(waiting);
    [began, earlier] = [performance.now(), 0];
    const answer = form();
    if (!answer) return;
    settleOthers(answer);
    const kept = read(keyOf(answer));
    if (!kept) return;
    // If the server has an answer: how long ago it was given, in ms. Below 0 the server's clock was set back.
    const since = Number(answer.dataset.msSinceAnswer ?? -1);
    if (since >= 0 && !(kept.at > Date.now() - since)) {
      drop(keyOf(answer)); // the server has this answer, or a newer one
      return;
    }
    earlier = kept.ms || 0;
    restore(answer, kept.values ?? []);
    if (kept.isSent) sendAgain();
  }

  // How long ago the judge gave an answer that is sent only now.
  const keptMs = (kept) => String(Math.max(1, Date.now() - kept.at));

  // Looks for answers to other trials than the one on the page. If one could not be sent, it is sent now.
  function settleOthers(answer) {
    const own = ownPrefix(answer);
    const keys = stored((storage) => Object.keys(storage)) ?? [];
    for (const key of keys.filter((each) => each.startsWith(own) && each !== keyOf(answer))) {
      const kept = read(key);
      if (!kept?.isSent) continue; // an answer that is not complete: the judge comes back to it
      const action = answer.getAttribute("action").replace(/[^/]*$/, key.slice(own.length));
      const csrf = answer.querySelector("input[name=csrf]").value;
      const times = [["ms", String(kept.ms)], ["kept_ms", keptMs(kept)]];
      const body = new URLSearchParams([...kept.values, ["csrf", csrf], ...times]);
      fetch(action, { method: "POST", body, redirect: "manual" })
        .then((response) => { if (response.type === "opaqueredirect" || response.ok) drop(key); }, () => {});
    }
  }

  function sendAgain() {
    clearTimeout(waiting);
    const answer = form();
    if (!answer) return;
    waiting = setTimeout(() => {
      isSentAgain = answer.isConnected;
      if (isSentAgain) answer.requestSubmit();
      isSentAgain = false;
    }, 300);
  }

  function onInput(event) {
    const answer = event.target.closest?.("#answer");
    // While the next trial takes the place of this one, the browser reports once more that a field has changed.
    if (!answer || answer !== form()) return;
    clearTimeout(waiting); // the judge is changing the answer, and will send it
    keep(false);
  }

  function onSubmit(event) {
    if (event.target.id !== "answer") return;
    const clock = event.target.querySelector("input[name=ms]");
    if (clock && earlier) clock.value = Math.round(Number(clock.value) + earlier);
    const kept = isSentAgain ? read(keyOf(event.target)) : null;
    givenAt = kept?.at ?? Date.now();
    const field = event.target.querySelector("input[name=kept_ms]");
    if (field) field.value = kept ? keptMs(kept) : "";
  }

  function onLost(event) {
    if (event.target.id !== "answer") return;
    keep(true);
    clearTimeout(waiting);
    waiting = setTimeout(sendAgain, RETRY_SECONDS * 1000);
  }

  // The server has answered with a page: it has stored the answer, or says what is wrong with it. This must
  // be noted before the next trial is shown, because otherwise the answer would be sent once more.
  function onAnswered(event) {
    const { elt, xhr } = event.detail;
    if (elt?.id !== "answer") return;
    if (xhr?.status < 400) drop(keyOf(elt));
    else if (xhr?.status === 422) keep(false); // refused: the judge corrects it
  }

  forgetOld();
  document.addEventListener("input", onInput);
  document.addEventListener("change", onInput);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:sendError", onLost);
  document.addEventListener("htmx:timeout", onLost);
  document.addEventListener("htmx:beforeOnLoad", onAnswered);
  document.addEventListener("htmx:afterSettle", arrive);
  addEventListener("online", () => { const answer = form(); if (answer && read(keyOf(answer))?.isSent) sendAgain(); });
  arrive();
})();
