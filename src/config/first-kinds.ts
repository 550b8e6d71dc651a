import { join, resolve } from "node:path";
import { type Language, languageOf, type ValueForm } from "../words/words.ts";

// What is read before anything is drawn: the schema library would cost more than all the rest of it.

/** What a setting of one kind accepts, and what to write where it was given something else. */
export type Kind<T> = {
  readonly expected: ValueForm;
  /** Undefined: the value does not fit. */
  readonly parse: (value: unknown, folders: Folders) => T | undefined;
  /** As it is written, where that is not how it is kept. */
  show?(value: T): string;
};

/** Where a relative path starts, and what `~` stands for. */
export type Folders = { readonly base: string; readonly home: string };

export function choice<const T extends string>(choices: readonly T[]): Kind<T> {
  return {
    expected: { form: "choice", choices },
    parse: (value) =>
      typeof value === "string" ? choices.find((choice) => choice.toLowerCase() === value.toLowerCase()) : undefined,
  };
}

/** `en`, `zh`, and what systems and people write for them: `zh_CN.UTF-8`, `en-GB`, `Chinese`. */
export function language(choices: readonly Language[]): Kind<Language> {
  return {
    expected: { form: "choice", choices },
    parse: (value) =>
      typeof value === "string" && (languageOf(value) === "zh" || /^en/i.test(value))
        ? choices.find((choice) => choice === languageOf(value))
        : undefined,
  };
}

export const path: Kind<string> = {
  expected: { form: "path" },
  parse: (value, { base, home }) => {
    // An empty path would be the folder that holds the file.
    if (typeof value !== "string" || value.trim() === "") return undefined;
    return value === "~" || value.startsWith("~/") ? join(home, value.slice(1)) : resolve(base, value);
  },
};
