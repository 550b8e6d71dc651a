import type { en } from "./en.ts";
import { zhApprovals } from "./zh-approvals.ts";
import { zhAmount } from "./zh-budget.ts";
import { zhCallers } from "./zh-callers.ts";
import { zhConfig } from "./zh-config.ts";
import { zhDemo } from "./zh-demo.ts";
import { zhDocs } from "./zh-docs.ts";
import { zhDoctor } from "./zh-doctor.ts";
import { zhFailures } from "./zh-failures.ts";
import { zhFaults } from "./zh-faults.ts";
import { zhHttpAdvice } from "./zh-http-advice.ts";
import { zhMcp } from "./zh-mcp.ts";
import { zhMcpServer } from "./zh-mcp-server.ts";
import { zhModels } from "./zh-models.ts";
import { zhNotes } from "./zh-notes.ts";
import { zhReceipts } from "./zh-receipts.ts";
import { zhSandbox } from "./zh-sandbox.ts";
import { zhSignIn } from "./zh-sign-in.ts";
import { zhSkills } from "./zh-skills.ts";
import { zhTerminal } from "./zh-terminal.ts";

export const zh: typeof en = {
  command: "agentyard",
  amount: zhAmount,
  approvals: zhApprovals,
  config: zhConfig,
  demo: zhDemo,
  docs: zhDocs,
  doctor: zhDoctor,
  failures: zhFailures,
  unknownFailure: (p) => [`失败：${p.code}。`, "请更新 AgentYard：这是较新的版本写下的，它有相应的说明。"],
  faults: zhFaults,
  httpAdvice: zhHttpAdvice,
  mcp: zhMcp,
  mcpServer: zhMcpServer,
  models: zhModels,
  notes: zhNotes,
  callers: zhCallers,
  receipts: zhReceipts,
  sandbox: zhSandbox,
  signIn: zhSignIn,
  skills: zhSkills,
  terminal: zhTerminal,
};
