// The table as it lies, and the line above it that says what is to be done now: for dealer and supervisor.

import { card, slot } from "./cards.js";
import { el, fill, icon, setText, svg } from "./dom.js";
import { about, has, t } from "./texts.js";

const QUESTIONS = ["SAME_CARD", "FACE_SEEN", "CARD_DRAWN", "ORDER_CERTAIN", "LATER_CARD", "MOVE_CARD", "WAS_DEALT", "CARD_READ_MEANWHILE"];
const STANDS = ["supervisor", "entry", "lost"];
const STANDING = ["UNBLOCK", "OTHER_SCANNER", "FREE_DISK", "SUPERVISOR_VERIFIES", "GONE_TOO_LONG"];
const WAITS = ["WAIT_FOR_FACTS", "WAIT_FOR_PLAYERS", "WAIT_FOR_SHOE", "WAIT_FOR_CONSUMERS", "PLACE_BETS", "PAUSED"];
const LONG = 34;
const LONGEST = 72;
const AROUND = 2 * Math.PI * 44;
const SHORT_S = 3;

export const isQuestion = (picture) => picture.incident_state === "question";

export function tone(picture) {
  if (STANDS.includes(picture.incident_state) || STANDING.includes(picture.prompt.code)) return "stop";
  if (picture.incident_state || QUESTIONS.includes(picture.prompt.code)) return "ask";
  return WAITS.includes(picture.prompt.code) ? "wait" : "go";
}

export function promptText(picture) {
  const { code, place, n } = picture.prompt;
  return has(`prompt.${code}`) ? about(`prompt.${code}`, place, n) : picture.prompt.text;
}

// How many cards lie, out of which a card that was taken is seen.
export function counted(picture) {
  const laid = Object.values(picture.places ?? {}).reduce((sum, cards) => sum + cards.length, 0);
  return { laid, burned: picture.burned_count ?? 0, held: picture.held_count ?? 0 };
}

// Returns { text, where } for the card that was taken between two pictures, null if none was.
export function takenBetween(before, picture) {
  if (!before || before.round_no !== picture.round_no || (before.deal ?? 1) !== (picture.deal ?? 1)) return null;
  const was = counted(before);
  const is = counted(picture);
  if (is.laid > was.laid) {
    const place = Object.keys(picture.places).find((name) => picture.places[name].length > (before.places?.[name]?.length ?? 0));
    return { text: t("page.card_taken"), where: `${t(`name.${place}`)} · ${picture.places[place].length}` };
  }
  if (is.burned > was.burned) return { text: t("page.card_burned"), where: `${t("name.burn")} · ${is.burned}` };
  if (is.held > was.held) return { text: t("page.card_held"), where: `${t("name.held")} · ${is.held}` };
  return null;
}

export class NowLine {
  constructor() {
    this.mark = el("div", { class: "now-mark" });
    this.case = el("div", { class: "now-case" });
    this.prompt = el("h1", { class: "now-prompt", "aria-live": "assertive" });
    this.tell = el("p", { class: "now-tell" });
    this.taken = el("div", { class: "taken", role: "status", hidden: true });
    this.left = svg("circle", { class: "left", cx: 50, cy: 50, r: 44 });
    this.count = el("span", { class: "count" });
    this.what = el("span", { class: "what" });
    this.ring = el("div", { class: "ring", role: "timer", hidden: true },
      svg("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, svg("circle", { cx: 50, cy: 50, r: 44 }), this.left),
      el("div", {}, this.count, this.what));
    this.node = el("section", { class: "now", "aria-label": t("page.next_action") }, this.mark,
      el("div", { class: "now-words" }, this.case, this.prompt, this.tell), this.taken, this.ring);
  }

  render({ view }) {
    const { picture } = view;
    const kind = tone(picture);
    this.node.className = `now is-${kind}`;
    this.node.dataset.code = picture.prompt.code;
    this.node.dataset.phase = picture.phase;
    if (this.kind !== kind) fill(this.mark, [icon(kind)]);
    this.kind = kind;
    const text = promptText(picture);
    setText(this.prompt, text);
    this.prompt.classList.toggle("is-long", text.length > LONG);
    this.prompt.classList.toggle("is-longest", text.length > LONGEST);
    fill(this.case, caseFacts(picture).map((fact) => (typeof fact === "string" ? el("span", { text: fact }) : fact)));
    const isAsked = STANDS.includes(picture.incident_state) && picture.reason;
    const announced = view.cancelled ? t(`announce.${view.cancelled}`) : isAsked ? t("page.tell_wait") : "";
    setText(this.tell, announced ? `${t("page.tell_players")}: ${announced}` : "");
    this.tell.hidden = !announced;
  }

  showTaken(taken) {
    fill(this.taken, [icon("check"), el("strong", { text: taken.text }), el("span", { text: taken.where })]);
    this.taken.hidden = false;
    this.taken.classList.remove("is-new");
    void this.taken.offsetWidth;
    this.taken.classList.add("is-new");
  }

  forgetTaken() {
    this.taken.hidden = true;
  }

  // Count down to the end of the window, or until the next card may come.
  tick(shell, { view }) {
    const { picture } = view;
    const window = picture.window?.is_open ? picture.window : null;
    const wait = picture.prompt.not_before_us ?? null;
    const ends = (window ? window.closes_at_us : wait ?? 0) / 1000;
    const left = ends - shell.now();
    const isShown = ends > 0 && left > 0;
    this.ring.hidden = !isShown;
    if (!isShown) return;
    const whole = window ? view.duration_ms ?? left : Math.max(left, 1000);
    const stage = window ? window.window.split("/").at(-1) : null;
    setText(this.count, String(Math.ceil(left / 1000)));
    setText(this.what, window ? windowName(stage) : t("page.card_can_come_in"));
    this.ring.classList.toggle("is-short", left < SHORT_S * 1000);
    this.left.style.strokeDasharray = left < SHORT_S * 1000 ? "" : `${AROUND}`;
    this.left.style.strokeDashoffset = `${AROUND * (1 - Math.min(1, left / whole))}`;
  }
}

export function windowName(stage) {
  return has(`page.window_${stage}`) ? t(`page.window_${stage}`) : stage;
}

function caseFacts(picture) {
  const facts = [];
  if (picture.incident_kind) {
    facts.push(el("strong", { text: `${t("page.incident")}: ${t(`incident.${picture.incident_kind}`)}` }));
    if (picture.reported_by) facts.push(t("page.reported_by", { name: picture.reported_by }));
    if (picture.entered_by) facts.push(t("page.entered_by", { name: picture.entered_by }));
    if (picture.escalated) facts.push(t("page.supervisor_called"));
  } else facts.push(t(`phase.${picture.phase}`));
  for (const one of picture.consumers ?? []) {
    if (one.must_acknowledge && one.behind) facts.push(t("page.behind", { name: one.name, n: one.behind }));
  }
  if (picture.read_meanwhile) facts.push(t("page.read_meanwhile", { n: picture.read_meanwhile }));
  if (picture.rescans_used) facts.push(t("page.rescans", { n: picture.rescans_used }));
  if ((picture.deal ?? 1) > 1) facts.push(t("page.deal_no", { n: picture.deal }));
  if (picture.paused && picture.phase !== "ready") facts.push(t("page.pause_to_come", { why: t(`reason.${picture.paused}`) }));
  if (picture.closing) facts.push(t("page.close_to_come", { why: t(`reason.${picture.closing}`) }));
  if (picture.blocked?.length && picture.phase !== "ready") facts.push(t("page.block_to_come"));
  if (picture.unlocked_by) facts.push(t("page.unlocked_by", { name: picture.unlocked_by }));
  if (picture.last_round === picture.round_no && picture.round_no) facts.push(t("page.last_round"));
  if (picture.worn?.length) facts.push(t("page.worn", { what: picture.worn.join(", ") }));
  return facts;
}

export class Felt {
  constructor(hall) {
    this.hall = hall;
    this.isCoup = hall.places.includes("player");
    this.size = this.isCoup ? 3 : 5;
    this.places = new Map();
    const boxes = hall.places.filter((place) => place !== "dealer");
    const near = this.isCoup ? [] : ["dealer", ...(hall.has_switch ? ["switch"] : [])];
    this.coup = el("div", { class: "coup", "aria-live": "polite" });
    this.burned = pile("burn");
    this.held = pile("held");
    this.node = el("section", { class: `felt${this.isCoup ? " is-coup" : ""}` },
      el("div", { class: "row" }, ...boxes.map((place) => this.#place(place))),
      el("div", { class: "row" }, ...near.map((place) => this.#place(place)), this.isCoup ? this.coup : null,
        el("div", { class: "piles" }, this.burned.node, this.held.node)));
  }

  #place(place) {
    const parts = {
      note: el("span", { class: "note" }),
      cards: el("div", { class: "cards" }),
      result: el("div", { class: "place-result" }),
      shown: [],
    };
    parts.node = el("section", { class: "place", "data-place": place, "aria-label": t(`name.${place}`) },
      el("div", { class: "place-inner" },
        el("div", { class: "place-name" }, el("span", { text: t(`name.${place}`) }), parts.note), parts.cards, parts.result));
    this.places.set(place, parts);
    return parts.node;
  }

  render({ view }, before) {
    const { picture } = view;
    const hasResult = ["result_proposed", "confirmed"].includes(picture.phase) && Boolean(view.result);
    this.node.classList.toggle("has-result", hasResult);
    for (const [place, parts] of this.places) this.#show(place, parts, view, before?.view.picture, hasResult);
    this.burned.show(picture.burned_count ?? 0);
    this.held.show(picture.held_count ?? 0);
    setText(this.coup, hasResult && view.result.coup ? t(`winner.${view.result.coup.winner}`) : "");
  }

  #show(place, parts, view, before, hasResult) {
    const { picture } = view;
    const codes = picture.places?.[place] ?? [];
    const known = before?.round_no === picture.round_no ? before?.places?.[place] ?? [] : null;
    const isPrompted = picture.prompt.place === place;
    const isNext = isPrompted && picture.prompt.code === "DEAL_CARD";
    const wasFresh = (index) => known !== null && index >= known.length;
    const keys = codes.map((code, index) => `${picture.round_no}/${picture.deal ?? 1}/${index}/${code}`);
    const count = Math.max(this.size, codes.length);
    for (let index = codes.length; index < count; index++) keys.push(`slot/${index}/${isNext && picture.prompt.n === index + 1}`);
    const aside = view.laid_aside?.[place] ?? [];
    const nodes = keys.map((key, index) => {
      const kept = parts.shown[index];
      if (kept?.key === key) return kept;
      const node = index < codes.length ? card(codes[index], wasFresh(index)) : slot(isNext && picture.prompt.n === index + 1, index + 1);
      return { key, node };
    });
    nodes.forEach(({ node }, index) => {
      node.classList.toggle("is-aside", aside.includes(index + 1));
      node.classList.toggle("is-meant", isPrompted && index < codes.length && picture.prompt.n === index + 1);
    });
    parts.shown = nodes;
    fill(parts.cards, nodes.map(({ node }) => node));
    parts.node.classList.toggle("cards-3", this.size === 3);
    parts.node.classList.toggle("cards-6", count > 5);
    parts.node.classList.toggle("is-due", isPrompted);
    parts.node.classList.toggle("is-voided", Boolean(view.voided?.includes(place)));
    setText(parts.note, noteOf(place, view, hasResult));
    fill(parts.result, resultOf(place, view, hasResult));
  }
}

export function noteOf(place, view, hasResult) {
  if (view.voided?.includes(place)) return t("page.voided");
  const decided = view.decisions?.[place];
  if (decided && !hasResult) return t(`decision.${decided}`);
  const box = hasResult ? view.result.boxes.find((one) => one.box === place) : null;
  return box?.is_empty ? t("page.empty_box") : "";
}

function kinds(combinations) {
  const names = (combinations ?? []).filter(Boolean).map((one) => t(`kind.${one.kind}`));
  return names.length ? names.join(" + ") : t("kind.NONE");
}

const VERDICTS = {
  vs_dealer_win: ["is-win", "check"],
  vs_dealer_lose: ["is-lose", "cross"],
  vs_dealer_tie: ["is-tie", "equal"],
  dealer_not_qualified: ["is-tie", "equal"],
};

function verdict(kind, mark, text) {
  return el("span", { class: `verdict ${kind}` }, icon(mark), el("span", { text }));
}

export function resultOf(place, view, hasResult) {
  const hand = view.hands?.[place];
  const points = hand && hand.total !== undefined && hand.total !== null ? t("page.points", { n: hand.total }) : null;
  if (!hasResult) {
    if (points) return [el("span", { class: "kind", text: points })];
    return hand ? [el("span", { class: "kind", text: kinds(hand.combinations) })] : [];
  }
  const { result } = view;
  if (place === "dealer" && result.dealer) {
    const isIn = result.dealer.qualified;
    return [isIn ? el("span", { class: "kind", text: kinds([result.dealer.combination]) }) : null,
      verdict(isIn ? "is-win" : "is-tie", isIn ? "check" : "equal", t(isIn ? "page.qualifies" : "page.not_qualifies"))];
  }
  if (result.coup && ["player", "banker"].includes(place)) {
    return [el("span", { class: "kind", text: t("page.points", { n: result.coup[place].total }) })];
  }
  const box = result.boxes.find((one) => one.box === place);
  if (!box || box.is_empty) return [];
  const judged = VERDICTS[box.comparison];
  return [el("span", { class: "kind", text: kinds(box.combinations) }),
    judged ? verdict(...judged, t(`comparison.${box.comparison}`)) : null];
}

function pile(name) {
  const count = el("span", { class: "count" });
  const top = el("div", {});
  let shown = -1;
  const node = el("section", { class: "place is-pile", "data-place": name, "aria-label": t(`name.${name}`) },
    el("div", { class: "place-inner" }, el("div", { class: "place-name" }, el("span", { text: t(`name.${name}`) })),
      el("div", { class: "pile" }, top, count)));
  return {
    node,
    show(number) {
      if (number === shown) return;
      const isFresh = shown >= 0 && number > shown;
      shown = number;
      setText(count, String(number));
      fill(top, [number ? card("back", isFresh) : slot(false, "")]);
    },
  };
}

// Facts of the top line.
export function topFacts({ hall, view }) {
  const { picture } = view;
  const fact = (label, value, kind = "", mark = null) =>
    el("span", { class: `fact ${kind}` }, mark ? icon(mark) : null, el("span", { class: "label", text: label }), el("span", { class: "value", text: value }));
  const down = picture.scanners_down;
  const scanners = hall.scanners.length === 1
    ? [fact(t("page.scanner"), t(down.length ? "page.gone" : "page.connected"), down.length ? "is-bad" : "is-good", down.length ? "cross" : "check")]
    : hall.scanners.map((name) => fact(name, t(down.includes(name) ? "page.gone" : "page.connected"), down.includes(name) ? "is-bad" : "is-good", down.includes(name) ? "cross" : "check"));
  return [
    fact(t("page.round"), picture.roundid ? String(picture.round_no) : "–"),
    fact(t("page.deck_no"), picture.deck ?? "–"),
    fact(t("page.dealer_on_duty"), view.dealer_name ?? picture.dealer ?? t("page.nobody_on_duty"), picture.dealer ? "" : "is-bad", picture.dealer ? null : "cross"),
    ...scanners,
  ];
}
