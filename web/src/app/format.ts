import type { Language } from "../../../src/words/words.ts";
import { timeUnits } from "../words/units.ts";

/** Numbers and times as people of a language write them. */
const locales: Readonly<Record<Language, string>> = { en: "en", zh: "zh-CN" };

const made = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

function numbers(language: Language, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = `n${language}${JSON.stringify(options)}`;
  const known = made.get(key);
  if (known instanceof Intl.NumberFormat) return known;
  const format = new Intl.NumberFormat(locales[language], options);
  made.set(key, format);
  return format;
}

function times(language: Language, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `t${language}${JSON.stringify(options)}`;
  const known = made.get(key);
  if (known instanceof Intl.DateTimeFormat) return known;
  const format = new Intl.DateTimeFormat(locales[language], options);
  made.set(key, format);
  return format;
}

/** `0.2 s`, `11 s`, `1 m 12 s`. */
export function durationText(ms: number, language: Language): string {
  const { second, minute, hour } = timeUnits[language];
  const seconds = ms / 1000;
  if (seconds < 0.1) return `< ${numbers(language, { maximumFractionDigits: 1 }).format(0.1)} ${second}`;
  if (seconds < 10) return `${numbers(language, { maximumFractionDigits: 1 }).format(seconds)} ${second}`;
  if (seconds < 60) return `${Math.round(seconds)} ${second}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} ${minute} ${Math.floor(seconds % 60)} ${second}`;
  return `${Math.floor(minutes / 60)} ${hour} ${minutes % 60} ${minute}`;
}

/** `12k`, in Chinese by ten thousands. */
export function countText(count: number, language: Language): string {
  return numbers(language, { notation: "compact", maximumFractionDigits: 1 }).format(count);
}

export function bytesText(bytes: number, language: Language): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  const value = numbers(language, { maximumFractionDigits: power === 0 ? 0 : 1 }).format(bytes / 1024 ** power);
  return `${value} ${units[power]}`;
}

/** Of today only the time, else the day, too. */
export function timeText(at: number, language: Language): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const clock = { hour: "2-digit", minute: "2-digit" } as const;
  return times(language, isToday ? clock : { month: "short", day: "numeric", ...clock }).format(at);
}

/** All of it, with the zone. */
export function fullTimeText(at: number, language: Language): string {
  return times(language, { dateStyle: "full", timeStyle: "long" }).format(at);
}

/** US dollars, by the cent; of less than a cent what there is. */
export function moneyText(dollars: number, language: Language): string {
  const maximumFractionDigits = dollars !== 0 && dollars < 0.01 ? 5 : 2;
  return numbers(language, { style: "currency", currency: "USD", maximumFractionDigits }).format(dollars);
}
