import type { EventBody } from "../protocol/events.ts";
import type { ToolCall } from "../protocol/message.ts";
import { allOf, endsOf, headOf, outputBytes, type Tool, type ToolOutput } from "../tools/tools.ts";
import { blockBytes, forModels } from "../words/words.ts";
import type { Parts } from "./parts.ts";
import { isShort, resultBytesMax } from "./result-room.ts";
import type { Run } from "./run.ts";

/** Whose result it is, and what says how long it may be. */
export type ResultRun = Pick<Run, "history">;
export type ResultParts = Pick<Parts, "models" | "agents" | "limits">;

/** What a result may have at the most, without the marks that are put around it. */
export function toolBytesMax(run: ResultRun, parts: ResultParts, { isOutside }: Pick<Tool, "isOutside">): number {
  return resultBytesMax(run.history, parts) - (isOutside ? blockBytes : 0);
}

/** What a result is kept with where it is too long to be told. */
type KeepingRun = Pick<Run, "conversation" | "history" | "agent">;
type KeepingParts = ResultParts &
  Pick<Parts, "marks" | "logger"> & {
    readonly workspaces: Pick<Parts["workspaces"], "ofAgent">;
    readonly storage: Pick<Parts["storage"], "putBlob">;
  };

type Ended = { readonly call: ToolCall; readonly tool: Tool; readonly output: ToolOutput };

/** The result as a model is told it: bounded, and marked where others wrote it. */
export async function resultOf(
  run: KeepingRun,
  parts: KeepingParts,
  { call, tool, output }: Ended,
): Promise<Pick<EventBody<"call.finished">, "text" | "images" | "blob" | "file" | "untrusted">> {
  const { images, outside } = output;
  // Half a character is refused by some servers, and with it the whole request.
  const whole = output.text === "" ? forModels.emptyResult : output.text.toWellFormed();
  const bytesMax = isShort(whole) ? Number.POSITIVE_INFINITY : resultBytesMax(run.history, parts);
  const isCut = headOf(whole, { bytesMax }).length < whole.length;
  const kept = isCut ? await keep(run, parts, { call, tool, text: whole }) : {};
  const text = isCut ? ends(whole, bytesMax - (tool.isOutside ? blockBytes : 0), kept.file) : whole;
  const written = outside ?? (tool.isOutside && output.text !== "" ? allOf(tool.name, text) : []);
  const said = written.filter(({ from, to }) => whole.slice(from, to).trim() !== "");
  const isWritten = said.length > 0;
  const isUntrusted =
    said.some(({ isSeen }) => !isSeen) || (tool.isOutside && images !== undefined && images.length > 0);
  return {
    // Where the middle is missing the places are others: then all of it counts as theirs.
    text: parts.marks.inside(text, isCut && isWritten ? allOf(tool.name, text) : written),
    ...(images === undefined ? {} : { images: [...images] }),
    ...kept,
    ...(isUntrusted ? { untrusted: true } : {}),
  };
}

/** A text that is the result as it is, cut in the middle where it is too long; the log has all of it. */
export function boundedText(run: ResultRun, parts: ResultParts, text: string): string {
  const whole = text === "" ? forModels.emptyResult : text.toWellFormed();
  if (isShort(whole)) return whole;
  const bytesMax = resultBytesMax(run.history, parts);
  return headOf(whole, { bytesMax }).length < whole.length ? ends(whole, bytesMax, undefined) : whole;
}

/**
 * A result that is too long for the model goes to a file that it can read. Nobody did that to the files but we: it has
 * no line in the ledger, and what is undone leaves it where it is, in temp/, until that is emptied.
 */
async function keep(
  { conversation, history, agent }: KeepingRun,
  parts: KeepingParts,
  { call, tool, text }: { call: ToolCall; tool: Tool; text: string },
): Promise<{ file?: string; blob?: string }> {
  const { turn } = history;
  const place = (turn?.calls.findIndex((state) => state.call.id === call.id) ?? 0) + 1;
  const name = `${turn?.turn}-${turn?.step}-${tool.name.replaceAll(/[^\w-]/g, "_")}${place > 1 ? `-${place}` : ""}`;
  const path = `temp/results/${agent === undefined ? "" : `${agent}-`}${name}.txt`;
  const workspace = await parts.workspaces.ofAgent(conversation, agent);
  const written = workspace.ok ? await workspace.value.write(path, text) : workspace;
  if (written.ok) return { file: path };
  parts.logger.warn("a long result could not be put into a file", { code: written.failure.code });
  const blob = await parts.storage.putBlob(conversation.number, Buffer.from(text));
  return blob.ok ? { blob: blob.value.hash } : {};
}

/** More than any of the numbers takes. */
const numbersBytesMax = 40;

/** Head and tail, and between them what is missing and how to read on; never cut inside a character. */
function ends(text: string, bytesMax: number, path: string | undefined): string {
  const sizeBytes = Buffer.byteLength(text);
  const note = (missing: number, next: { line: number; column: number }) =>
    path === undefined
      ? forModels.partLeftOut(missing, sizeBytes)
      : forModels.partInFile({ missing, sizeBytes, path, next });
  const noteBytes = outputBytes(note(sizeBytes, { line: 1, column: 2 })) + numbersBytesMax;
  const { head, tail } = endsOf(text, Math.max(bytesMax - noteBytes, 0));
  const missing = sizeBytes - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}${note(missing, placeAfter(head))}${tail}`;
}

/** Where the character after this stands, as `read_file` counts: both from 1 on. */
function placeAfter(head: string): { line: number; column: number } {
  return { line: head.split("\n").length, column: head.length - head.lastIndexOf("\n") };
}
