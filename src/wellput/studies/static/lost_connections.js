// Decides whether an answer to a request is a page to go to. If it is not, or if no answer comes, the page
// stays as it is and says so. Other scripts hear of it by the event `wellput:lost` at the form or link.
// A request is given up when nothing has moved for some seconds. A large page that keeps coming over a slow
// line may take longer, so the limit is not one for the whole request, as that of XMLHttpRequest is.
"use strict";
(() => {
  const TOO_LARGE_OR_TOO_MANY = [413, 429];

  // A proxy whose server is away answers with a page of its own, which may have any status.
  function isPage(status, html) {
    if (status >= 500 || TOO_LARGE_OR_TOO_MANY.includes(status)) return false;
    return new DOMParser().parseFromString(html, "text/html").querySelector("#page[hx-boost]") !== null;
  }

  const lose = (event) => event.detail.elt.dispatchEvent(new CustomEvent("wellput:lost", { bubbles: true }));

  // Calls `onQuiet` and ends the request when nothing was sent or received for too long.
  function endIfQuiet(xhr, onQuiet) {
    let timer = null;
    const end = () => { xhr.abort(); onQuiet(); };
    const stop = () => clearTimeout(timer);
    const wait = () => { stop(); timer = setTimeout(end, 1000 * document.body.dataset.answerSeconds); };
    xhr.upload.addEventListener("progress", wait);
    xhr.upload.addEventListener("load", wait);
    xhr.addEventListener("readystatechange", () => { if (xhr.readyState < xhr.DONE) wait(); });
    xhr.addEventListener("progress", wait);
    xhr.addEventListener("loadend", stop);
    wait();
  }

  // Sends a form whose answer is not shown. Gives the request when the answer is here.
  function post(action, body) {
    return new Promise((resolve, reject) => {
      const xhr = new XMLHttpRequest();
      xhr.open("POST", action);
      xhr.addEventListener("load", () => resolve(xhr));
      xhr.addEventListener("error", reject);
      endIfQuiet(xhr, reject);
      xhr.send(body);
    });
  }

  function onResponse(event) {
    const { status, responseText } = event.detail.xhr;
    if (isPage(status, responseText)) {
      document.querySelector(".lost")?.remove();
    } else {
      event.preventDefault(); // nothing on the page is replaced
      lose(event);
    }
  }

  function onLost({ target }) {
    const text = target.dataset.lost ?? document.body.dataset.lost;
    const before = document.querySelector(".lost");
    if (before?.textContent === text) return; // a screen reader would say it at each attempt
    before?.remove();
    const notice = document.createElement("p");
    notice.className = "reasons lost";
    notice.setAttribute("role", "alert");
    notice.textContent = text;
    const actions = document.querySelector(".actions");
    if (actions) actions.before(notice);
    else document.getElementById("main").prepend(notice);
  }

  document.addEventListener("htmx:beforeSend", (event) => endIfQuiet(event.detail.xhr, () => lose(event)));
  document.addEventListener("htmx:beforeOnLoad", onResponse);
  document.addEventListener("htmx:sendError", lose);
  document.addEventListener("wellput:lost", onLost);
  globalThis.wellputServer = { isPage, post };
})();
