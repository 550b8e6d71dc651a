import { enApprovals } from "./en-approvals.ts";
import { enAmount } from "./en-budget.ts";
import { enCallers } from "./en-callers.ts";
import { enConfig } from "./en-config.ts";
import { enDemo } from "./en-demo.ts";
import { enDocs } from "./en-docs.ts";
import { enDoctor } from "./en-doctor.ts";
import { enFailures } from "./en-failures.ts";
import { enFaults } from "./en-faults.ts";
import { enHttpAdvice } from "./en-http-advice.ts";
import { enMcp } from "./en-mcp.ts";
import { enMcpServer } from "./en-mcp-server.ts";
import { enModels } from "./en-models.ts";
import { enNotes } from "./en-notes.ts";
import { enReceipts } from "./en-receipts.ts";
import { enSandbox } from "./en-sandbox.ts";
import { enSignIn } from "./en-sign-in.ts";
import { enSkills } from "./en-skills.ts";
import { enTerminal } from "./en-terminal.ts";

export const en = {
  /** Our command as it must be typed here; the terminal knows better. */
  command: "agentyard",
  /** So many of a kind that can be limited. */
  amount: enAmount,
  approvals: enApprovals,
  config: enConfig,
  demo: enDemo,
  docs: enDocs,
  doctor: enDoctor,
  failures: enFailures,
  unknownFailure: (p: { code: string }): readonly [what: string, next: string] => [
    `This failed: ${p.code}.`,
    "Update this AgentYard: a newer one says so, and has the words for it.",
  ],
  faults: enFaults,
  httpAdvice: enHttpAdvice,
  mcp: enMcp,
  mcpServer: enMcpServer,
  models: enModels,
  notes: enNotes,
  callers: enCallers,
  receipts: enReceipts,
  sandbox: enSandbox,
  signIn: enSignIn,
  skills: enSkills,
  terminal: enTerminal,
};
