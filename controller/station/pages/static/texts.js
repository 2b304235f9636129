// The table of texts of the language that was chosen; every text has a dotted key.

const LANGUAGES = { en: "English", ru: "Русский" };
let language = "en";
let texts = {};

export const languages = () => Object.entries(LANGUAGES);
export const currentLanguage = () => language;

export async function choose(wanted) {
  language = wanted in LANGUAGES ? wanted : "en";
  const answer = await fetch(`/texts/${language}`);
  texts = await answer.json();
  document.documentElement.lang = language;
}

export function has(key) {
  return key in texts;
}

// A key without a text is shown as it stands: a reason that is newer than the page is still a reason.
export function t(key, values = {}) {
  const text = texts[key] ?? key.slice(key.indexOf(".") + 1);
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

// A text about a place, in the forms that its sentence needs.
export function about(key, place, n) {
  const where = place ?? "table";
  return t(key, {
    place: t(`place.${where}`),
    to: t(`to.${where}`),
    of: t(`of.${where}`),
    n: n ?? "",
  });
}
