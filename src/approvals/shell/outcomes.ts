import type { PipelineNode } from "unbash";
import type { State } from "./scene.ts";
import { shellWords } from "./shell-words.ts";

/** Those that do their work or nothing works; whether `cd` went well is followed by itself. */
export function mayFail(node: PipelineNode | undefined): boolean {
  if (node?.type !== "Command" || node.name === undefined) return node?.type !== "Command";
  return !["cd", "pushd", "mkdir", "echo", "printf", "true", ":", "export", "set", "touch"].includes(node.name.value);
}

/** Whether the shell may know or stand elsewhere after it. */
export function leavesTraces(node: PipelineNode, { functions }: State): boolean {
  if (node.type !== "Command" || node.name === undefined) return true;
  const { value } = node.name;
  return functions.has(value) || (shellWords.has(value) && !/^(echo|printf|test|\[|true|false|:|pwd)$/.test(value));
}

/** Whether nothing comes after it. */
export function isEnd(node: PipelineNode): boolean {
  if (node.type === "BraceGroup")
    return node.body.commands.some(({ command }) => command.type === "Command" && isEnd(command));
  return node.type === "Command" && ["exit", "return", "break", "continue"].includes(node.name?.value ?? "");
}
