// The dealer's page: the table, the one next action, and the buttons that are allowed now.

import { card, cardName } from "./cards.js";
import { el, fill, icon } from "./dom.js";
import { button, start } from "./shell.js";
import { t } from "./texts.js";
import { Felt, NowLine, isQuestion, takenBetween, topFacts } from "./table.js";

const UNDO_MS = 1500;

// The press that a prompt asks for.
const ASKED = {
  OPEN_TABLE: "open_table",
  LOAD_DECK: "load_deck",
  ACCEPT_DECK: "load_deck",
  VERIFY_DECK: "verify_deck",
  COUNT_STUB: "count_stub",
  SHUFFLE: "confirm_shuffle",
  REDEAL: "confirm_shuffle",
  START: "open_betting",
  FREE_DISK: "open_betting",
  PLACE_BETS: "close_betting",
  TURN: "turn_cards",
  LAY_ASIDE: "lay_card_aside",
  CONFIRM_RESULT: "confirm_result",
  CLEAR_TABLE: "clear_table",
  CONFIRM_PICTURE: "confirm_picture",
  ENTER_CARD: "enter_card",
  ENTER_DRAWN_CARD: "enter_card",
  CALL_SUPERVISOR: "withdraw_report",
  UNBLOCK: "unblock",
  PAUSED: "resume_table",
};
// What stands beside it whenever it is allowed; the rest is under "More".
const BESIDE = ["dispute_reading", "call_surplus"];
const KEYS = { dispute_reading: "R", call_surplus: "B" };
const MARKS = { dispute_reading: "back", call_surplus: "stop" };
const NOT_LISTED = ["answer_question", "observed", "turn_cards", "lay_card_aside", "confirm_picture", "enter_card"];
const DECK = [..."shdc"].flatMap((suit) => [..."AKQJT98765432"].map((rank) => rank + suit));
const HALTS = ["BREAK", "SHIFT_END", "DECK_CHANGE", "TECHNICAL", "ORDERED"];
const CHANGES = ["CHANGED", "INTEGRITY"];

class DealerPage {
  name = "dealer";

  mount(shell, root) {
    this.line = new NowLine();
    this.main = el("div", { class: "main" });
    this.aside = el("div", { class: "aside" });
    this.actions = el("section", { class: "actions" }, this.main, this.aside);
    this.table = el("div", { class: "felt" });
    fill(root, [this.line.node, this.table, this.actions]);
  }

  render(shell, state, before) {
    if (!this.felt) {
      this.felt = new Felt(state.hall);
      this.table.replaceWith(this.felt.node);
    }
    const { picture } = state.view;
    const taken = takenBetween(before?.view.picture, picture);
    this.line.render(state);
    if (taken) this.line.showTaken(taken);
    else if (!picture.roundid) this.line.forgetTaken();
    this.felt.render(state, before);
    fill(shell.top, topFacts(state));
    this.#signs(shell, before?.view.picture, picture, taken);
    this.#buttons(shell, state);
  }

  tick(shell, state) {
    this.line.tick(shell, state);
  }

  #signs(shell, before, picture, taken) {
    if (taken) shell.sign("taken");
    if (before && picture.incident_kind && before.prompt.incident !== picture.prompt.incident) shell.sign("attention");
    if (before && before.phase !== picture.phase && picture.phase === "result_proposed") shell.sign("result");
  }

  // Buttons are made anew only when what they mean has changed, so that no finger misses one.
  #buttons(shell, state) {
    const { picture, buttons } = state.view;
    const key = JSON.stringify([state.moment, buttons, picture.reports, state.hall.draws]);
    if (key === this.key) return;
    this.key = key;
    shell.open?.close();
    const may = (name) => buttons.includes(name);
    const asked = ASKED[picture.prompt.code];
    const main = this.#asked(shell, state, may(asked) ? asked : null);
    if (!main.length) main.push(el("p", { class: "idle" }, icon(scans(picture) ? "go" : "wait"), el("span", { text: t(scans(picture) ? "page.scan_now" : "page.please_wait") })));
    fill(this.main, main);
    const beside = BESIDE.filter((name) => may(name)).map((name) =>
      button(t(`button.${name}`), () => shell.press({ command: name }), { key: KEYS[name], mark: MARKS[name], kind: "warn" }));
    if (state.hall.draws && picture.roundid && !scans(picture)) {
      beside.unshift(button(t("button.draw"), () => shell.draw(), { key: "D", mark: "go", kind: "warn" }));
    }
    const reports = picture.reports ?? [];
    if (may("observed")) {
      beside.push(button(t("page.what_happened"), () => askReport(shell, state, reports), { key: "H", mark: "ask", kind: "warn" }));
      if (picture.roundid && reports.some((kind) => state.hall.cancels[kind])) {
        beside.push(button(t("page.ask_cancel"), () => askCancel(shell, state, reports), { key: "C", mark: "stop", kind: "danger" }));
      }
    }
    const others = buttons.filter((name) => name !== asked && !BESIDE.includes(name) && !NOT_LISTED.includes(name));
    beside.push(button(t("page.more"), () => askMore(shell, state, others), { key: "M", mark: "more" }));
    fill(this.aside, beside);
  }

  #asked(shell, state, asked) {
    const { picture, buttons } = state.view;
    const { place, incident } = picture.prompt;
    if (isQuestion(picture) && buttons.includes("answer_question")) {
      const answer = (yes) => () => shell.press({ command: "answer_question", incident, yes }, { label: t(yes ? "page.yes" : "page.no") });
      return [button(t("page.yes"), answer(true), { key: "Y", mark: "check", kind: "answer" }), button(t("page.no"), answer(false), { key: "N", mark: "cross", kind: "answer" })];
    }
    const found = [];
    if (asked) {
      const mark = asked === "withdraw_report" ? "back" : "check";
      const kind = asked === "withdraw_report" ? "" : "primary";
      found.push(button(t(`button.${asked}`), () => obey(shell, state, asked, place), { key: "Space", mark, kind }));
    }
    if (state.hall.draws && scans(picture)) found.push(button(t("button.draw"), () => shell.draw(), { key: asked ? "D" : "Space", mark: "go", kind: "primary" }));
    return found;
  }
}

function scans(picture) {
  return /^(LOAD_DECK|DEAL_CARD|BURN_|SHOW_FIRST|SCAN_|SHOW_CARD)/.test(picture.prompt.code);
}

// Do what a button says; some presses want to know more first, and the weighty ones can be taken back for a moment.
function obey(shell, state, name, place) {
  const { picture } = state.view;
  switch (name) {
    case "turn_cards":
      return shell.press({ command: name, place });
    case "confirm_result":
    case "close_table":
    case "clear_table":
      return shell.press({ command: name }, { undoMs: UNDO_MS });
    case "confirm_picture":
      return shell.press({ command: name, picture: picture.lies }, { undoMs: UNDO_MS });
    case "verify_deck":
    case "count_stub":
      return askCount(shell, name, name === "verify_deck" ? state.hall.deck_size : null);
    case "load_deck":
      return askDeck(shell, state);
    case "enter_card":
      return askCard(shell, picture.prompt.incident);
    case "change_deck":
      return askReason(shell, name, CHANGES);
    case "pause_table":
    case "close_after_round":
      return askReason(shell, name, HALTS);
    case "log_out":
      return shell.press({ command: name }, { undoMs: UNDO_MS });
    default:
      return shell.press({ command: name });
  }
}

// A report: what happened, and where.
function askReport(shell, state, kinds) {
  shell.dialog(t("page.what_happened"), (close) => [
    el("div", { class: "choices" }, ...kinds.map((kind) =>
      button(t(`incident.${kind}`), () => askWhere(shell, state, kind, t("page.what_happened"), null)))),
    button(t("page.close"), close, { mark: "back" }),
  ]);
}

function askCancel(shell, state, kinds) {
  const listed = kinds.filter((kind) => state.hall.cancels[kind]);
  shell.dialog(t("page.ask_cancel"), (close) => [
    el("h3", { text: t("page.cancel_hint") }),
    el("div", { class: "choices" }, ...listed.map((kind) =>
      button(t(`incident.${kind}`), () => askWhere(shell, state, kind, t("page.ask_cancel"), state.hall.cancels[kind]), { kind: "danger" }))),
    button(t("page.close"), close, { mark: "back" }),
  ]);
}

function askWhere(shell, state, kind, title, reason) {
  const places = [...state.hall.places, ...(state.hall.has_switch ? ["switch"] : []), "burn"];
  const send = (close, place) => {
    close();
    shell.press({ command: "observed", kind, ...(place ? { place } : {}) }, { undoMs: UNDO_MS, label: t(`incident.${kind}`) });
  };
  shell.dialog(title, (close) => [
    el("h3", { text: `${t(`incident.${kind}`)}. ${t("page.where")}` }),
    reason ? el("div", { class: "tell" }, el("strong", { text: t("page.tell_players") }), el("q", { text: t(`announce.${reason}`) })) : null,
    el("div", { class: "choices" }, ...places.map((place) => button(t(`name.${place}`), () => send(close, place))),
      button(t("name.table"), () => send(close, null), { mark: "ask" })),
    button(t("page.close"), close, { mark: "back" }),
  ].filter(Boolean));
}

function askReason(shell, name, reasons) {
  shell.dialog(t(`button.${name}`), (close) => [
    el("h3", { text: t("page.why") }),
    el("div", { class: "choices" }, ...reasons.map((reason) =>
      button(t(`reason.${reason}`), () => { close(); shell.press({ command: name, reason }); }))),
  ]);
}

function askCount(shell, name, usual) {
  shell.dialog(t(`button.${name}`), (close) => {
    const field = el("input", { class: "field", inputmode: "numeric", maxlength: 3, autocomplete: "off", "aria-label": t("page.how_many"), value: usual ?? "" });
    const send = () => {
      const count = Number.parseInt(field.value, 10);
      if (!(count >= 0)) return;
      close();
      shell.press({ command: name, count });
    };
    const press = (digit) => { field.value = `${field.value}${digit}`.slice(0, 3); };
    field.addEventListener("keydown", (event) => event.key === "Enter" && send());
    return [
      el("h3", { text: t("page.how_many") }), field,
      el("div", { class: "pad large" }, ...[..."123456789"].map((digit) => button(digit, () => press(digit), { kind: "digit" })),
        el("button", { type: "button", class: "button digit", "aria-label": t("page.erase"), onclick: () => { field.value = field.value.slice(0, -1); } }, icon("back")),
        button("0", () => press("0"), { kind: "digit" }),
        el("button", { type: "button", class: "button digit primary", "aria-label": t("page.send"), onclick: send }, icon("check"))),
    ];
  });
}

function askDeck(shell, state) {
  shell.dialog(t("button.load_deck"), (close) => {
    const receipt = el("input", { class: "field", maxlength: 32, autocomplete: "off", "aria-label": t("page.receipt") });
    const send = (deck) => {
      if (!receipt.value) return receipt.focus();
      close();
      return shell.press({ command: "load_deck", deck, receipt: receipt.value });
    };
    return [el("h3", { text: t("page.receipt") }), receipt, el("h3", { text: t("page.which_deck") }),
      el("div", { class: "choices" }, ...state.hall.decks.map((deck) => button(deck, () => send(deck), { kind: "primary" })))];
  });
}

function askCard(shell, incident) {
  shell.dialog(t("page.which_card"), (close) => [
    el("div", { class: "deck-grid" }, ...DECK.map((code) =>
      el("button", { type: "button", class: "button", "aria-label": cardName(code), onclick: () => { close(); shell.press({ command: "enter_card", incident, card: code }, { undoMs: UNDO_MS, label: cardName(code) }); } }, card(code)))),
  ]);
}

function askMore(shell, state, names) {
  shell.dialog(t("page.more"), (close) => [
    el("div", { class: "choices" },
      ...names.map((name) => button(t(`button.${name}`), () => { close(); obey(shell, state, name, null); })),
      button(t("button.log_out"), () => { close(); obey(shell, state, "log_out", null); }, { mark: "lock" }),
      button(t("page.relief"), () => { close(); shell.leave(); }, { mark: "lock" })),
    el("p", { class: "hint", text: t("page.relief_hint") }),
  ]);
}

start(new DealerPage());
