// What every page has: log-in, connection, cover, banner, settings, dialogs, presses. A page is one view on top:
//
//   start({ name: "dealer", mount(shell, root), render(shell, state), tick(shell, state) })
//
// `mount` builds the view once, `render` is called for every picture, `tick` ten times a second for what counts
// down. `state` is { me, hall, moment, view, isFirst }; see controller/station/pages/views.py for `view`.

import { el, fill, icon, setText } from "./dom.js";
import { Link } from "./link.js";
import { askSecret } from "./login.js";
import * as sound from "./sound.js";
import { about, choose, currentLanguage, languages, t } from "./texts.js";

const TICK_MS = 100;
const TOAST_MS = { accepted: 1200, refused: 6000, lost: 12000, note: 3000 };
const TYPED_APART_MS = 90; // Keys closer together are a badge reader, not a person.

const remembered = (name, otherwise) => localStorage.getItem(`tablectl.${name}`) ?? otherwise;

class Shell {
  constructor(view) {
    this.view = view;
    this.state = null;
    this.undoable = null;
    this.t = t;
    this.about = about;
    this.link = new Link(view.name, {
      shown: (state) => this.#shown(state),
      covered: (isCovered) => this.#covered(isCovered),
      over: (reason) => this.#over(reason),
    });
  }

  async begin() {
    await choose(remembered("language", navigator.language.slice(0, 2)));
    this.#settings();
    this.house = await (await fetch("/house")).json();
    document.title = `${t(`page.title_${this.view.name}`)} · ${this.house.table}`;
    this.#build();
    this.link.open();
    setInterval(() => this.state && !this.isCovered && this.view.tick?.(this, this.state), TICK_MS);
    document.addEventListener("pointerdown", sound.wake);
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  // Presses.

  // Send a command as it is meant now. With `undoMs` it can be taken back until then; it is dropped if the table
  // moves on meanwhile.
  async press(command, { undoMs = 0, label = t(`button.${command.command}`) } = {}) {
    const state = this.state;
    if (undoMs && !(await this.#mayStillBeTakenBack(label, undoMs))) return;
    if (this.state.moment !== state.moment && undoMs) {
      this.toast("refused", label, t("refusal.TABLE_MOVED_ON"));
      return;
    }
    await this.#tell(label, this.link.press(command, state));
  }

  async draw() {
    await this.#tell(t("button.draw"), this.link.draw(this.state));
  }

  async #tell(label, sent) {
    const { fate, reason } = await sent;
    if (fate === "accepted") this.toast("accepted", label, t("page.accepted"));
    else if (fate === "refused") {
      sound.play("refused");
      this.toast("refused", label, t(`refusal.${reason}`, { n: "" }));
    } else {
      sound.play("refused");
      this.toast("lost", label, t(`page.${fate}`));
    }
  }

  #mayStillBeTakenBack(label, undoMs) {
    this.undoable?.(false);
    return new Promise((decided) => {
      const bar = el("div", { class: "undo-bar" });
      const line = el("div", { class: "undo", role: "status" },
        el("span", { text: t("page.sending_in", { what: label }) }),
        el("button", { type: "button", class: "button", onclick: () => done(false) }, icon("back"),
          el("span", { text: t("page.take_back") }), el("kbd", { text: "Esc" })),
        bar);
      const done = (isSent) => {
        clearTimeout(timer);
        line.remove();
        this.undoable = null;
        if (!isSent) this.toast("note", label, t("page.taken_back"));
        decided(isSent);
      };
      const timer = setTimeout(() => done(true), undoMs);
      this.undoable = done;
      bar.style.animationDuration = `${undoMs}ms`;
      this.toasts.append(line);
    });
  }

  toast(fate, label, text) {
    const mark = { accepted: "check", refused: "stop", lost: "ask", note: "back" }[fate];
    const line = el("div", { class: `toast is-${fate}` }, icon(mark),
      el("div", {}, el("strong", { text: label }), el("span", { text })));
    for (const old of this.toasts.querySelectorAll(".toast.is-accepted")) old.remove();
    this.toasts.append(line);
    setTimeout(() => line.remove(), TOAST_MS[fate]);
  }

  sign(name) {
    sound.play(name);
  }

  now() {
    return this.link.now();
  }

  // Dialogs. `build(close)` returns what stands in it.

  dialog(title, build) {
    this.open?.close();
    const box = el("dialog", { class: "dialog", "aria-label": title });
    const close = () => box.close();
    box.append(
      el("header", {}, el("h2", { text: title }),
        el("button", { type: "button", class: "button quiet", onclick: close, "aria-label": t("page.close") }, icon("cross"))),
      el("div", { class: "dialog-body" }, ...build(close)),
    );
    box.addEventListener("close", () => {
      box.remove();
      if (this.open === box) this.open = null;
    });
    this.open = box;
    document.body.append(box);
    box.showModal();
    return close;
  }

  // What the page is made of.

  #build() {
    const { environment } = this.house;
    this.top = el("div", { class: "top-facts" });
    this.root = el("main", { class: "view", id: "view" });
    this.toasts = el("div", { class: "toasts", "aria-live": "polite" });
    this.cover = el("div", { class: "cover", role: "alert" }, icon("ask"),
      el("h1", { text: t("page.no_connection") }), el("p", { text: t("page.no_connection_hint") }));
    this.doorstep = el("div", { class: "doorstep", hidden: true });
    this.mute = el("button", { type: "button", class: "button quiet", onclick: () => this.#toggle("sound") });
    const settings = el("button", { type: "button", class: "button quiet", onclick: () => this.#askSettings(), "aria-label": t("page.settings") }, icon("gear"));
    const banner = environment === "live" ? null
      : el("div", { class: "banner", role: "note" }, icon("ask"), el("strong", { text: t(`environment.${environment}`) }));
    this.page = el("div", { class: "page" },
      el("header", { class: "top" }, el("span", { class: "table-name", text: this.house.table }), banner, this.top, this.mute, settings),
      this.root);
    document.body.classList.toggle("has-banner", environment !== "live");
    fill(document.body, [this.page, this.toasts, this.cover, this.doorstep]);
    this.#showMute();
    this.view.mount(this, this.root);
    this.#covered(true);
  }

  #shown(state) {
    const before = this.state;
    this.state = state;
    this.doorstep.hidden = true;
    this.view.render(this, state, state.isFirst ? null : before);
    this.view.tick?.(this, state);
  }

  #covered(isCovered) {
    this.isCovered = isCovered;
    this.cover.hidden = !isCovered || !this.doorstep.hidden;
    this.page.inert = isCovered;
    document.body.classList.toggle("is-covered", isCovered);
    if (isCovered) {
      this.open?.close();
      this.undoable?.(false);
    }
  }

  #over(reason) {
    this.open?.close();
    this.doorstep.hidden = false;
    this.cover.hidden = true;
    askSecret(this, reason, () => {
      this.doorstep.hidden = true;
      this.cover.hidden = false;
      this.link.open();
    });
  }

  async leave() {
    this.link.close();
    await fetch(`/logout/${this.view.name}`, { method: "POST" });
    this.#over("LOGGED_OUT");
  }

  // Settings stay with the browser.

  #settings() {
    sound.mute(remembered("sound", "on") === "off");
    document.body.classList.toggle("four-colours", remembered("four_colours", "off") === "on");
  }

  #toggle(name) {
    localStorage.setItem(`tablectl.${name}`, remembered(name, name === "sound" ? "on" : "off") === "on" ? "off" : "on");
    this.#settings();
    this.#showMute();
  }

  #showMute() {
    const isOn = remembered("sound", "on") === "on";
    fill(this.mute, [icon(isOn ? "sound" : "mute")]);
    this.mute.setAttribute("aria-label", `${t("page.sound")}: ${t(isOn ? "page.on" : "page.off")}`);
    this.mute.setAttribute("aria-pressed", String(isOn));
  }

  #askSettings() {
    this.dialog(t("page.settings"), (close) => {
      const row = (name) => {
        const isOn = () => remembered(name, name === "sound" ? "on" : "off") === "on";
        const value = el("span", { class: "value", text: t(isOn() ? "page.on" : "page.off") });
        const press = () => {
          this.#toggle(name);
          setText(value, t(isOn() ? "page.on" : "page.off"));
        };
        return el("button", { type: "button", class: "button wide", onclick: press }, el("span", { text: t(`page.${name}`) }), value);
      };
      const tongues = languages().map(([code, name]) =>
        el("button", { type: "button", class: "button", lang: code, "aria-pressed": String(code === currentLanguage()), onclick: () => this.#speak(code) }, el("span", { text: name })));
      const lock = el("button", { type: "button", class: "button wide", onclick: () => { close(); this.leave(); } }, icon("lock"), el("span", { text: t("page.lock_screen") }));
      return [row("sound"), row("four_colours"), el("div", { class: "choices" }, ...tongues), lock];
    });
  }

  #speak(code) {
    localStorage.setItem("tablectl.language", code);
    location.reload();
  }

  // Keys: each button may have one, written on it.

  #key(event) {
    sound.wake();
    if (event.key === "Escape" && this.undoable) this.undoable(false);
    if (this.open || this.isCovered || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    const isTyping = ["INPUT", "TEXTAREA"].includes(document.activeElement?.tagName);
    const isFast = event.timeStamp - (this.typedAt ?? -1e9) < TYPED_APART_MS;
    this.typedAt = event.timeStamp;
    clearTimeout(this.meant);
    if (isTyping || isFast) return;
    const wanted = event.code === "Space" ? "Space" : event.key.length === 1 ? event.code.replace(/^Key|^Digit/, "") : "";
    const button = wanted && this.root.querySelector(`button[data-key="${wanted}"]:not(:disabled)`);
    if (!button) return;
    event.preventDefault();
    button.focus();
    this.meant = setTimeout(() => button.isConnected && !this.isCovered && button.click(), TYPED_APART_MS);
  }
}

export function start(view) {
  new Shell(view).begin();
}

// A button of a page; `key` is its key on the keyboard.
export function button(label, onclick, { key, mark, kind = "" } = {}) {
  const hint = key ? el("kbd", { text: key === "Space" ? "␣" : key, "aria-hidden": "true" }) : null;
  return el("button", { type: "button", class: `button ${kind}`, onclick, "data-key": key, "aria-keyshortcuts": key },
    mark ? icon(mark) : null, el("span", { text: label }), hint);
}
