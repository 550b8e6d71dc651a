import { askHuman } from "./builtin/ask-human.ts";
import { compactContext } from "./builtin/compact-context.ts";
import { delegateTask } from "./builtin/delegate-task.ts";
import { editFile } from "./builtin/edit-file.ts";
import { executeCode } from "./builtin/execute-code.ts";
import { fetchWeb } from "./builtin/fetch-web.ts";
import { findFiles } from "./builtin/find-files.ts";
import { findTools } from "./builtin/find-tools.ts";
import { getWorkspaceInfo } from "./builtin/get-workspace-info.ts";
import { httpFetch } from "./builtin/http-fetch.ts";
import { installPackages } from "./builtin/install-packages.ts";
import { jinaReader } from "./builtin/jina-reader.ts";
import { listFiles } from "./builtin/list-files.ts";
import { now } from "./builtin/now.ts";
import { readFile } from "./builtin/read-file.ts";
import { recall } from "./builtin/recall.ts";
import { remember } from "./builtin/remember.ts";
import { runBashCommand } from "./builtin/run-bash-command.ts";
import { searchFile } from "./builtin/search-file.ts";
import { searchHistory } from "./builtin/search-history.ts";
import { sendMessage } from "./builtin/send-message.ts";
import { spawnAgent } from "./builtin/spawn-agent.ts";
import { terminateAgent } from "./builtin/terminate-agent.ts";
import { todoRead } from "./builtin/todo-read.ts";
import { todoWrite } from "./builtin/todo-write.ts";
import { openTransfers, transferName } from "./builtin/transfer.ts";
import { useTool } from "./builtin/use-tool.ts";
import { googleSearch, webSearch } from "./builtin/web-search.ts";
import { writeFile } from "./builtin/write-file.ts";
import type { Tool } from "./tool.ts";

export { type CustomTools, type CustomToolsOptions, openCustomTools, type ToolFile } from "./custom.ts";
export { errorForModel } from "./error-text.ts";
export { type ForeignDefinition, foreignTool, type ToolSource } from "./foreign.ts";
export { foreignSchema } from "./foreign-schema.ts";
export { boundOutput, cutAround, endsOf, headOf, outputBytes, outputBytesMax, shortened } from "./output.ts";
export { type LeftOut, openRegistry, type Registry, type ToolSetting, toolsMax } from "./registry.ts";
export type {
  AgentDone,
  Ask,
  FormAnswer,
  FormAsked,
  HistoryHit,
  HistoryHits,
  HistoryQuery,
  OpenedCall,
  Outside,
  RoomReport,
  Tool,
  ToolAgents,
  ToolContext,
  ToolMemory,
  ToolOutput,
  ToolSandbox,
} from "./tool.ts";
export { allOf, defineTool } from "./tool.ts";
export { openToolkit, readArguments, type Toolkit, toolBytes } from "./toolkit.ts";

export { openTransfers, transferName };

export const builtins: readonly Tool[] = [
  ...[compactContext, findTools, useTool],
  ...[askHuman, now, todoRead, todoWrite],
  ...[readFile, writeFile, editFile, listFiles, findFiles, searchFile, getWorkspaceInfo],
  ...[executeCode, runBashCommand, installPackages],
  ...[remember, recall, searchHistory],
  ...[delegateTask, spawnAgent, sendMessage, terminateAgent],
  ...[fetchWeb, httpFetch, webSearch, googleSearch, jinaReader],
];
