"use strict";
/* Elements without markup: what users brought only ever becomes text. */

function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(name, properties = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function chooser(label, options, chosen, onchange) {
  const select = element("select", { onchange: () => onchange(select.value) });
  for (const option of options) {
    const [value, shown] = Array.isArray(option) ? option : [option, option];
    const made = element("option", { value }, shown);
    made.selected = value === chosen;
    select.append(made);
  }
  return element("label", {}, label, select);
}

function save(content, type, name) {
  const url = content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content], { type }));
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
}

function figure(value) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3).replace("-", "−");
}
