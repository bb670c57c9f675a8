/* Puts the page together. */

async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function tableElement(table) {
  const best = new Set(table.best.map(([row, column]) => `${row},${column}`));
  const head = element("tr", {}, table.columns.map((name) => element("th", { scope: "col" }, name)));
  const rows = table.rows.map((row, i) => element("tr", {}, row.map((cell, j) => element("td", { class: best.has(`${i},${j}`) ? "best" : "" }, cell))));
  return [table.title ? element("h3", {}, table.title) : null,
    table.rows.length ? element("div", { class: "scroll" }, element("table", {}, element("thead", {}, head), element("tbody", {}, rows))) : null,
    table.notes.map((note) => element("p", { class: "note" }, note))];
}

function sectionElement(section, cards) {
  const words = section.words.length ? element("div", { class: "card verdict" }, section.words.map((line) => element("p", {}, line))) : null;
  const tables = section.tables.length ? element("details", { class: "card figures" }, element("summary", {}, "The figures as a table"), section.tables.map(tableElement)) : null;
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
  document.getElementById("footer").textContent = `Made by wellput ${data.version}. This file holds all it shows and asks the network for nothing.`;
  const main = document.getElementById("main");
  const items = await unpacked(document.getElementById("report-items").textContent);
  const cards = [];
  for (const section of data.sections) {
    const own = section.charts.map((chart) => new ChartCard(chart, data, items));
    cards.push(...own);
    main.append(sectionElement(section, own));
  }
  const explorer = new Explorer(data, items);
  main.append(explorer.element);
  const links = [...data.sections.map(({ name, title }) => [name, title]), ["explorer", "Items"]];
  document.getElementById("contents").append(...links.map(([name, title]) => element("a", { href: `#${name}` }, title)));
  document.getElementById("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark", cards));
  const header = document.querySelector(".top");
  new ResizeObserver(() => main.style.setProperty("--top", NARROW.matches ? "0px" : `${header.offsetHeight}px`)).observe(header);
  NARROW.addEventListener("change", () => cards.forEach((card) => card.draw()));
  await setTheme(preferredTheme(), cards);
  explorer.fill();
  document.body.dataset.ready = "true";
}

showReport();
