"use strict";
/* Elements made without markup: users' texts only ever become text. */

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(name, properties = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

/* An option is its value, [value, label], or { group, options }. */
function chooser(label, options, chosen, onchange) {
  const option = (entry) => {
    if (entry.group) return element("optgroup", { label: entry.group }, entry.options.map(option));
    const [value, shown] = Array.isArray(entry) ? entry : [entry, entry];
    const made = element("option", { value }, shown);
    made.selected = value === chosen;
    return made;
  };
  const select = element("select", { onchange: () => onchange(select.value) }, options.map(option));
  return element("label", {}, label, select);
}

function save(content, type, name) {
  const url = content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

function saveButton(label, give) {
  return element("button", { type: "button", class: "small", onclick: give, title: `Download as ${label}` }, label);
}

function asCsv(rows) {
  if (!rows.length) return "";
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function figure(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3).replace("-", "−");
}

const signed = (value) => (value > 0 ? `+${figure(value)}` : figure(value));
