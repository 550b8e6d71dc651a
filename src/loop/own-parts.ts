import { createHash } from "node:crypto";
import { instructionsPart, notesPart, type OwnParts, ownPartsOf } from "../context/context.ts";
import { decodeText } from "../documents/documents.ts";
import type { Guide, History } from "../log/log.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readMemory } from "./memory.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/**
 * What is the user's own in the system message. Notes are those of the conversation's start, so that the prefix stays:
 * changes come as a reminder.
 */
export async function readOwnParts(run: Run, parts: Parts): Promise<OwnParts> {
  const { conversation, history } = run;
  const { recipe } = history;
  const before = recipe === undefined ? undefined : ownPartsOf(recipe);
  const notes = before === undefined ? notesPart(await readMemories(run, parts)) : before.notes;
  const { windowTokens } = parts.models.get("base");
  const workspace = parts.workspaces.ofConversation(conversation);
  const instructions = await instructionsNow(workspace, history, before?.instructions, windowTokens);
  return { ...(instructions === undefined ? {} : { instructions }), ...(notes === undefined ? {} : { notes }) };
}

/** What the user wants to be known in every conversation, as it is now, oldest first. */
export async function readMemories({ conversation }: Run, parts: Parts): Promise<string[]> {
  return (await readMemory(parts, conversation.owner)).map(({ fact }) => fact);
}

/** Larger files are no instructions, whatever they are called. */
const guideBytesMax = 4 * 1024 * 1024;

/**
 * The file must be, byte for byte, what the user put there. Where something else has changed it since, what was in
 * force stays in force.
 */
async function instructionsNow(
  workspace: Workspace,
  { guides }: History,
  before: OwnParts["instructions"],
  windowTokens: number,
): Promise<OwnParts["instructions"]> {
  const [chosen] = [...guides].toSorted(byRank);
  if (chosen === undefined) return undefined;
  const [path, { state }] = chosen;
  const { hash, bytes } = state;
  const text = bytes > guideBytesMax ? undefined : await textWith(workspace, path, hash);
  if (text !== undefined) return instructionsPart({ path, hash, text }, windowTokens);
  return before?.path === path && before.hash === hash ? before : undefined;
}

/** `AGENTS.md` before `CLAUDE.md`, the user's folder before the one for parts, the usual spelling before others. */
function byRank([path, { seq }]: [string, Guide], [otherPath, other]: [string, Guide]): number {
  return rankOf(path) - rankOf(otherPath) || other.seq - seq;
}

function rankOf(path: string): number {
  const name = path.split("/").at(-1) ?? "";
  const isUsual = name === "AGENTS.md" || name === "CLAUDE.md";
  return (/^agents/i.test(name) ? 0 : 4) + (path.startsWith("uploads/temparea/") ? 2 : 0) + (isUsual ? 0 : 1);
}

async function textWith(workspace: Workspace, path: string, hash: string): Promise<string | undefined> {
  const read = await workspace.read(path, { bytesMax: guideBytesMax });
  if (!read.ok) return undefined;
  const { bytes } = read.value;
  return createHash("sha256").update(bytes).digest("hex") === hash ? decodeText(bytes)?.text : undefined;
}
