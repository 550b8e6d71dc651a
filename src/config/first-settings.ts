import { languages } from "../words/words.ts";
import { choice, language, path } from "./first-kinds.ts";
import type { Setting } from "./settings.ts";

/** What must be known before a chat can be drawn; settings.ts has them with all others. */
export const firstSettings = {
  dataDir: { flag: "data", variables: ["AGENTYARD_DATA"], key: "data", kind: path, isFixed: true },
  language: { flag: "lang", variables: ["AGENTYARD_LANG"], key: "lang", kind: language(languages) },
  surface: {
    variables: ["AGENTYARD_TERMINAL"],
    key: "terminal.surface",
    kind: choice(["rich", "plain", "screen_reader"]),
    default: "rich",
  },
} as const satisfies Record<string, Setting<unknown>>;
