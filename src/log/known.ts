import type { EventOf } from "../protocol/events.ts";

/** A content that an agent has seen of a file, and where in the log it was shown last, in part and as a whole. */
type Known = { readonly hash: string; readonly seq: number; readonly wholeSeq: number | undefined };

/** What agents have seen of files, by `knownKey`. */
export type Knowledge = {
  /** The newest content that each has seen. */
  readonly known: Map<string, Known>;
  /** Shown by results that no request has carried yet: the model reads them with the next step. */
  readonly unread: Map<string, Known>;
};

type AgentsFile = { readonly agent?: string | undefined; readonly path: string };

/** Under which an agent's knowledge of a file is kept. */
function knownKey({ agent, path }: AgentsFile): string {
  return `${agent ?? ""}:${path}`;
}

/** The hash of what an agent has seen last of a file; with `whole` only where it has seen all of it. */
export function knownHash({ known }: Knowledge, file: AgentsFile, wanted?: "whole"): string | undefined {
  const entry = known.get(knownKey(file));
  return wanted === "whole" && entry?.wholeSeq === undefined ? undefined : entry?.hash;
}

export function noteShown({ unread }: Knowledge, event: EventOf<"file.known">): void {
  const { hash, seq, part } = event;
  add(unread, knownKey(event), { hash, seq, wholeSeq: part ? undefined : seq });
}

/** A request carries everything that was shown until then. */
export function readShown({ known, unread }: Knowledge): void {
  for (const [key, entry] of unread) add(known, key, entry);
  unread.clear();
}

/** Small texts stand in the message they came with. */
export function noteAttached({ known }: Knowledge, message: EventOf<"message.user">, seq: number): void {
  const { agent, files = [] } = message;
  for (const { path, hash } of files)
    if (hash !== undefined) add(known, knownKey({ agent, path }), { hash, seq, wholeSeq: seq });
}

/** Who writes a file knows it. What undo gave back is known to those only who knew that very content. */
export function noteChanged(knowledge: Knowledge, event: EventOf<"file.changed">): void {
  const { known, unread } = knowledge;
  const { by, before, after, path, seq } = event;
  const key = knownKey(event);
  if (by === "tool" && event.program && before !== undefined) return noteProgram(knowledge, event);
  if (by === "tool" && after?.hash !== undefined) {
    const earlier = known.get(key);
    // A change of what was seen in part, or long ago, does not show the rest of it.
    const isBuiltOn = earlier !== undefined && earlier.hash === before?.hash;
    known.set(key, { hash: after.hash, seq, wholeSeq: isBuiltOn ? earlier.wholeSeq : seq });
    unread.delete(key);
  }
  if (by !== "undo") return;
  keep([known, unread], (entry, of) =>
    of.slice(of.indexOf(":") + 1) === path && entry.hash !== after?.hash ? undefined : entry,
  );
}

/**
 * Nobody reads what a program writes into a file that was there before. Who knew the file knows of the change, but has
 * not seen all of it any more; to others it is as strange as before. What a program made anew is its agent's own.
 */
function noteProgram({ known }: Knowledge, event: EventOf<"file.changed">): void {
  const { before, after, seq } = event;
  const key = knownKey(event);
  const earlier = known.get(key);
  if (earlier === undefined || after === undefined || earlier.hash === after.hash) return;
  if (earlier.hash === before?.hash && after.hash !== undefined)
    known.set(key, { hash: after.hash, seq, wholeSeq: undefined });
  else known.delete(key);
}

/** What was shown between these places is not sent any more. */
export function forgetShown({ known, unread }: Knowledge, after: number, upTo: number): void {
  const isLeft = (seq: number | undefined) => seq !== undefined && (seq <= after || seq > upTo);
  keep([known, unread], (entry) => {
    if (!isLeft(entry.seq)) return undefined;
    return isLeft(entry.wholeSeq) ? entry : { ...entry, wholeSeq: undefined };
  });
}

/** Others' events turned out to stand before those that were applied: the places move along. */
export function moveShown({ known, unread }: Knowledge, moved: (seq: number) => number): void {
  keep([known, unread], ({ hash, seq, wholeSeq }) => ({
    ...{ hash, seq: moved(seq) },
    wholeSeq: wholeSeq === undefined ? undefined : moved(wholeSeq),
  }));
}

/** What was shown before counts again, but for what was shown since. */
export function showAlso(knowledge: Knowledge, before: Knowledge): void {
  for (const kind of ["known", "unread"] as const) {
    const since = [...knowledge[kind]];
    knowledge[kind].clear();
    for (const [key, entry] of [...before[kind], ...since]) add(knowledge[kind], key, entry);
  }
}

function add(entries: Map<string, Known>, key: string, entry: Known): void {
  const earlier = entries.get(key);
  const isSame = earlier?.hash === entry.hash;
  entries.set(key, isSame ? { ...entry, wholeSeq: entry.wholeSeq ?? earlier.wholeSeq } : entry);
}

function keep(maps: readonly Map<string, Known>[], kept: (entry: Known, key: string) => Known | undefined): void {
  for (const entries of maps) {
    for (const [key, entry] of [...entries]) {
      const now = kept(entry, key);
      if (now === undefined) entries.delete(key);
      else entries.set(key, now);
    }
  }
}
