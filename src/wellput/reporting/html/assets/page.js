/* Puts the page together. */

const CARDS = { chart: ChartCard, pairs: PairsCard };
const OPEN = new Set(["machines", "slices"]); // sections whose tables are shown at once
const NAVIGATION = { scores: "Scores", pairs: "Pairs", agreement: "People", judges: "Judges", slices: "Slices", machines: "Machines", metrics: "Metrics" };

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function tableElement(table) {
  const best = new Set(table.best.map(([row, column]) => `${row},${column}`));
  const texts = new Set(table.texts);
  const head = element("tr", {}, table.columns.map((name, j) => element("th", { scope: "col", class: texts.has(j) ? "text" : "" }, name)));
  const cell = (i) => (text, j) => (j ? element("td", { class: best.has(`${i},${j}`) ? "best" : texts.has(j) ? "text" : "" }, text) : element("th", { scope: "row" }, text));
  const rows = table.rows.map((row, i) => element("tr", {}, row.map(cell(i))));
  return [table.title ? element("h3", {}, table.title) : null,
    table.rows.length ? element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title || "Figures" }, element("table", {}, element("thead", {}, head), element("tbody", {}, rows))) : null,
    table.notes.map((note) => element("p", { class: "note" }, note))];
}

function sectionElement(section, cards) {
  const words = section.words.map((line) => element("p", { class: "words" }, line));
  const tables = section.tables.length ? element("details", { class: "card figures", ...(OPEN.has(section.name) ? { open: "" } : {}) }, element("summary", {}, "The figures as a table"), section.tables.map(tableElement)) : null;
  return element("section", { id: section.name }, element("h2", {}, section.title), words, cards.map((card) => card.element), tables);
}

function preferredTheme() {
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function setTheme(theme, cards) {
  document.documentElement.dataset.theme = theme;
  document.querySelector("#theme span").textContent = theme === "dark" ? "Light" : "Dark";
  return Promise.all(cards.map((card) => card.draw()));
}

async function showReport() {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  document.getElementById("title").textContent = data.title;
  document.getElementById("footer").textContent = `Made by wellput ${data.version}. This file is complete: it loads nothing from the network.`;
  const main = document.getElementById("main");
  const items = await unpacked(document.getElementById("report-items").textContent);
  const explorer = new Explorer(data, items);
  main.append(answerElement(data, explorer));
  const cards = [];
  for (const section of data.sections) {
    const own = section.charts.map((chart) => new CARDS[chart.kind](chart, data, items, explorer));
    cards.push(...own);
    main.append(sectionElement(section, own));
  }
  main.append(explorer.element);
  const links = [["answer", "Answer"], ...data.sections.map(({ name, title }) => [name, NAVIGATION[name] || title]), ["explorer", "Items"]];
  document.getElementById("contents").append(...links.map(([name, title]) => element("a", { href: `#${name}` }, title)));
  document.getElementById("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", cards));
  const header = document.querySelector(".top");
  new ResizeObserver(() => main.style.setProperty("--top", NARROW.matches ? "0px" : `${header.offsetHeight}px`)).observe(header);
  NARROW.addEventListener("change", () => cards.forEach((card) => card.draw()));
  await setTheme(preferredTheme(), cards);
  explorer.fill();
  explorer.follow();
  document.body.dataset.ready = "true";
}

showReport();
