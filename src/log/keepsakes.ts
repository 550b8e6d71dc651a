import { type EventOf, ownWordsOf } from "../protocol/events.ts";

/** What is put back by code whenever messages are left out: what the log has, never a model's retelling of them. */
export type Keepsakes = {
  /** The user's own words, of every message that was taken up. */
  readonly said: SaidLine[];
  /** Files that the user selected for a message, oldest first. */
  readonly selected: SelectedFiles[];
  /** What the user decided about calls and questions. */
  readonly decided: Decided[];
  /** What was done to each file of the conversation, by path. */
  readonly deeds: Map<string, Deeds>;
  /** What stands for the messages that were left out. */
  summary: Summary | undefined;
  /** Windows in tokens that turned out to be smaller than they were said to be, by model. */
  readonly windows: Map<string, number>;
};

/**
 * `seq` is the place of its message among those that are sent; `inputs` are the values that came with it. `rest`: what
 * others wrote that the user said with it, such as the prompt of an MCP server that a line stands for.
 */
export type SaidLine = {
  readonly seq: number;
  readonly text: string;
  readonly rest?: string;
  readonly inputs?: EventOf<"message.user">["inputs"];
};
export type SelectedFiles = { readonly seq: number; readonly files: readonly string[] };
export type Decided = {
  readonly seq: number;
  readonly tool: string;
  readonly verdict: EventOf<"decision.made">["verdict"];
  /** The arguments that were decided on, or the question. */
  readonly about: string;
  /** Why, or the answer. */
  readonly word: string | undefined;
};
export type Deed = "made" | "changed" | "removed" | "read" | "uploaded";
/** Where in the log each was done last. */
export type Deeds = { readonly [deed in Deed]?: number };
export type Summary = {
  /** The model's own words; empty where no model made any. */
  readonly text: string;
  /** The messages up to here are left out, so many in all. */
  readonly upTo: number;
  readonly leftOut: number;
};

export function emptyKeepsakes(): Keepsakes {
  return { said: [], selected: [], decided: [], deeds: new Map(), summary: undefined, windows: new Map() };
}

/** A message joins the history; its files came with it. */
export function noteSaid({ said, deeds }: Words, message: EventOf<"message.user">, seq: number): void {
  const { inputs, files = [] } = message;
  const text = ownWordsOf(message);
  // A file can be read again; what came with such a line stands nowhere else.
  const rest = message.untrusted ? message.text.slice(text.length).trim() : "";
  said.push({ seq, text, ...(inputs !== undefined && { inputs }), ...(rest !== "" && { rest }) });
  for (const { path } of files) noteDeed(deeds, path, "uploaded", seq);
}

type Words = Pick<Keepsakes, "said" | "deeds">;

/** Decisions of people may turn out to stand before those that were taken in already. */
export function noteDecided(
  { decided }: Keepsakes,
  asked: EventOf<"decision.asked">,
  made: EventOf<"decision.made">,
): void {
  const { tool } = asked;
  if (asked.kind === "function") return; // A caller answered, and its answer is a result.
  const entry: Decided = {
    ...{ seq: made.seq, tool, verdict: made.verdict },
    about: asked.question ?? made.arguments ?? asked.arguments ?? "",
    word: made.reason ?? made.answer,
  };
  decided.splice(decided.findLastIndex(({ seq }) => seq < made.seq) + 1, 0, entry);
}

export function noteRead({ deeds }: Keepsakes, { agent, workspace, path, seq }: EventOf<"file.known">): void {
  if (agent === undefined && workspace === undefined) noteDeed(deeds, path, "read", seq);
}

/** Folders and the files of tasks are left to the ledger. */
export function noteFile({ deeds }: Keepsakes, event: EventOf<"file.changed">): void {
  const { before, after, by, path, seq, workspace } = event;
  if (workspace !== undefined || (before === undefined && after === undefined)) return;
  if (after === undefined) noteDeed(deeds, path, "removed", seq);
  else if (by === "upload") noteDeed(deeds, path, "uploaded", seq);
  else noteDeed(deeds, path, before === undefined && by === "tool" ? "made" : "changed", seq);
}

/** Others' events turned out to stand before those that were applied: the places move along. */
export function moveKeepsakes(keepsakes: Keepsakes, moved: (seq: number) => number): void {
  const { said, selected, decided, deeds, summary } = keepsakes;
  for (const [index, entry] of said.entries()) said[index] = { ...entry, seq: moved(entry.seq) };
  for (const [index, entry] of selected.entries()) selected[index] = { ...entry, seq: moved(entry.seq) };
  for (const [index, entry] of decided.entries()) decided[index] = { ...entry, seq: moved(entry.seq) };
  for (const [path, entry] of deeds) {
    deeds.set(path, Object.fromEntries(Object.entries(entry).map(([deed, seq]) => [deed, moved(seq)])));
  }
  if (summary !== undefined) keepsakes.summary = { ...summary, upTo: moved(summary.upTo) };
}

function noteDeed(deeds: Map<string, Deeds>, path: string, deed: Deed, seq: number): void {
  const entry = deeds.get(path);
  deeds.set(path, { ...entry, [deed]: Math.max(entry?.[deed] ?? 0, seq) });
}
