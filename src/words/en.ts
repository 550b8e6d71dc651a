import { enApprovals } from "./en-approvals.ts";
import { enDemo } from "./en-demo.ts";
import { enDoctor } from "./en-doctor.ts";
import { enFailures } from "./en-failures.ts";
import { enModels } from "./en-models.ts";
import { enNotes } from "./en-notes.ts";
import { enSandbox } from "./en-sandbox.ts";
import { enTerminal } from "./en-terminal.ts";

export const en = {
  approvals: enApprovals,
  demo: enDemo,
  doctor: enDoctor,
  failures: enFailures,
  models: enModels,
  notes: enNotes,
  sandbox: enSandbox,
  terminal: enTerminal,
};
