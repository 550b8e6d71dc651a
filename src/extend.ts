// What operators build on: `import { defineChecker } from "agentyard/extend"` in a file of `checkers/`.
export { type CheckerDefinition, defineChecker } from "./approvals/approvals.ts";
