import type { ChatDocument, ChatIncrement, ChatKey } from "../../protocol/chat.ts";
import { wholeCharacters } from "../whole-characters.ts";
import type { Change } from "./changes.ts";

/** What a frame holds at the most, counted so that it has no more than 64 KB whatever the characters are. */
const frameBytesMax = 60_000;
/** The most that one character of a text becomes: `\u0000`. */
const characterBytesMax = 6;
const pieceCharactersMax = Math.floor(frameBytesMax / characterBytesMax);

/** A document as it stands, as one `upsert` for each of its keys: whatever a reader had before, it has this afterwards. */
export function* wholeDocument(document: ChatDocument): Generator<Change, void> {
  for (const [name, content] of Object.entries(document)) yield* inPieces({ key: [name], content, action: "upsert" });
}

/** A change in frames of bounded size. Long texts go on with appends, and so do long arrays, element by element. */
export function* inPieces(change: Change): Generator<Change, void> {
  const { key, content, action } = change;
  if (bytesAtMost(content, frameBytesMax) <= frameBytesMax) return yield change;
  if (typeof content === "string") return yield* textInPieces(key, content, action);
  if (Array.isArray(content)) {
    yield { key, content: [], action };
    for (const [index, element] of content.entries())
      yield* inPieces({ key: [...key, index], content: element, action: "append" });
    return;
  }
  if (typeof content !== "object" || content === null) return yield change;
  const members = Object.entries(content);
  const isLong = (member: unknown) => bytesAtMost(member, memberBytesMax) > memberBytesMax;
  const long = members.filter(([, member]) => isLong(member));
  const short = members.map(([name, member]) => [name, isLong(member) ? emptied(member) : member]);
  yield { key, content: Object.fromEntries(short), action };
  for (const [name, member] of long) yield* inPieces({ key: [...key, name], content: member, action: "upsert" });
}

/** Members shorter than this stay with their object; no object of a document has more than twenty of them. */
const memberBytesMax = 2_000;

function* textInPieces(key: ChatKey, text: string, action: Change["action"]): Generator<Change, void> {
  let at = 0;
  while (at < text.length) {
    const end = wholeCharacters(text, at + pieceCharactersMax);
    yield { key, content: text.slice(at, end), action: at === 0 ? action : "append" };
    at = end;
  }
}

function emptied(value: unknown): unknown {
  if (typeof value === "string") return "";
  return Array.isArray(value) ? [] : {};
}

/** How long a value can be as JSON; counts no further than to `enough`. */
function bytesAtMost(value: unknown, enough: number): number {
  if (typeof value === "string") return value.length * characterBytesMax + 2;
  if (typeof value !== "object" || value === null) return 26;
  let bytes = 2;
  for (const [name, member] of Object.entries(value)) {
    bytes += name.length * characterBytesMax + 4 + bytesAtMost(member, enough);
    if (bytes > enough) return bytes;
  }
  return bytes;
}

/** Numbers the frames of a stream, from a number on. */
export function numbered(from: number) {
  let next = from;
  return {
    frame({ key, content, action }: Change): ChatIncrement {
      const seq_id = next;
      next += 1;
      return { seq_id, key: [...key], content, action };
    },
    /** The last frame of every stream that came to its end. */
    end(): ChatIncrement {
      return { seq_id: next, key: [], content: null, action: "end" };
    },
  };
}
