import { createHash, type Hash } from "node:crypto";
import type { Message } from "../../protocol/message.ts";
import type { Profile } from "../profile.ts";
import type { RequestBytes } from "../provider.ts";
import { createFragments, type Fragment } from "./fragments.ts";
import { createPairing, type Pairing } from "./pair-calls.ts";
import { alternateRoles, endWithUser, hoistSystem } from "./role-order.ts";

/** The messages of a request as they are sent. */
export type Transcript = { readonly json: string; readonly bytes: RequestBytes };

/**
 * Writes the messages of requests. A conversation that only grows pays for its new messages: what was written and hashed
 * for the last request is gone on with.
 */
export function createTranscripts(profile: Profile, conversationsMax: number) {
  const write = createFragments(profile);
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
    const arranged = isPlain(profile) ? messages : arrange(messages, profile);
    const previous = conversation === undefined ? undefined : latest.get(conversation);
    const grown = previous?.text?.deref();
    const isLonger = grown !== undefined && isBeginning(grown.taken, arranged);
    const text = isLonger ? grown : newText(isPlain(profile) ? createPairing(profile.toolCallIds) : asTheyAre());
    const lengthBefore = text.length;
    grow(text, arranged, write);
    const ending = text.pairing.ending().map(write);
    const whole = ending.length === 0 ? text : withEnding(text, ending);
    const reused = isLonger ? lengthBefore : sharedBytes(whole, previous?.keys ?? []);
    const kept = isLonger ? previous?.text : new WeakRef(text);
    if (conversation !== undefined)
      remember(conversation, { keys: whole.keys, text: whole === text ? kept : undefined });
    return { json: whole.json, bytes: { hash: digest(whole.hash), length: whole.length, reused } };
  };
}

/** What is kept of a conversation's last request. Its text only for as long as the memory is not needed elsewhere. */
type Latest = { readonly keys: readonly number[]; readonly text: WeakRef<Text> | undefined };

/** Written messages that more can be written behind. */
type Text = {
  readonly taken: Message[];
  readonly pairing: Pairing;
  readonly hash: Hash;
  readonly keys: number[];
  readonly sizes: number[];
  json: string;
  length: number;
};

function newText(pairing: Pairing): Text {
  return { taken: [], pairing, hash: createHash("sha256"), keys: [], sizes: [], json: "", length: 0 };
}

function isBeginning(taken: readonly Message[], messages: readonly Message[]): boolean {
  if (taken.length > messages.length) return false;
  for (let index = 0; index < taken.length; index += 1) if (taken[index] !== messages[index]) return false;
  return true;
}

function grow(text: Text, messages: readonly Message[], write: (message: Message) => Fragment): void {
  for (const message of messages.slice(text.taken.length)) {
    text.taken.push(message);
    text.pairing.add(message);
  }
  for (const message of text.pairing.paired.slice(text.keys.length)) append(text, write(message));
}

function append(text: Text, { json, bytes, key }: Fragment): void {
  const piece = text.keys.length === 0 ? json : `,${json}`;
  text.json += piece;
  text.length += bytes + piece.length - json.length;
  text.hash.update(piece);
  text.keys.push(key);
  text.sizes.push(bytes);
}

/** A copy, because what ends this request need not be what follows in the next. */
function withEnding(text: Text, ending: readonly Fragment[]): Text {
  const whole = { ...text, hash: text.hash.copy(), keys: [...text.keys], sizes: [...text.sizes] };
  for (const fragment of ending) append(whole, fragment);
  return whole;
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

function isPlain({ roleOrder, singleSystem, noPrefill }: Profile): boolean {
  return roleOrder === "free" && !singleSystem && !noPrefill;
}

/** For servers that want another order: the history is gone through as a whole, and its beginning may change. */
function arrange(messages: readonly Message[], profile: Profile): readonly Message[] {
  const isFree = profile.roleOrder === "free";
  const pairing = createPairing(profile.toolCallIds);
  const hoisted = profile.singleSystem || !isFree ? hoistSystem(messages) : messages;
  for (const message of hoisted) pairing.add(message);
  const paired = [...pairing.paired, ...pairing.ending()];
  const ordered = isFree ? paired : alternateRoles(paired);
  return profile.noPrefill ? endWithUser(ordered) : ordered;
}

function asTheyAre(): Pairing {
  const paired: Message[] = [];
  return { paired, add: (message) => void paired.push(message), ending: () => [] };
}
