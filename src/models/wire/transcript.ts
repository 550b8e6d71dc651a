import { createHash, type Hash } from "node:crypto";
import type { Message } from "../../protocol/message.ts";
import type { RequestBytes } from "../provider.ts";
import { createFragments } from "./fragments.ts";
import { createPairing, type Paired, type Pairing, type PairingRules } from "./pair-calls.ts";

/** How a format writes the messages of a request. */
export type TranscriptForm = {
  /** What stands in the list of messages for this one: JSON, never nothing, with commas between where it is several. */
  readonly write: (message: Paired, isApart: boolean) => string;
  readonly pairing: PairingRules;
  /** System texts at the front stand in a place of their own: `isApart` when they are written. */
  readonly isSystemApart: boolean;
  /** Another order of the messages, where the server wants one. The beginning may then change as a history grows. */
  readonly arrange?: ((messages: readonly Message[]) => readonly Paired[]) | undefined;
};

/** The messages of a request as they are sent. */
export type Transcript = {
  /** The system texts at the front, where they stand apart; empty when there are none. */
  readonly system: string;
  readonly json: string;
  /** Where in `json` the writing of each message ends. */
  readonly ends: readonly number[];
  readonly bytes: RequestBytes;
};

/**
 * Writes the messages of requests. A conversation that only grows pays for its new messages: what was written and hashed
 * for the last request is gone on with.
 */
export function createTranscripts(
  { write, pairing, isSystemApart, arrange }: TranscriptForm,
  conversationsMax: number,
) {
  const fragmentOf = createFragments(write);
  const latest = new Map<string, Latest>();

  /** A Map keeps the order of insertion: the first entry is the conversation that has been silent the longest. */
  function remember(conversation: string, entry: Latest): void {
    latest.delete(conversation);
    latest.set(conversation, entry);
    for (const oldest of latest.keys()) {
      if (latest.size <= conversationsMax) break;
      latest.delete(oldest);
    }
  }

  return (messages: readonly Message[], conversation?: string): Transcript => {
    const arranged = arrange?.(messages) ?? messages;
    const previous = conversation === undefined ? undefined : latest.get(conversation);
    const grown = previous?.text?.deref();
    const isLonger = grown !== undefined && isBeginning(grown.taken, arranged);
    const text = isLonger ? grown : newText(arrange === undefined ? createPairing(pairing) : asTheyAre());
    const lengthBefore = text.length;
    grow(text, arranged);
    const ending = text.pairing.ending();
    const whole = ending.length === 0 ? text : copyOf(text);
    for (const message of ending) append(whole, message);
    const reused = isLonger ? lengthBefore : sharedBytes(whole, previous?.keys ?? []);
    const kept = isLonger ? previous?.text : new WeakRef(text);
    if (conversation !== undefined)
      remember(conversation, { keys: whole.keys, text: whole === text ? kept : undefined });
    const { system, json, ends, length } = whole;
    return { system, json, ends: [...ends], bytes: { hash: digest(whole.hash), length, reused } };
  };

  function grow(text: Text, messages: readonly (Message | Paired)[]): void {
    for (const message of messages.slice(text.taken.length)) {
      text.taken.push(message);
      text.pairing.add(message);
    }
    for (const message of text.pairing.paired.slice(text.keys.length)) append(text, message);
  }

  function append(text: Text, message: Paired): void {
    const isApart = isSystemApart && message.role === "system" && text.json === "";
    const { json, bytes, key } = fragmentOf(message, isApart);
    // One count for all bytes, wherever they stand: what comes first in a request comes first here.
    const piece = text.keys.length === 0 ? json : `,${json}`;
    text.length += bytes + piece.length - json.length;
    text.hash.update(piece);
    if (isApart) text.system += text.system === "" ? json : `,${json}`;
    else text.json += text.json === "" ? json : `,${json}`;
    text.ends.push(text.json.length);
    text.keys.push(key);
    text.sizes.push(bytes);
  }
}

/** What is kept of a conversation's last request. Its text only for as long as the memory is not needed elsewhere. */
type Latest = { readonly keys: readonly number[]; readonly text: WeakRef<Text> | undefined };

/** Written messages that more can be written behind. */
type Text = {
  readonly taken: (Message | Paired)[];
  readonly pairing: Pairing;
  readonly hash: Hash;
  readonly keys: number[];
  readonly sizes: number[];
  readonly ends: number[];
  system: string;
  json: string;
  length: number;
};

function newText(pairing: Pairing): Text {
  const empty = { system: "", json: "", length: 0 };
  return { taken: [], pairing, hash: createHash("sha256"), keys: [], sizes: [], ends: [], ...empty };
}

function isBeginning(taken: readonly object[], messages: readonly object[]): boolean {
  if (taken.length > messages.length) return false;
  for (let index = 0; index < taken.length; index += 1) if (taken[index] !== messages[index]) return false;
  return true;
}

/** A copy, because what ends this request need not be what follows in the next. */
function copyOf(text: Text): Text {
  const { hash, keys, sizes, ends } = text;
  return { ...text, hash: hash.copy(), keys: [...keys], sizes: [...sizes], ends: [...ends] };
}

/** How many bytes, commas included, begin both this request and the one with these keys. */
function sharedBytes({ keys, sizes }: Text, previous: readonly number[]): number {
  let bytes = 0;
  for (let index = 0; index < keys.length && keys[index] === previous[index]; index += 1) {
    bytes += (sizes[index] ?? 0) + (index === 0 ? 0 : 1);
  }
  return bytes;
}

function digest(hash: Hash): string {
  return hash.copy().digest("hex").slice(0, 16);
}

/** What was arranged has been paired already. */
function asTheyAre(): Pairing {
  const paired: Paired[] = [];
  return {
    paired,
    add(message) {
      if (message.role !== "tool") paired.push(message);
    },
    ending: () => [],
  };
}
