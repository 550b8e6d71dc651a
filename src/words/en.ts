import { enDemo } from "./en-demo.ts";
import { enFailures } from "./en-failures.ts";
import { enModels } from "./en-models.ts";
import { enNotes } from "./en-notes.ts";
import { enTerminal } from "./en-terminal.ts";

export const en = {
  demo: enDemo,
  failures: enFailures,
  models: enModels,
  notes: enNotes,
  terminal: enTerminal,
};
