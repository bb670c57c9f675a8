/* A reference over its output: a column for each step, and a curve from where a moved word was to where it is. */

const GLUE = "\u2060";
const MARKS = {
  ".": ["unchanged", ""], s: ["substituted", "≠"], d: ["deleted", "−"], i: ["inserted", "+"], m: ["moved", "↷"], M: ["moved", "↷"],
};

/* A text and its tokens come in one string; where one string cannot hold both, the tokens come beside the text. */
const wholeText = ({ text }) => text.replaceAll(GLUE, "");
const tokensOf = ({ text, tokens }) => tokens || text.split(new RegExp(`[ ${GLUE}]`, "u")).filter(Boolean);

const isDifferent = ({ marks }) => /[^.]/.test(marks);

function alignmentLegend() {
  return element("div", { class: "legend", "aria-label": "Legend" },
    ["s", "i", "d", "m"].map((mark) => {
      const [name, sign] = MARKS[mark];
      return element("span", { class: `step ${name} long` }, `${sign} ${name}`);
    }),
    element("span", {}, "Above: the reference’s word. Below: the output’s."));
}

function drawAlignment(alignment, reference, output) {
  const expected = tokensOf(reference);
  const found = tokensOf(output);
  const origin = new Map(alignment.moves || []);
  const steps = [];
  const sources = new Map();
  let left = 0;
  let right = 0;
  const arrivals = [];
  for (const mark of alignment.marks) {
    const [name, sign] = MARKS[mark];
    const hasLeft = ".sdm".includes(mark);
    const hasRight = ".siM".includes(mark);
    const step = element("span", { class: `step ${name}`, title: name === "unchanged" ? null : name },
      element("span", { class: "from" }, hasLeft && mark !== "." ? expected[left] : mark === "i" ? sign : ""),
      element("span", {}, hasRight ? found[right] : element("span", { class: "sign" }, sign)));
    if (Math.max((expected[left] || "").length, (found[right] || "").length) > 24) step.classList.add("long");
    if (mark === "m") sources.set(left, step);
    if (mark === "M") {
      step.title = `moved from place ${origin.get(right) + 1} of the reference`;
      arrivals.push([step, origin.get(right)]);
    }
    left += hasLeft;
    right += hasRight;
    steps.push(step);
  }
  const curves = drawn("svg", { "aria-hidden": "true" });
  const box = element("div", { class: arrivals.length ? "aligned has-moves" : "aligned" }, element("div", { class: "steps" }, steps), curves);
  const redraw = () => drawMoves(box, curves, arrivals.map(([step, from]) => [sources.get(from), step]));
  if (arrivals.length) new ResizeObserver(redraw).observe(box);
  return box;
}

function drawMoves(box, curves, pairs) {
  const frame = box.getBoundingClientRect();
  curves.replaceChildren();
  for (const [from, to] of pairs) {
    const [a, b] = [from, to].map((step) => step.getBoundingClientRect());
    const [x1, x2] = [a, b].map((rect) => rect.left + rect.width / 2 - frame.left);
    const [y1, y2] = [a, b].map((rect) => rect.top - frame.top);
    const rise = Math.min(y1, y2) - Math.min(18, 7 + Math.abs(x1 - x2) / 14);
    const path = drawn("path", { d: `M${x1},${y1} C${x1},${rise} ${x2},${rise} ${x2},${y2}` });
    const tip = drawn("path", { d: `M${x2 - 4},${y2 - 6} L${x2},${y2} L${x2 + 4},${y2 - 6}` });
    curves.append(path, tip);
    for (const step of [from, to]) {
      step.onmouseenter = () => path.classList.add("on");
      step.onmouseleave = () => path.classList.remove("on");
    }
  }
}
