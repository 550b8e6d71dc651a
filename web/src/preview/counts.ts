import type { Language } from "../../../src/words/words.ts";

const formats = { en: new Intl.NumberFormat("en"), zh: new Intl.NumberFormat("zh-CN") };

export function countOf(count: number, language: Language): string {
  return formats[language].format(count);
}
