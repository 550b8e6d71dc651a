import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { Result } from "../../src/base/result.ts";
import type { EventType } from "../../src/protocol/events.ts";
import { ConversationId, OwnerId } from "../../src/protocol/ids.ts";
import type { EncodedEvent, Storage, StoredEvent } from "../../src/storage/storage.ts";

/** Sentences about storages, each with what shows that it is true: at first in a storage that is empty. */
export type Promises = Readonly<Record<string, (storage: Storage, place: Place) => Promise<void>>>;

export type Opener = (clock: Clock) => Promise<Storage>;

/** Where a storage keeps its facts. Each `open` is one more process, as far as the storage can tell. */
export type Place = AsyncDisposable & {
  open(): Promise<Storage>;
  readonly clock: { set(now: number): void };
};

export function openPlace(opener: Opener): Place {
  let now = morning;
  const opened: Storage[] = [];
  return {
    async open() {
      const storage = await opener({ ...systemClock, now: () => now });
      opened.push(storage);
      return storage;
    },
    clock: {
      set(to) {
        now = to;
      },
    },
    async [Symbol.asyncDispose]() {
      for (const storage of opened) await storage.close();
    },
  };
}

export const morning = Date.UTC(2026, 0, 1, 8);
export const alice = OwnerId.parse("alice");
export const bob = OwnerId.parse("bob");

export function idOf(text: string): ConversationId {
  return ConversationId.parse(text);
}

/** Makes an empty conversation and answers its number. */
export async function makeConversation(storage: Storage, id = "c", owner = alice, at = morning): Promise<number> {
  return unwrap(await storage.createConversation({ owner, id: idOf(id), at, events: [] })).number;
}

export function fact(text: string, type: EventType = "message.user"): EncodedEvent {
  return { type, version: 1, at: morning, body: JSON.stringify({ text }) };
}

export function facts(...texts: string[]): EncodedEvent[] {
  return texts.map((text) => fact(text));
}

/** The facts as they are read back, numbered from `first` on. */
export function stored(first: number, ...texts: string[]): StoredEvent[] {
  return texts.map((text, index) => ({ seq: first + index, ...fact(text) }));
}

export async function readAll(storage: Storage, number: number): Promise<StoredEvent[]> {
  return storage.read(number, { after: 0, limit: 1_000_000 });
}

export function unwrap<T>(result: Result<T, { code: string }>): T {
  assert(result.ok, result.ok ? "" : `failed: ${result.failure.code}`);
  return result.value;
}

export function codeOf(result: Result<unknown, { code: string }>): string {
  return result.ok ? "ok" : result.failure.code;
}
