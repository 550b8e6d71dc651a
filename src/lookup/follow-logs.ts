import { whenOver } from "../base/background.ts";
import { ok } from "../base/result.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ConversationRow } from "../storage/storage.ts";
import { type Following, type FollowingParts, followLog } from "./follow-log.ts";

export type WantedLogs = {
  readonly rows: readonly ConversationRow[];
  /** The owner has no others: what the index has beyond them is of conversations that are gone. */
  readonly areAll: boolean;
  /** After each of them. */
  readonly onFollowed: () => void;
};

/** Brings what is said into the index, by the logs. */
export function openFollowing(parts: FollowingParts) {
  const { search, closing } = parts;
  const last = new Map<OwnerId, Promise<unknown>>();

  /** One after another for each owner: two at a time would follow the same log. */
  const inTurn = <T>(owner: OwnerId, work: () => Promise<T>): Promise<T> => {
    const mine = whenOver(last.get(owner) ?? Promise.resolve()).then(work);
    last.set(owner, mine);
    void whenOver(mine).then(() => {
      if (last.get(owner) === mine) last.delete(owner);
    });
    return mine;
  };

  const followAll = async (owner: OwnerId, { rows, areAll, onFollowed }: WantedLogs): Promise<Following> => {
    const followed = await search.followed(owner);
    if (!followed.ok) return followed;
    const marks = new Map(followed.value.map((mark) => [mark.name, mark]));
    const living = new Set(rows.map(({ number }) => String(number)));
    for (const name of areAll ? marks.keys() : []) if (!living.has(name)) await search.unfollow({ owner, name });
    for (const row of rows) {
      if (closing.aborted) return ok(undefined);
      const done = await followLog(parts, row, marks.get(String(row.number)));
      if (!done.ok) return done;
      onFollowed();
    }
    return ok(undefined);
  };

  return {
    /** Goes on to the end, whoever still waits for it. */
    catchUp: (owner: OwnerId, wanted: WantedLogs): Promise<Following> => inTurn(owner, () => followAll(owner, wanted)),
    forget: ({ owner, number }: ConversationRow) =>
      inTurn(owner, () => search.unfollow({ owner, name: String(number) })),
    /** When nobody is at work any more. */
    settled: () => Promise.all(Array.from(last.values(), whenOver)),
  };
}
