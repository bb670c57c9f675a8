/* A reference's dependency tree as arcs over its words; heights come with the tree. */

const FONT = 14;
const GAP = 20;
const RISE = 24;
let pen = null;

function textWidth(text, size) {
  pen = pen || document.createElement("canvas").getContext("2d");
  pen.font = `${size}px system-ui, "Noto Sans", "DejaVu Sans", sans-serif`;
  return pen.measureText(text).width;
}

function drawTree(tree, wrongHeads) {
  const { words, heads, heights } = tree;
  const relations = tree.relations || words.map(() => "");
  const tags = tree.tags || words.map(() => "");
  const widths = words.map((word, place) => Math.max(textWidth(word, FONT), textWidth(tags[place], 11)));
  heads.forEach((head, place) => {
    if (head < 0 || Math.abs(head - place) !== 1) return;
    const missing = textWidth(relations[place], 11) + 26 - (widths[head] + widths[place]) / 2 - GAP;
    if (missing > 0) [head, place].forEach((word) => { widths[word] += missing; });
  });
  let end = 8;
  const middles = widths.map((width) => { end += width + GAP; return end - GAP - width / 2; });
  const floor = 26 + Math.max(0, ...heights) * RISE;
  const svg = drawn("svg", { width: end, viewBox: `0 0 ${end} ${floor + 42}`, style: `min-width: ${end * 0.7}px`, role: "img", "aria-label": "Dependency tree" });
  const wrong = new Set(wrongHeads);
  heads.forEach((head, place) => {
    if (head < 0) return;
    const look = wrong.has(head) ? "wrong" : "";
    const start = middles[head] + (place > head ? 6 : -6);
    const to = middles[place];
    const top = floor - heights[place] * RISE;
    const bend = Math.min(9, Math.abs(to - start) / 2) * Math.sign(to - start);
    svg.append(drawn("path", { class: look, d: `M${start},${floor} V${top + Math.abs(bend)} Q${start},${top} ${start + bend},${top} H${to - bend} Q${to},${top} ${to},${top + Math.abs(bend)} V${floor - 5}` }));
    svg.append(drawn("path", { class: `head ${look}`, d: `M${to},${floor} l-3.5,-7 h7 z` }));
    svg.append(drawn("text", { class: "quiet", x: (start + to) / 2, y: top - 4, "text-anchor": "middle" }, relations[place]));
  });
  words.forEach((word, place) => {
    const look = wrong.has(place) ? "wrong" : "";
    svg.append(drawn("text", { class: look, x: middles[place], y: floor + 16, "text-anchor": "middle" }, word));
    svg.append(drawn("text", { class: "quiet", x: middles[place], y: floor + 32, "text-anchor": "middle" }, tags[place]));
  });
  return element("div", { class: "tree" }, svg);
}

function drawTreelets(treelets, tree) {
  const wrong = treelets.wrong || [];
  const lines = wrong.map((treelet) => element("li", {}, `treelet of ${tree.words[treelet.head]}: `, treelet.expected, " → ",
    treelet.found || "(nothing)", " ", element("em", {}, `(${treelet.errors})`)));
  if (treelets.loose) lines.push(element("li", {}, `in no treelet: ${treelets.loose} `, element("em", {}, "(inserted)")));
  const words = lines.length ? element("ul", { class: "treelets" }, lines) : element("p", { class: "note" }, "Every treelet is as in the reference.");
  return [drawTree(tree, wrong.map((treelet) => treelet.head)), words];
}
