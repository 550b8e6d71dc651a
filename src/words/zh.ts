import type { en } from "./en.ts";
import { zhDemo } from "./zh-demo.ts";
import { zhFailures } from "./zh-failures.ts";
import { zhModels } from "./zh-models.ts";
import { zhNotes } from "./zh-notes.ts";
import { zhTerminal } from "./zh-terminal.ts";

export const zh: typeof en = {
  demo: zhDemo,
  failures: zhFailures,
  models: zhModels,
  notes: zhNotes,
  terminal: zhTerminal,
};
