// What operators build on: `import { defineTool } from "agentyard/extend"` in a file of `tools/`, and the like of `checkers/`.
export { type CheckerDefinition, defineChecker } from "./approvals/checker-definition.ts";
export { type CustomToolDefinition as ToolDefinition, defineCustomTool as defineTool } from "./tools/custom-tool.ts";
