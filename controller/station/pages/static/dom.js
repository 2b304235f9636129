// Building the page: elements without markup, so that no text is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, attributes = {}, ...children) {
  return made(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return made(document.createElementNS(SVG, tag), attributes, children);
}

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

// Put `children` into `parent` in this order; what stays is not moved, so focus and animations live on.
export function fill(parent, children) {
  const wanted = children.filter(Boolean);
  const kept = new Set(wanted);
  for (const child of [...parent.childNodes]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, index) => {
    if (parent.childNodes[index] !== child) parent.insertBefore(child, parent.childNodes[index] ?? null);
  });
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const ICONS = {
  go: "M9 5l11 7-11 7z",
  ask: "M12 2 23 21H1z M11 9h2v6h-2z M11 16.5h2v2h-2z",
  stop: "M8 2h8l6 6v8l-6 6H8l-6-6V8z M7 10.5h10v3H7z",
  wait: "M6 2h12v4l-4 6 4 6v4H6v-4l4-6-4-6z",
  check: "M9.5 18.5 3 12l2-2 4.5 4.5L19 5l2 2z",
  cross: "M5 7l2-2 5 5 5-5 2 2-5 5 5 5-2 2-5-5-5 5-2-2 5-5z",
  equal: "M4 8h16v3H4z M4 14h16v3H4z",
  sound: "M3 9h4l6-5v16l-6-5H3z M16 8a5 5 0 0 1 0 8z M16 4a9 9 0 0 1 0 16v-2.5a6.500 6.500 0 0 0 0-11z",
  mute: "M3 9h4l6-5v16l-6-5H3z M15 9l1.500-1.500 2.500 2.500 2.500-2.500L23 9l-2.500 2.500L23 14l-1.500 1.500-2.500-2.500-2.500 2.500L15 14l2.500-2.500z",
  gear: "M10 2h4l.6 2.700 2 .9L19 4.100 21.900 7l-1.500 2.400.9 2.100L24 12v3l-2.700.6-.9 2L21.900 20 19 22l-2.400-1.500-2 .9L14 24h-4l-.6-2.600-2-.9L5 22l-2.900-2 1.500-2.400-.9-2L0 15v-3l2.700-.6.9-2L2.100 7 5 4.100l2.400 1.500 2-.9z M12 9a4 4 0 1 0 0 8 4 4 0 0 0 0-8z",
  lock: "M7 10V7a5 5 0 0 1 10 0v3h2v12H5V10z M9.500 10h5V7a2.500 2.500 0 0 0-5 0z",
  more: "M3 10h4v4H3z M10 10h4v4h-4z M17 10h4v4h-4z",
  back: "M10 4v5h5a6 6 0 0 1 0 12H7v-3h8a3 3 0 0 0 0-6h-5v5L2 10.500z",
};

export function icon(name) {
  const drawn = svg("path", { d: ICONS[name], "fill-rule": "evenodd" });
  return svg("svg", { class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, drawn);
}
