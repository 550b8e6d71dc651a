import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { forModels } from "../words/words.ts";
import { knownFact } from "./file-facts.ts";
import { outputBytes } from "./output.ts";
import { openFile, showText } from "./show-file.ts";
import type { ToolContext, ToolOutput } from "./tool.ts";

/** Refuses a change of a file that the agent has not seen as it is now, and shows it, so that the next call can be right. */
export async function showPresent(
  context: ToolContext,
  path: string,
  tool: "write_file" | "edit_file",
): Promise<Result<ToolOutput, Failure>> {
  const { workspace, outputBytesMax } = context;
  const { files } = forModels;
  const opened = await openFile(workspace, path);
  if (!opened.ok) return opened;
  const file = opened.value;
  if (file.kind === "unwritten") return failure("file_not_found", { path: files.name(path), near: "" });
  const refusal = files.unseen(file.stat.path, tool);
  if (file.kind === "text") {
    const shown = await showText(workspace, file, { bytesMax: outputBytesMax - outputBytes(refusal) - 1 });
    return shown.ok ? refused(context, refusal, file.stat.path, shown.value) : shown;
  }
  const hash = await workspace.hash(path);
  if (!hash.ok) return hash;
  const about = `${files.notText(file.type)}, ${files.size(file.stat.bytes)}`;
  const shown = { text: files.header(file.stat.path, about), hash: hash.value };
  return refused(context, refusal, file.stat.path, shown);
}

function refused(context: ToolContext, refusal: string, path: string, shown: { text: string; hash: string }) {
  const text = `${refusal}\n${shown.text}`;
  return ok({ text, isRefusal: true, facts: [knownFact(context, path, shown.hash)] } as const);
}
