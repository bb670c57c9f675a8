// Measures the time of an answer, and keeps the answer in the browser (localStorage), so that neither a lost
// connection nor a closed page loses it. From the moment when the judge gives it, it is sent again until it
// has arrived; the server takes the same answer to a trial only once. An answer that is sent again has the
// time that the judge took to give it, and its age, because an answer that the judge gave later on another
// device must not be replaced. It also says when it is sent: a proxy may hold it until there is a newer one.
"use strict";
(() => {
  const PREFIX = "wellput-answer:";
  const KEEP_DAYS = 7;
  const RETRY_SECONDS = 5;
  const OWN_FIELDS = ["csrf", "shown", "ms", "kept_ms", "sent_ms"]; // fields of the form that are not part of the answer
  const REFUSED = [400, 422]; // the judge must correct the answer

  // When the server's page began to come: in milliseconds since 1970, and by a clock that nobody sets.
  let [loadedAt, loadedMark] = whenLoaded();
  let headersAt = null; // the same for the page that is coming now
  let began = performance.now();
  let earlier = 0; // milliseconds that the judge spent on this trial before the page was loaded again
  let waiting = null; // the timer of the next attempt
  let waitingForOthers = null; // the same for answers to other trials than the one on the page
  let isSentAgain = false; // the form is being sent by this script, not by the judge
  let given = null; // the record of the answer that is being sent, without its values
  let unstored = null; // the key and the record of an answer that the browser did not store

  // The scripts of a page may come much later than the page itself.
  function whenLoaded() {
    const [loading] = performance.getEntriesByType("navigation");
    const age = loading ? performance.now() - loading.responseStart : 0;
    return [Date.now() - age, performance.now() - age];
  }

  // The clock of the day may be set back; the other one may stand still while the computer sleeps.
  const pageAge = () => Math.round(Math.max(Date.now() - loadedAt, performance.now() - loadedMark));

  const form = () => document.getElementById("answer");
  const timeSpent = () => Math.round(earlier + performance.now() - began);

  // The key has the random id of the trial, and a hash of the judge's address, which nobody can read back.
  function ownPrefix(trials) {
    let hash = 0;
    for (const letter of trials) hash = (Math.imul(hash, 31) + letter.codePointAt(0)) | 0;
    return `${PREFIX}${hash >>> 0}:`;
  }
  function keyOf(answer) {
    const [, trials, trial] = answer.getAttribute("action").match(/^(.*\/)([^/]*)$/);
    return ownPrefix(trials) + trial;
  }

  // A record has the `values` of the fields; `ms`, the time that the judge took; `isSent`: the judge has given
  // the answer; and `at`, when the judge gave or changed it, in milliseconds since 1970.
  // If the browser forbids to store anything, the record lasts as long as the page.
  function stored(act) { try { return act(localStorage); } catch { return null; } }
  function read(key) {
    return unstored?.key === key ? unstored.record : stored((storage) => JSON.parse(storage.getItem(key)));
  }
  function write(key, record) {
    const isStored = stored((storage) => { storage.setItem(key, JSON.stringify(record)); return true; });
    unstored = isStored ? null : { key, record };
  }
  function drop(key) {
    if (unstored?.key === key) unstored = null;
    stored((storage) => storage.removeItem(key));
  }

  function keep(answer, record) {
    const values = [...new FormData(answer)].filter(([name]) => !OWN_FIELDS.includes(name));
    write(keyOf(answer), { ...record, values });
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
    settleOthers();
    const answer = form();
    const kept = answer && read(keyOf(answer));
    if (!kept) return;
    // If the server has an answer: how long ago it was given, in ms. Below 0 the server's clock was set back.
    const since = Number(answer.dataset.msSinceAnswer ?? -1);
    if (since >= 0 && !(kept.at > loadedAt - since)) {
      drop(keyOf(answer)); // the server has this answer, or a newer one
      return;
    }
    earlier = kept.ms || 0;
    restore(answer, kept.values ?? []);
    if (kept.isSent) sendAgain();
  }

  // How long ago the judge gave an answer that is sent only now.
  const keptMs = (kept) => String(Math.max(1, Date.now() - kept.at));

  // Sends the answers to other trials than the one on the page that the judge gave and that have not arrived.
  // An answer that is not complete waits: the judge comes back to it.
  async function settleOthers() {
    clearTimeout(waitingForOthers);
    const { home, csrf } = document.getElementById("page").dataset;
    if (!home) return;
    const own = ownPrefix(`${home}/trials/`);
    const onPage = form() && keyOf(form());
    const keys = (stored((storage) => Object.keys(storage)) ?? [])
      .filter((key) => key.startsWith(own) && key !== onPage && read(key)?.isSent);
    const areSettled = await Promise.all(
      keys.map((key) => settle(key, `${home}/trials/${key.slice(own.length)}`, csrf)),
    );
    if (areSettled.includes(false)) {
      clearTimeout(waitingForOthers);
      waitingForOthers = setTimeout(settleOthers, RETRY_SECONDS * 1000);
    }
  }

  async function settle(key, action, csrf) {
    const kept = read(key);
    const times = [["ms", String(kept.ms)], ["kept_ms", keptMs(kept)]];
    const body = new URLSearchParams([...kept.values, ["csrf", csrf], ...times]);
    try {
      const { status, responseText } = await wellputServer.post(action, body);
      if (!wellputServer.isPage(status, responseText)) return false;
      if (status < 300) drop(key);
      else if (REFUSED.includes(status)) write(key, { ...kept, isSent: false });
      return true;
    } catch {
      return false;
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
    keep(answer, { ms: timeSpent(), isSent: false, at: Date.now() });
  }

  function onSubmit({ target }) {
    if (target.id !== "answer") return;
    const kept = read(keyOf(target));
    // The time ended when the judge gave the answer, whoever sends it again.
    const ms = kept?.isSent ? kept.ms : timeSpent();
    const isOld = isSentAgain && kept !== null;
    given = { ms, isSent: true, at: isOld ? kept.at : Date.now() };
    const times = { ms, kept_ms: isOld ? keptMs(kept) : "", sent_ms: pageAge() };
    for (const [name, value] of Object.entries(times)) {
      const field = target.querySelector(`input[name=${name}]`); // a design's own template may lack it
      if (field) field.value = value;
    }
  }

  function onSend({ detail: { xhr } }) {
    xhr.addEventListener("readystatechange", () => {
      if (xhr.readyState === xhr.HEADERS_RECEIVED) headersAt = [Date.now(), performance.now()];
    });
  }

  // The form is complete and on its way. If the page is closed now, the answer is sent when it is opened again.
  function onRequest({ detail }) {
    if (detail.elt.id === "answer") keep(detail.elt, given);
  }

  function onLost({ target }) {
    const answer = form();
    if (!answer) return;
    const kept = read(keyOf(answer));
    // An answer that was changed on its way is the one that the judge gave.
    if (target === answer && !kept?.isSent) keep(answer, { ...given, ...kept, isSent: true });
    else if (!kept?.isSent) return;
    clearTimeout(waiting);
    waiting = setTimeout(sendAgain, RETRY_SECONDS * 1000);
  }

  // The server has answered with a page: it has stored the answer, or says what is wrong with it. This must
  // be noted before the next trial is shown, because otherwise the answer would be sent once more.
  function onAnswered(event) {
    const { elt, xhr } = event.detail;
    if (event.defaultPrevented) return; // it is not a page
    [loadedAt, loadedMark] = headersAt;
    if (elt.id !== "answer") return;
    const kept = read(keyOf(elt));
    if (xhr.status < 400) drop(keyOf(elt));
    else if (kept && REFUSED.includes(xhr.status)) write(keyOf(elt), { ...kept, isSent: false });
  }

  forgetOld();
  document.addEventListener("input", onInput);
  document.addEventListener("change", onInput);
  document.addEventListener("submit", onSubmit, true);
  document.addEventListener("htmx:beforeRequest", onRequest);
  document.addEventListener("htmx:beforeSend", onSend);
  document.addEventListener("wellput:lost", onLost);
  document.addEventListener("htmx:beforeOnLoad", onAnswered);
  document.addEventListener("htmx:afterSettle", arrive);
  addEventListener("pageshow", (event) => { if (event.persisted) arrive(); });
  addEventListener("online", () => { const answer = form(); if (answer && read(keyOf(answer))?.isSent) sendAgain(); });
  arrive();
})();
