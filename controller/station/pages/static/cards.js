// Cards, drawn here. The shape of a suit tells it apart; its colour only helps.

import { el, svg } from "./dom.js";
import { t } from "./texts.js";

const SUITS = {
  h: "M50 91C22 66 7 49 7 31 7 16 18 7 30 7c9 0 16 5 20 14 4-9 11-14 20-14 12 0 23 9 23 24 0 18-15 35-43 60z",
  d: "M50 3Q64 29 88 50 64 71 50 97 36 71 12 50 36 29 50 3z",
  s: "M50 4c11 20 42 34 42 57 0 14-11 23-23 23-7 0-13-3-16-8 1 9 5 15 12 20H35c7-5 11-11 12-20-3 5-9 8-16 8-12 0-23-9-23-23C8 38 39 24 50 4z",
  c: "M50 4c12 0 21 9 21 20 0 7-3 12-7 16 3-2 6-2 9-2 12 0 21 9 21 20s-9 21-21 21c-8 0-15-4-19-10 1 12 5 20 13 27H33c8-7 12-15 13-27-4 6-11 10-19 10C15 79 6 70 6 58s9-20 21-20c3 0 6 0 9 2-4-4-7-9-7-16C29 13 38 4 50 4z",
};

function suit(letter, x, y, size) {
  return svg("path", { d: SUITS[letter], transform: `translate(${x} ${y}) scale(${size / 100})` });
}

function face(letter) {
  return svg(
    "svg",
    { class: "face", viewBox: "0 0 100 140", "aria-hidden": "true" },
    svg("rect", { class: "paper", x: 1, y: 1, width: 98, height: 138, rx: 10 }),
    suit(letter, 7, 68, 56),
    suit(letter, 72, 112, 20),
  );
}

function rank(letter) {
  const isTen = letter === "T";
  return el("span", { class: isTen ? "rank ten" : "rank", "aria-hidden": "true", text: isTen ? "10" : letter });
}

function lattice() {
  const lines = [];
  for (let at = -140; at <= 100; at += 16) {
    lines.push(svg("path", { d: `M${at} 0l140 140M${at + 140} 0l-140 140` }));
  }
  return lines;
}

function back() {
  const inner = { x: 9, y: 9, width: 82, height: 122, rx: 5 };
  const clip = svg("svg", { x: 9, y: 9, width: 82, height: 122, viewBox: "9 9 82 122" }, ...lattice());
  return svg(
    "svg",
    { class: "face", viewBox: "0 0 100 140", "aria-hidden": "true" },
    svg("rect", { class: "paper", x: 1, y: 1, width: 98, height: 138, rx: 10 }),
    svg("rect", { class: "ground", ...inner }),
    svg("g", { class: "lattice" }, clip),
    svg("rect", { class: "frame", ...inner }),
    svg("circle", { class: "seal", cx: 50, cy: 70, r: 17 }),
    svg("path", { class: "mark", d: "M50 58l9 12-9 12-9-12z" }),
  );
}

export function cardName(code) {
  if (code === "back") return t("page.card_face_down");
  return t("page.card", { rank: t(`rank.${code[0]}`), suit: t(`suit.${code[1]}`) });
}

// A card as it lies: `Ah`, or `back` for one whose face nobody may know.
export function card(code, isFresh) {
  const kind = code === "back" ? "is-back" : `suit-${code[1]}`;
  const classes = `card ${kind}${isFresh ? " is-fresh" : ""}`;
  const drawn = code === "back" ? [back()] : [face(code[1]), rank(code[0])];
  return el("div", { class: classes, role: "img", "aria-label": cardName(code) }, ...drawn);
}

export function slot(isDue, n) {
  return el("div", { class: `card slot${isDue ? " is-due" : ""}`, "aria-hidden": "true" }, el("span", { text: n }));
}
