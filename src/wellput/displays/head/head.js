// The talking head: <wellput-head data-performance='{"words": …}' data-audio="URL">.
// A performance has words, motions and mouth with their times in seconds. The face depends only on
// the time (`poseAt`), so that seeking, playing and testing show the same face.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const RISE = 0.18; // seconds from rest to the peak of a motion
  const FALL = 0.24; // and back
  const NOD = 0.5; // a nod lasts this long at most, even on long words
  const NAMES = {
    "nd=d": "nod", "nd=u": "nod up", "bw=u": "brows up", "bw=d": "brows down", "sq": "squint",
    "ln=l": "lean left", "ln=r": "lean right", "tn=l": "turn left", "tn=r": "turn right",
  };
  let heads = 0;

  const ease = (x) => (x <= 0 ? 0 : x >= 1 ? 1 : x * x * (3 - 2 * x));

  // How far a motion has gone at a time, 0 to 1.
  function level([motion, start, end], time) {
    const last = motion.startsWith("nd") ? Math.min(end, start + NOD) : Math.max(end, start + RISE);
    const back = motion.startsWith("nd") ? Math.max(last - FALL, start + RISE) : last;
    return ease((time - start) / RISE) * (1 - ease((time - back) / FALL));
  }

  // The face at a time. Positive turns and leans are to the head's own left.
  function poseAt(show, time) {
    const pose = { nod: 0, turn: 0, lean: 0, brow: 0, squint: 0, open: 0, round: 0, blink: 0 };
    for (const motion of show.motions) {
      const amount = level(motion, time);
      if (!amount) continue;
      const [kind, way] = motion[0].split("=");
      const sign = way === "d" || way === "r" ? -1 : 1;
      if (kind === "nd") pose.nod += amount * sign;
      else if (kind === "bw") pose.brow += amount * sign;
      else if (kind === "sq") pose.squint += amount;
      else if (kind === "ln") pose.lean += amount * sign;
      else if (kind === "tn") pose.turn += amount * sign;
    }
    for (const name of ["nod", "turn", "lean", "brow", "squint"]) {
      pose[name] = Math.max(-1, Math.min(1, pose[name]));
    }
    [pose.open, pose.round] = mouthAt(show.mouth, time);
    const since = (time + 0.7) % 3.3; // blinks come at the same times in every showing
    pose.blink = since < 0.16 && time > 1 ? Math.sin((since / 0.16) * Math.PI) : 0;
    return pose;
  }

  function mouthAt(frames, time) {
    if (!frames.length || time < frames[0][0] || time > frames.at(-1)[0]) return [0, 0];
    let low = 0;
    let high = frames.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (frames[middle][0] <= time) low = middle; else high = middle;
    }
    const [a, b] = [frames[low], frames[high]];
    if (b[0] - a[0] > 0.14 && a[1] <= 0.1 && b[1] <= 0.1) return [0, 0]; // a pause
    const share = b[0] > a[0] ? ease((time - a[0]) / (b[0] - a[0])) : 0;
    return [a[1] + (b[1] - a[1]) * share, a[2] + (b[2] - a[2]) * share];
  }

  function draw(parent, name, attributes, ...children) {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    for (const child of children) node.append(child);
    parent?.append(node);
    return node;
  }

  // Draws the face once. Returns the function that puts it into a pose.
  function drawFace(parent) {
    const id = `wp-head-${(heads += 1)}`;
    const svg = draw(parent, "svg", { viewBox: "0 0 320 340", class: "face", "aria-hidden": "true" });
    const defs = draw(svg, "defs", {});
    const shade = (name, ...stops) => {
      const gradient = draw(defs, "linearGradient", { id: `${id}-${name}`, x1: 0, y1: 0, x2: 0, y2: 1 });
      stops.forEach((color, place) => {
        draw(gradient, "stop", { offset: place / (stops.length - 1), "stop-color": color });
      });
      return `url(#${id}-${name})`;
    };
    const skin = shade("skin", "#f3c9a5", "#e8b48c");
    const hair = shade("hair", "#5a3d2b", "#3d281b");
    const shirt = shade("shirt", "#2f8377", "#1d5f56");
    draw(svg, "rect", { width: 320, height: 340, rx: 18, class: "backdrop" });

    const body = draw(svg, "g", {});
    draw(body, "path", { d: "M28 344 C34 286 86 272 126 262 L194 262 C234 272 286 286 292 344 Z", fill: shirt });
    draw(body, "path", { d: "M118 264 C130 292 190 292 202 264 L196 256 L124 256 Z", fill: "#d99f77" });
    const head = draw(svg, "g", { "data-part": "head" });
    draw(head, "path", { d: "M132 214 L132 262 C140 284 180 284 188 262 L188 214 Z", fill: "#dca67e" });
    const back = draw(head, "path", { d: "M82 148 C76 62 126 34 160 34 C194 34 244 62 238 148 C238 184 230 196 222 202 L98 202 C90 196 82 184 82 148 Z", fill: hair });
    const ears = draw(head, "g", {});
    for (const x of [88, 232]) {
      draw(ears, "ellipse", { cx: x, cy: 156, rx: 11, ry: 18, fill: "#e3ae86" });
      draw(ears, "ellipse", { cx: x, cy: 157, rx: 5, ry: 10, fill: "#cf9871" });
    }
    const outline = "M92 132 C92 80 122 58 160 58 C198 58 228 80 228 132 C228 186 204 238 160 240 C116 238 92 186 92 132 Z";
    draw(draw(defs, "clipPath", { id: `${id}-face` }), "path", { d: outline });
    const face = draw(head, "g", { "clip-path": `url(#${id}-face)` });
    draw(face, "path", { d: outline, fill: skin });
    const cheeks = draw(face, "g", { opacity: 0.32 });
    for (const x of [118, 202]) draw(cheeks, "ellipse", { cx: x, cy: 184, rx: 16, ry: 10, fill: "#e58f7b" });

    const eyes = [-1, 1].map((side) => {
      const x = 160 + side * 31;
      const eye = draw(head, "g", { "data-part": "eye" });
      const clip = draw(defs, "clipPath", { id: `${id}-eye${side}` });
      draw(clip, "path", { d: `M${x - 17} 147 C${x - 9} 133 ${x + 9} 133 ${x + 17} 147 C${x + 9} 158 ${x - 9} 158 ${x - 17} 147 Z` });
      const inside = draw(eye, "g", { "clip-path": `url(#${id}-eye${side})` });
      draw(inside, "rect", { x: x - 20, y: 126, width: 40, height: 40, fill: "#fffdf8" });
      const iris = draw(inside, "g", {});
      draw(iris, "circle", { cx: x, cy: 146, r: 8.6, fill: "#4d7a6b" });
      draw(iris, "circle", { cx: x, cy: 146, r: 4.2, fill: "#1c2422" });
      draw(iris, "circle", { cx: x + 3, cy: 142.5, r: 2, fill: "#ffffff" });
      const upper = draw(inside, "path", { d: `M${x - 24} 90 H${x + 24} V136 C${x + 9} 126 ${x - 9} 126 ${x - 24} 136 Z`, fill: "#e3ae86" });
      const lower = draw(inside, "path", { d: `M${x - 24} 200 H${x + 24} V156 C${x + 9} 163 ${x - 9} 163 ${x - 24} 156 Z`, fill: "#e8b890" });
      const lash = draw(eye, "path", { d: "", fill: "none", stroke: "#3d281b", "stroke-width": 2.6, "stroke-linecap": "round" });
      return { side, x, eye, iris, upper, lower, lash };
    });
    const nose = draw(head, "path", { d: "M158 146 C156 164 150 174 151 181 C153 188 167 188 170 181", fill: "none", stroke: "#c98f68", "stroke-width": 3, "stroke-linecap": "round" });
    const mouth = draw(head, "g", { "data-part": "mouth" });
    const inner = draw(mouth, "path", { fill: "#6b2b2a" });
    const teeth = draw(mouth, "path", { fill: "#fff8f0" });
    const lips = draw(mouth, "path", { fill: "none", stroke: "#b9605a", "stroke-width": 4, "stroke-linejoin": "round", "stroke-linecap": "round" });
    const fringe = draw(head, "path", { d: "M88 140 C82 90 104 48 160 46 C216 48 238 90 232 140 C229 116 220 98 208 88 C184 97 138 97 122 80 C110 92 94 108 88 140 Z", fill: hair });
    const brows = [-1, 1].map((side) => ({
      side,
      path: draw(head, "path", { "data-part": "brow", fill: "none", stroke: "#4a3122", "stroke-width": 6, "stroke-linecap": "round" }),
    }));

    return (pose) => {
      const side = pose.turn * 24; // the head's own left is on the viewer's right
      const dip = -pose.nod; // down is positive on the screen
      const move = (node, x, y) => node.setAttribute("transform", `translate(${x.toFixed(2)} ${y.toFixed(2)})`);
      head.setAttribute("transform", `translate(${(pose.lean * 16 + side * 0.2).toFixed(2)} ${(dip * 9).toFixed(2)}) rotate(${(pose.lean * 11).toFixed(2)} 160 262)`);
      body.setAttribute("transform", `translate(${(pose.lean * 5).toFixed(2)} 0)`);
      move(back, -side * 0.12, -dip * 2);
      move(ears, -side * 0.22, -dip * 7);
      move(face, side * 0.28, 0);
      move(cheeks, side * 0.5, dip * 8);
      move(nose, side * 1.3, dip * 13);
      move(fringe, side * 0.26, dip * 8);
      const lid = Math.max(pose.blink, pose.squint * 0.4);
      for (const each of eyes) {
        const narrow = 1 - 0.2 * Math.max(0, each.side * pose.turn);
        const x = side + each.x * (1 - narrow);
        each.eye.setAttribute("transform", `translate(${x.toFixed(2)} ${(dip * 11).toFixed(2)}) scale(${narrow.toFixed(3)} 1)`);
        move(each.iris, pose.turn * -3, dip * -3);
        move(each.upper, 0, lid * 22);
        move(each.lower, 0, pose.squint * -6 - pose.blink * 2);
        const y = 147 + lid * 7;
        const bow = 13.5 * (1 - lid * 1.05);
        each.lash.setAttribute("d", `M${each.x - 17} ${y} C${each.x - 9} ${y - bow} ${each.x + 9} ${y - bow} ${each.x + 17} ${y}`);
      }
      for (const { side: at, path } of brows) {
        const up = Math.max(0, pose.brow);
        const down = Math.max(0, -pose.brow);
        const y = 121 - up * 13 + down * 10 + pose.squint * 3 + dip * 10;
        const x = 160 + side;
        const tilt = down * 8 - up * 2 + pose.squint * 2;
        const narrow = 1 - 0.2 * Math.max(0, at * pose.turn);
        const [near, mid, far] = [13, 31, 51].map((reach) => x + at * reach * narrow);
        path.setAttribute("d", `M${near} ${y + tilt} Q${mid} ${y - 8 - up * 3 + down * 3} ${far} ${y + 2 - down * 2}`);
      }
      const wide = 25 - pose.round * 13 - pose.open * 2;
      const open = pose.open * 15;
      const [cx, cy] = [160 + side * 1.05, 208 + dip * 9];
      const rest = (1 - Math.min(1, pose.open * 3)) * 4; // the smile of a closed mouth
      const [l, r] = [cx - wide, cx + wide];
      const corner = cy - rest;
      const shape = `M${l} ${corner} Q${cx} ${cy - open * 0.55 + rest} ${r} ${corner} Q${cx} ${cy + open * 1.5 + rest} ${l} ${corner} Z`;
      lips.setAttribute("d", shape);
      inner.setAttribute("d", shape);
      const bite = Math.min(open * 0.4, 4);
      teeth.setAttribute("d", open < 3 ? "" : `M${l + 5} ${corner} Q${cx} ${cy - open * 0.5 + 1} ${r - 5} ${corner} Q${cx} ${cy - open * 0.5 + bite * 2} ${l + 5} ${corner} Z`);
    };
  }

  function element(parent, name, attributes, text) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  class Head extends HTMLElement {
    connectedCallback() {
      if (this.show) return; // moved within the page
      this.show = JSON.parse(this.dataset.performance);
      this.time = 0;
      this.isPlaying = false;
      this.pose = drawFace(this);
      this.caption = element(this, "p", { class: "caption", "aria-live": "off" });
      this.spoken = this.show.words.map(([word], place) => {
        if (place && /[\p{L}\p{N}]/u.test(word)) this.caption.append(" "); // none before a comma
        return element(this.caption, "span", {}, word);
      });
      this.drawControls();
      if (this.dataset.timeline !== "no") this.drawTimeline();
      if (this.isSounding) {
        this.audio = new Audio(this.dataset.audio);
        this.audio.preload = "auto";
      }
      this.showAt(0);
    }

    disconnectedCallback() {
      this.pause();
    }

    get isSounding() {
      return Boolean(this.dataset.audio) && this.show.heard !== false;
    }

    drawControls() {
      const bar = element(this, "div", { class: "controls" });
      this.button = element(bar, "button", { type: "button", class: "play" }, "Play");
      this.button.addEventListener("click", () => (this.isPlaying ? this.pause() : this.play()));
      const again = element(bar, "button", { type: "button", class: "replay" }, "Replay");
      again.addEventListener("click", () => { this.seek(0); this.play(); });
      const captions = element(bar, "button", { type: "button", class: "captions", "aria-pressed": "true" }, "Captions");
      captions.addEventListener("click", () => {
        this.caption.hidden = !this.caption.hidden;
        captions.setAttribute("aria-pressed", String(!this.caption.hidden));
      });
      if (!this.isSounding) element(bar, "span", { class: "silent" }, "without sound");
    }

    drawTimeline() {
      const line = element(this, "div", { class: "timeline" });
      const at = (node, start, end) => {
        node.style.left = `${(100 * start) / this.show.duration}%`;
        node.style.width = `${(100 * Math.max(end - start, 0.02)) / this.show.duration}%`;
      };
      const words = element(line, "div", { class: "row words" });
      for (const [word, start, end] of this.show.words) at(element(words, "span", { title: word }, word), start, end);
      const rows = []; // a motion goes into the first row that is free
      for (const [motion, start, end] of this.show.motions) {
        let row = rows.find((each) => each.end <= start + 1e-6);
        if (!row) rows.push((row = { node: element(line, "div", { class: "row" }), end: 0 }));
        row.end = end;
        at(element(row.node, "span", { class: `motion ${motion.slice(0, 2)}`, title: `${NAMES[motion]}, ${start.toFixed(2)} s` }, NAMES[motion]), start, end);
      }
      this.cursor = element(line, "div", { class: "cursor" });
      line.addEventListener("click", (event) => {
        const box = line.getBoundingClientRect();
        this.seek((this.show.duration * (event.clientX - box.left)) / box.width);
      });
    }

    showAt(time) {
      this.time = time;
      this.pose(poseAt(this.show, time));
      this.show.words.forEach(([, start, end], place) => {
        this.spoken[place].classList.toggle("now", this.isPlaying && start <= time && time < end);
      });
      if (this.cursor) this.cursor.style.left = `${(100 * Math.min(time, this.show.duration)) / this.show.duration}%`;
    }

    seek(time) {
      this.began = performance.now() - time * 1000;
      if (this.audio) this.audio.currentTime = time;
      this.showAt(time);
    }

    async play() {
      if (this.isPlaying) return;
      document.querySelectorAll("wellput-head").forEach((other) => other !== this && other.pause?.());
      if (this.time >= this.show.duration) this.seek(0);
      this.isPlaying = true;
      this.button.textContent = "Pause";
      const from = this.time;
      this.isHeard = false;
      if (this.audio) {
        this.audio.currentTime = from;
        try {
          await this.audio.play();
          this.isHeard = true;
        } catch {
          this.isHeard = false; // no sound: the face continues without it
        }
      }
      if (!this.isPlaying) return;
      this.began = performance.now() - from * 1000;
      this.dispatchEvent(new CustomEvent("began", { bubbles: true }));
      this.frame = requestAnimationFrame(() => this.tick());
    }

    tick() {
      if (!this.isPlaying) return;
      let time = (performance.now() - this.began) / 1000;
      if (this.isHeard && !this.audio.ended && Math.abs(this.audio.currentTime - time) > 0.03) {
        time = this.audio.currentTime; // the face follows the sound: people notice gaps in sound more
        this.began = performance.now() - time * 1000;
      }
      this.showAt(time);
      if (time >= this.show.duration + FALL) this.stop();
      else this.frame = requestAnimationFrame(() => this.tick());
    }

    pause() {
      if (!this.isPlaying) return;
      this.isPlaying = false;
      cancelAnimationFrame(this.frame);
      this.audio?.pause();
      this.button.textContent = "Play";
    }

    stop() {
      this.pause();
      this.seek(0);
      this.dispatchEvent(new CustomEvent("ended", { bubbles: true }));
    }
  }

  if (!customElements.get("wellput-head")) customElements.define("wellput-head", Head);
})();
