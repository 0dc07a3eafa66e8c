// Words, numbers, money and times in the language that was chosen.

import {language as chosen} from "./memory.js";

export const LANGUAGES = {en: "English", ar: "العربية", ja: "日本語", pt: "Português"};
// Numbers, money and times are written as where the words are from.
const LOCALES = {pt: "pt-PT"};
const RIGHT_TO_LEFT = new Set(["ar"]);
// Minor units: the booking system's own table; browsers' tables differ from it in places.
const NO_DECIMALS = new Set("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" "));
const THREE_DECIMALS = new Set("BHD IQD JOD KWD LYD OMR TND".split(" "));

let table = {};
let language = "en";
let locale = "en";
let plurals = new Intl.PluralRules("en");

export function preferred() {
  const wished = [chosen.read(), ...(navigator.languages ?? [])];
  return wished.map((one) => String(one).slice(0, 2).toLowerCase()).find((one) => one in LANGUAGES) ?? "en";
}

// Speak this language from now on; the document says so too.
export async function speak(wanted) {
  ({default: table} = await import(`./words_${wanted}.js`));
  language = wanted;
  locale = LOCALES[wanted] ?? wanted;
  plurals = new Intl.PluralRules(locale);
  document.documentElement.lang = wanted;
  document.documentElement.dir = RIGHT_TO_LEFT.has(wanted) ? "rtl" : "ltr";
}

export const spoken = () => language;

// The text of this name, `{…}` filled in; `count` chooses among the forms of a number.
export function say(name, values = {}) {
  let text = table[name];
  if (text === undefined) throw new Error(`no words for ${name}`);
  if (typeof text === "object") text = text[plurals.select(values.count)] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (_, key) => {
    const value = values[key];
    return typeof value === "number" ? number(value) : String(value);
  });
}

export const knows = (name) => name in table;

export const number = (value) => new Intl.NumberFormat(locale).format(value);

export function decimals(currency) {
  return NO_DECIMALS.has(currency) ? 0 : THREE_DECIMALS.has(currency) ? 3 : 2;
}

export function money(minor, currency) {
  const digits = decimals(currency);
  return new Intl.NumberFormat(locale, {
    style: "currency", currency, minimumFractionDigits: digits, maximumFractionDigits: digits,
  }).format(minor / 10 ** digits);
}

// An instant on the venue's calendar and clock.
export function instant(iso, zone) {
  return new Intl.DateTimeFormat(locale, {dateStyle: "full", timeStyle: "short", timeZone: zone}).format(new Date(iso));
}

export function clock(iso) {
  return new Intl.DateTimeFormat(locale, {dateStyle: "medium", timeStyle: "medium"}).format(new Date(iso));
}

// mm:ss, digits of the language.
export function countdown(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  const two = new Intl.NumberFormat(locale, {minimumIntegerDigits: 2, useGrouping: false});
  const hours = Math.floor(whole / 3600);
  return (hours ? `${two.format(hours)}:` : "") + `${two.format(Math.floor(whole / 60) % 60)}:${two.format(whole % 60)}`;
}

// A range of seconds as people say it: "3–5 minutes".
export function range(low, high) {
  const [unit, size] = high < 90 ? ["second", 10] : high < 5400 ? ["minute", 60] : ["hour", 3600];
  const [from, to] = unit === "second"
    ? [Math.floor(low / size) * size, Math.ceil(high / size) * size]
    : [Math.floor(low / size), Math.ceil(high / size)];
  const words = new Intl.NumberFormat(locale, {style: "unit", unit, unitDisplay: "long"});
  return from === to || !words.formatRange ? words.format(to) : words.formatRange(from, to);
}
