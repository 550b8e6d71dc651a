import type { en } from "./en.ts";
import { zhApprovals } from "./zh-approvals.ts";
import { zhDemo } from "./zh-demo.ts";
import { zhDoctor } from "./zh-doctor.ts";
import { zhFailures } from "./zh-failures.ts";
import { zhModels } from "./zh-models.ts";
import { zhNotes } from "./zh-notes.ts";
import { zhSandbox } from "./zh-sandbox.ts";
import { zhTerminal } from "./zh-terminal.ts";

export const zh: typeof en = {
  approvals: zhApprovals,
  demo: zhDemo,
  doctor: zhDoctor,
  failures: zhFailures,
  models: zhModels,
  notes: zhNotes,
  sandbox: zhSandbox,
  terminal: zhTerminal,
};
