// The overlay over the stream. What it hears is held until the video shows it: `/overlay?delay=2500&lang=ru`.

import { card } from "./cards.js";
import { el, fill, icon, setText } from "./dom.js";
import { Link } from "./link.js";
import { noteOf, resultOf, windowName } from "./table.js";
import { choose, t } from "./texts.js";

const TICK_MS = 40;
const DELAY_MS_MAX = 60000;
const SHORT_MS = 3000;
const STANDS_MS = 12000; // So long a result stands: nobody tells viewers when the cards are collected.
const PLAYED = ["betting", "dealing", "deciding", "result_proposed"];
const OVER = ["confirmed", "cancelled"];
const asked = new URLSearchParams(location.search);

class Overlay {
  constructor() {
    this.heldBack = []; // { at, state }: what the video does not show yet.
    this.drawn = null;
    this.places = new Map();
    this.link = new Link("overlay", {
      shown: (state) => this.#hold(state),
      covered: (isCovered) => isCovered && this.#vanish(),
      over: () => this.#vanish(),
    });
  }

  async begin() {
    await choose(asked.get("lang") ?? "en");
    document.title = t("overlay.title");
    this.#build();
    this.link.open();
    setInterval(() => this.#tick(), TICK_MS);
  }

  // Time.

  #delay(hall) {
    const wanted = Number.parseInt(asked.get("delay") ?? hall.delay_ms, 10);
    return Math.min(Math.max(Number.isNaN(wanted) ? hall.delay_ms : wanted, 0), DELAY_MS_MAX);
  }

  // What happened long ago is on the video already; nothing waits for longer than the delay.
  #hold(state) {
    const now = this.link.now();
    this.delay = this.#delay(state.hall);
    this.heldBack.push({ at: Math.min(state.view.happened_us / 1000, now) + this.delay, state });
    this.#tick();
  }

  #tick() {
    let due = null;
    while (this.heldBack.length && this.heldBack[0].at <= this.link.now()) due = this.heldBack.shift().state;
    if (due) this.#show(due);
    if (!this.drawn) return;
    this.#countDown(this.drawn.view.window);
    this.#clear(this.drawn.view);
  }

  // Without a sign of life nothing is shown: an old table must never look like the one of now.
  #vanish() {
    this.heldBack = [];
    this.drawn = null;
    this.echoed = null;
    this.root?.classList.add("is-gone");
  }

  // Drawing.

  #build() {
    this.banner = el("div", { class: "plate source", role: "note", hidden: true });
    this.table = el("strong", { class: "table-name" });
    this.round = el("span", { class: "round" });
    this.dealer = el("span", { class: "dealer" });
    this.rules = el("span", { class: "rules" });
    this.corrected = el("div", { class: "plate corrected", hidden: true }, icon("ask"), el("span", { text: t("overlay.corrected") }));
    this.ribbon = el("div", { class: "plate ribbon", role: "status", hidden: true });
    this.what = el("span", { class: "what" });
    this.left = el("span", { class: "left" });
    this.bar = el("div", { class: "bar" });
    this.clock = el("div", { class: "plate clock", role: "timer", hidden: true },
      el("div", { class: "clock-words" }, this.what, this.left), el("div", { class: "rail" }, this.bar));
    this.board = el("div", { class: "board" });
    this.root = el("main", { class: "overlay is-gone" },
      el("div", { class: "head" },
        el("div", { class: "plate facts" }, this.table, this.round, this.dealer, this.rules), this.corrected, this.banner),
      el("div", { class: "foot" }, el("div", { class: "words" }, this.ribbon, this.clock), this.board));
    fill(document.body, [this.root]);
  }

  #furnish(hall) {
    if (this.places.size) return;
    const isCoup = hall.places.includes("player");
    const dealers = isCoup ? [] : ["dealer", ...(hall.has_switch ? ["switch"] : [])];
    const names = [...hall.places.filter((name) => !["dealer", "switch"].includes(name)), ...dealers];
    for (const name of names) {
      const parts = {
        note: el("span", { class: "note" }),
        cards: el("div", { class: "cards" }),
        result: el("div", { class: "result" }),
        shown: [],
      };
      parts.node = el("section", { class: `plate place place-${name}`, "data-place": name, "aria-label": t(`name.${name}`) },
        el("div", { class: "place-name" }, el("span", { text: t(`name.${name}`) }), parts.note), parts.cards, parts.result);
      this.places.set(name, parts);
    }
    this.board.classList.toggle("is-coup", isCoup);
    this.board.classList.add(`has-${names.length}`);
    fill(this.board, [...this.places.values()].map(({ node }) => node));
  }

  #show({ hall, view }) {
    const before = this.drawn?.view ?? null;
    this.drawn = { hall, view };
    this.#furnish(hall);
    this.#showHead(hall, view);
    this.#end(view);
    for (const [name, parts] of this.places) this.#showPlace(name, parts, view, before);
    this.root.dataset.phase = view.phase;
    this.root.dataset.round = view.round_no;
    this.root.classList.remove("is-gone");
    this.#echo(view.rules);
  }

  #showHead(hall, view) {
    setText(this.table, hall.table);
    setText(this.round, view.round_no ? `${t("page.round")} ${view.round_no}` : t("page.no_round"));
    setText(this.dealer, view.dealer_name ? `${t("page.dealer_on_duty")}: ${view.dealer_name}` : "");
    setText(this.rules, view.rules ? `${t("overlay.rules")} ${view.rules.slice(0, 8)}` : "");
    this.corrected.hidden = !view.corrected;
    const isLive = hall.environment === "live";
    this.banner.hidden = isLive;
    if (!isLive) setText(this.banner, t(`environment.${hall.environment}`));
  }

  // A round that has ended stands for a while from then on, and once more when it is corrected.
  #end(view) {
    const end = OVER.includes(view.phase) ? `${view.round_no}/${view.phase}/${view.corrected}` : null;
    if (end && end !== this.end) this.clearsAt = Math.min(view.happened_us / 1000, this.link.now()) + this.delay + STANDS_MS;
    this.end = end;
    this.isCleared = null;
    this.#clear(view);
  }

  #clear(view) {
    const isCleared = this.end !== null && this.link.now() > this.clearsAt;
    if (isCleared === this.isCleared) return;
    this.isCleared = isCleared;
    this.board.classList.toggle("is-empty", isCleared || !(OVER.includes(view.phase) || PLAYED.includes(view.phase)));
    this.#showRibbon(isCleared && !view.held && !view.paused ? { kind: "calm", text: t("overlay.ready") } : said(view));
  }

  #showRibbon({ kind, mark, text, more }) {
    this.ribbon.hidden = !text;
    this.ribbon.className = `plate ribbon is-${kind}`;
    fill(this.ribbon, [mark ? icon(mark) : null, el("strong", { text }), more ? el("span", { text: more }) : null]);
  }

  #showPlace(name, parts, view, before) {
    const codes = view.places?.[name] ?? [];
    const isSameDeal = before?.round_no === view.round_no && (before?.deal ?? 1) === (view.deal ?? 1);
    const known = isSameDeal ? before.places?.[name] ?? [] : codes;
    parts.shown = codes.map((code, index) => {
      const key = `${view.round_no}/${view.deal ?? 1}/${index}/${code}`;
      const kept = parts.shown[index];
      return kept?.key === key ? kept : { key, node: card(code, isSameDeal && index >= known.length) };
    });
    const aside = view.laid_aside?.[name] ?? [];
    parts.shown.forEach(({ node }, index) => node.classList.toggle("is-aside", aside.includes(index + 1)));
    fill(parts.cards, parts.shown.map(({ node }) => node));
    const hasResult = Boolean(view.result) && !view.refunded;
    parts.node.classList.toggle("has-6", codes.length > 5);
    parts.node.classList.toggle("is-voided", Boolean(view.voided?.includes(name)));
    parts.node.classList.toggle("is-winner", hasResult && view.result.coup?.winner === name.toUpperCase());
    setText(parts.note, noteOf(name, view, hasResult));
    fill(parts.result, view.cancelled ? [] : resultOf(name, view, hasResult));
  }

  // The video is behind by the delay, and so is its clock.
  #countDown(window) {
    const left = window ? window.closes_at_us / 1000 - (this.link.now() - this.delay) : 0;
    const isOpen = left > 0 && !this.drawn.view.held;
    this.clock.hidden = !isOpen;
    this.root.classList.toggle("has-clock", isOpen);
    if (!isOpen) return;
    setText(this.what, windowName(window.stage));
    setText(this.left, String(Math.ceil(left / 1000)));
    this.bar.style.transform = `scaleX(${Math.min(1, left / window.duration_ms)})`;
    this.clock.classList.toggle("is-short", left < SHORT_MS);
  }

  // Tell the table under which rules the round is that stands here now.
  #echo(rules) {
    if (rules && rules !== this.echoed && this.link.tell({ frame: "echo", rules })) this.echoed = rules;
  }
}

// The one line for viewers: { kind, mark, text, more }.
function said(view) {
  if (view.cancelled) return { kind: "stop", mark: "stop", text: t("phase.cancelled"), more: t(`announce.${view.cancelled}`) };
  if (view.held) return { kind: "ask", mark: "wait", text: t("page.please_wait"), more: t("overlay.being_checked") };
  if (view.result && view.refunded) return { kind: "ask", mark: "ask", text: t("overlay.refunded") };
  if (view.result?.coup) return { kind: "result", mark: "check", text: t(`winner.${view.result.coup.winner}`) };
  if (view.result) return { kind: "result", mark: "check", text: t("page.result") };
  if (view.window) return { kind: "calm", text: "" };
  if (view.paused) return { kind: "calm", mark: "wait", text: t("overlay.paused") };
  if (view.phase === "shuffling" && (view.deal ?? 1) > 1) return { kind: "ask", mark: "ask", text: t("overlay.redealt") };
  return { kind: "calm", text: view.phase ? t(`overlay.${view.phase}`) : "" };
}

new Overlay().begin();
