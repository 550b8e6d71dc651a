import { createContext, useContext } from "react";
import type { Language } from "../../../src/words/words.ts";
import type { en } from "./en.ts";

/** Every text of the browser app; the English file is the shape, so a missing key does not compile. */
export type Words = typeof en;

/** Only the language that is shown is loaded. */
export async function loadWords(language: Language): Promise<Words> {
  return language === "zh" ? (await import("./zh.ts")).zh : (await import("./en.ts")).en;
}

export const WordsContext = createContext<Words | undefined>(undefined);

export function useWords(): Words {
  const words = useContext(WordsContext);
  if (words === undefined) throw new Error("this part of the page has no words");
  return words;
}
