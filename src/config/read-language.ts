import { type Language, languageOf } from "../words/words.ts";
import { firstSettings } from "./first-settings.ts";
import type { Reader } from "./reader.ts";
import type { Environment } from "./sources.ts";

/** Where nobody has chosen a language, the system's own is taken. */
export function readLanguage(reader: Reader, env: Environment): Language {
  const variable = ["LC_ALL", "LC_MESSAGES", "LANG"].find((name) => env[name]);
  return variable === undefined
    ? reader.readOr(firstSettings.language, "en")
    : reader.readOr(firstSettings.language, languageOf(env[variable]), variable);
}
