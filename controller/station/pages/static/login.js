// Who are you: a name and a PIN by touch or keys, or a badge whose reader types its code.

import { el, fill, icon } from "./dom.js";
import { t } from "./texts.js";

const PIN_MIN = 6;
const PIN_MAX = 12;
const BADGE_MIN = 8;
const TYPED_APART_MS = 60;

export function askSecret(shell, reason, onIn) {
  const root = shell.doorstep;
  const role = shell.view.name;
  const said = el("p", { class: "said", role: "alert", text: t(`over.${reason}`) });
  const body = el("div", { class: "doorstep-body" });
  const title = el("h1", { text: t(`page.title_${role}`) });
  const environment = shell.house.environment;
  const banner = environment === "live" ? null
    : el("p", { class: "banner", role: "note" }, icon("ask"), el("strong", { text: t(`environment.${environment}`) }));
  fill(root, [el("section", { class: "doorstep-card", "aria-label": t("page.log_in") },
    el("p", { class: "table-name", text: shell.house.table }), title, banner, said, body)]);
  let isOut = true;

  const knock = async (form) => {
    const answer = await fetch(`/login/${role}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(form),
    }).catch(() => null);
    if (answer?.ok) {
      isOut = false;
      document.removeEventListener("keydown", typed, true);
      fill(root, []);
      onIn();
      return;
    }
    const why = answer ? await answer.json().catch(() => ({ reason: "MALFORMED" })) : null;
    said.classList.add("is-wrong");
    said.textContent = why ? t(`refusal.${why.reason}`, { n: why.wait_s }) : t("page.no_connection");
  };

  // A badge reader is a keyboard that types fast and ends with Enter.
  let code = "";
  let last = -1e9;
  let onDigit = null;
  const typed = (event) => {
    if (!isOut) return;
    const isFast = event.timeStamp - last < TYPED_APART_MS;
    last = event.timeStamp;
    if (event.key === "Enter" && isFast && code.length >= BADGE_MIN) {
      event.preventDefault();
      event.stopPropagation();
      const badge = code;
      code = "";
      onDigit?.("all");
      knock({ badge });
      return;
    }
    if (event.key.length === 1) {
      code = isFast ? code + event.key : event.key;
      if (/^[0-9]$/.test(event.key)) onDigit?.(event.key);
    } else onDigit?.(event.key);
  };
  document.addEventListener("keydown", typed, true);

  const askWho = () => {
    onDigit = null;
    const people = Object.entries(shell.house.people[role] ?? {}).sort((a, b) => a[1].localeCompare(b[1]));
    const tiles = people.map(([actor, name]) =>
      el("button", { type: "button", class: "button person", onclick: () => askPin(actor, name) },
        el("span", { class: "initial", text: [...name][0], "aria-hidden": "true" }), el("span", { text: name })));
    fill(body, [
      el("h2", { text: t("page.who_are_you") }),
      people.length ? el("div", { class: "people" }, ...tiles) : el("p", { text: t("page.nobody") }),
      el("p", { class: "hint", text: t("page.badge_hint") }),
    ]);
    tiles[0]?.focus();
  };

  const askPin = (actor, name) => {
    let pin = "";
    const dots = el("div", { class: "dots", role: "status" });
    const enter = el("button", { type: "button", class: "button primary", onclick: () => send() },
      icon("check"), el("span", { text: t("page.log_in") }));
    const show = () => {
      fill(dots, [...pin].map(() => el("span", { class: "dot" })));
      dots.setAttribute("aria-label", `${t("page.pin")}: ${pin.length}`);
      enter.disabled = pin.length < PIN_MIN;
    };
    const send = () => {
      if (pin.length < PIN_MIN) return;
      const form = { actor, pin };
      pin = "";
      show();
      knock(form);
    };
    const press = (key) => {
      if (key === "all") pin = "";
      else if (key === "Backspace") pin = pin.slice(0, -1);
      else if (key === "Enter") send();
      else if (key === "Escape") askWho();
      else if (/^[0-9]$/.test(key) && pin.length < PIN_MAX) pin += key;
      show();
    };
    const digit = (key) => el("button", { type: "button", class: "button digit", tabindex: -1, onclick: () => press(key) }, el("span", { text: key }));
    const erase = el("button", { type: "button", class: "button digit quiet", tabindex: -1, onclick: () => press("Backspace"), "aria-label": t("page.erase") }, icon("back"));
    const back = el("button", { type: "button", class: "button digit quiet", tabindex: -1, onclick: askWho, "aria-label": t("page.back") }, icon("cross"));
    onDigit = press;
    said.classList.remove("is-wrong");
    said.textContent = "";
    show();
    fill(body, [
      el("h2", { text: t("page.pin_of", { name }) }),
      dots,
      el("div", { class: "pad" }, ...[..."123456789"].map(digit), back, digit("0"), erase),
      enter,
    ]);
    document.activeElement?.blur();
  };

  askWho();
}
