import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { forModels } from "../words/words.ts";
import { knownEvent } from "./file-events.ts";
import { outputBytes } from "./output.ts";
import { openFile, type ShownText, showText } from "./show-file.ts";
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
  const { path: shownPath, bytes } = file.stat;
  if (file.kind === "text") {
    const room = outputBytesMax - outputBytes(files.unseen(shownPath, tool, { isWhole: false })) - 1;
    const shown = await showText(workspace, file, { bytesMax: room });
    return shown.ok ? refused(context, tool, { ...shown.value, path: shownPath }) : shown;
  }
  const hash = await workspace.hash(path);
  if (!hash.ok) return hash;
  // There is no more to be seen of it.
  const text = files.header(shownPath, `${files.notText(file.type)}, ${files.size(bytes)}`);
  return refused(context, tool, { text, outside: [], path: shownPath, hash: hash.value, isWhole: true });
}

type Shown = Pick<ShownText, "text" | "outside" | "hash" | "isWhole"> & { readonly path: string };

function refused(
  context: ToolContext,
  tool: "write_file" | "edit_file",
  { text, outside, ...seen }: Shown,
): Result<ToolOutput, Failure> {
  const refusal = forModels.files.unseen(seen.path, tool, seen);
  const begin = refusal.length + 1;
  return ok({
    text: `${refusal}\n${text}`,
    isRefusal: true,
    events: [knownEvent(context, seen)],
    outside: outside.map((part) => ({ ...part, from: begin + part.from, to: begin + part.to })),
  });
}
