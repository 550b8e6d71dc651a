import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../base/clock.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { integer } from "../rows.ts";
import { wakeRow } from "../shapes.ts";
import type { SideRows, Wake } from "../storage.ts";

/** Who works on a conversation, and which conversations wait for somebody. All but `due` run inside a transaction. */
export type Leases = {
  /** Undefined while somebody holds it. */
  claim(number: number, holder: string, ttlMs: number): { epoch: number; wasAbandoned: boolean } | undefined;
  renew(number: number, lease: { holder: string; epoch: number; ttlMs: number }): boolean;
  release(number: number, lease: { holder: string; epoch: number }): void;
  /** For a process that knows that it is alone: the holders are dead. */
  expireAll(): void;
  isCurrent(number: number, epoch: number): boolean;
  setWake(number: number, wake: NonNullable<SideRows["wake"]>, headBefore: number): void;
  due(limit: number): Wake[];
};

export function openLeases(writer: DatabaseSync, reader: DatabaseSync, clock: Clock): Leases {
  const { find, grant, renewHeld, releaseHeld, expire, current, wakeAt, wakeDone, dueWakes } = prepare(writer, reader);

  return {
    claim(number, holder, ttlMs) {
      const now = clock.now();
      const before = find.get({ number: checkNumber(number), now });
      if (before !== undefined && integer(before, "is_free") === 0) return undefined;
      const epoch = (before === undefined ? 0 : integer(before, "epoch")) + 1;
      grant.run(number, epoch, holder, now, now + ttlMs);
      return { epoch, wasAbandoned: before !== undefined && integer(before, "is_held") === 1 };
    },
    renew(number, { holder, epoch, ttlMs }) {
      const now = clock.now();
      return renewHeld.run(now, now + ttlMs, number, holder, epoch).changes === 1;
    },
    release(number, { holder, epoch }) {
      releaseHeld.run(number, holder, epoch);
    },
    expireAll() {
      expire.run();
    },
    isCurrent(number, epoch) {
      const row = current.get(number);
      return row !== undefined && integer(row, "epoch") === epoch;
    },
    setWake(number, wake, headBefore) {
      if ("notBefore" in wake) wakeAt.run(number, wake.notBefore, clock.now());
      else if (wake.doneAtHead === headBefore) wakeDone.run(number);
    },
    due(limit) {
      const rows = dueWakes.all({ now: clock.now(), limit: checkLimit(limit) });
      return rows.map(wakeRow);
    },
  };
}

/**
 * Released, run out, or granted further in the future than it lasts: then the clock was set back, and waiting for it
 * could take days. The fence keeps a holder that is alive after all from doing harm.
 */
export const isFree = `(lease.holder IS NULL OR lease.until <= :now
  OR lease.granted_at - :now > lease.until - lease.granted_at)`;

/** The same for a wake: rather too early than never. A clock that is merely corrected must not cut a delay short. */
const isDue = "(wake.not_before <= :now OR wake.set_at > :now + 10000)";

/** 0 where it has no events. */
const headOf = `coalesce((SELECT max(id) FROM event
        WHERE id BETWEEN wake.number << 24 AND (wake.number << 24) + 16777215) - (wake.number << 24), 0)`;

function prepare(writer: DatabaseSync, reader: DatabaseSync) {
  return {
    find: writer.prepare(`SELECT epoch, holder IS NOT NULL AS is_held, ${isFree} AS is_free
      FROM lease WHERE number = :number`),
    grant: writer.prepare(
      "INSERT OR REPLACE INTO lease (number, epoch, holder, granted_at, until) VALUES (?, ?, ?, ?, ?)",
    ),
    renewHeld: writer.prepare(
      "UPDATE lease SET granted_at = ?, until = ? WHERE number = ? AND holder = ? AND epoch = ?",
    ),
    releaseHeld: writer.prepare("UPDATE lease SET holder = NULL WHERE number = ? AND holder = ? AND epoch = ?"),
    expire: writer.prepare("UPDATE lease SET granted_at = 0, until = 0 WHERE holder IS NOT NULL"),
    current: writer.prepare("SELECT epoch FROM lease WHERE number = ? AND holder IS NOT NULL"),
    wakeAt: writer.prepare("INSERT OR REPLACE INTO wake (number, not_before, set_at) VALUES (?, ?, ?)"),
    wakeDone: writer.prepare("DELETE FROM wake WHERE number = ?"),
    dueWakes: reader.prepare(`SELECT wake.number, wake.not_before, ${headOf} AS head
      FROM wake LEFT JOIN lease USING (number)
      WHERE ${isDue} AND ${isFree}
      ORDER BY wake.not_before, wake.number LIMIT :limit`),
  };
}
