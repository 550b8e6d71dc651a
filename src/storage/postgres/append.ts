import { failed, ok, type Result } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { integer } from "../rows.ts";
import type { Append, SideRows, StorageFailure } from "../storage.ts";
import { bury, updateConversation } from "./conversations.ts";
import { decide, writeAsked } from "./decisions.ts";
import { appendEvents, lockLog, notFound } from "./event-rows.ts";
import type { Transaction } from "./lanes.ts";
import { moment } from "./moment.ts";
import type { Query } from "./query.ts";
import { writeRule } from "./rules.ts";
import { addAgents } from "./workspaces.ts";

/** One batch inside a transaction: looks first, so that a batch that may not be appended has written nothing. */
export async function append(
  transaction: Transaction,
  batch: Append,
  now: number | null,
): Promise<Result<{ readonly lastSeq: number }, StorageFailure>> {
  const { number, epoch, expectedHead, events, with: side } = batch;
  const log = await lockLog(transaction, number);
  if (log === undefined) return failed(await notFound(transaction, number));
  const isFenced = epoch !== undefined && (log.holder === null || integer(log, "epoch") !== epoch);
  if (isFenced) return failed(makeFailure("fenced", {}));
  const known = side?.received === undefined ? undefined : await receivedAt(transaction, number, side.received);
  if (known !== undefined) return ok({ lastSeq: known });
  const head = integer(log, "head");
  if (expectedHead !== undefined && expectedHead !== head) return failed(makeFailure("log_moved", {}));

  const lastSeq = await appendEvents(transaction, number, head, events);
  if (side !== undefined) await writeBeside(transaction, { number, side, head, lastSeq, at: events.at(-1)?.at, now });
  return ok({ lastSeq });
}

async function receivedAt(query: Query, number: number, clientId: string): Promise<number | undefined> {
  const row = await query.one("SELECT seq FROM received WHERE number = $1 AND client_id = $2", number, clientId);
  return row === undefined ? undefined : integer(row, "seq");
}

type Beside = {
  readonly number: number;
  readonly side: SideRows;
  readonly head: number;
  readonly lastSeq: number;
  readonly at: number | undefined;
  readonly now: number | null;
};

async function writeBeside(query: Query, { number, side, head, lastSeq, at, now }: Beside): Promise<void> {
  if (side.received !== undefined)
    await query.run(
      "INSERT INTO received (number, client_id, seq) VALUES ($1, $2, $3)",
      number,
      side.received,
      lastSeq,
    );
  if (side.wake !== undefined) await setWake(query, number, side.wake, head, now);
  if (side.row !== undefined) await updateConversation(query, number, side.row);
  for (const asked of side.asked ?? []) await writeAsked(query, number, asked, at ?? now);
  if (side.decided !== undefined) await decide(query, number, side.decided);
  for (const rule of side.rules ?? []) await writeRule(query, rule);
  if (side.agents !== undefined) await addAgents(query, number, side.agents, at ?? now);
  // Last: nothing of the batch may stay either.
  if (side.deleted !== undefined) await bury(query, number, side.deleted.at);
}

async function setWake(
  query: Query,
  number: number,
  wake: NonNullable<SideRows["wake"]>,
  headBefore: number,
  now: number | null,
): Promise<void> {
  if ("notBefore" in wake) await query.run(wakeSql, number, wake.notBefore, now);
  else if (wake.doneAtHead === headBefore) await query.run("DELETE FROM wake WHERE number = $1", number);
}

const wakeSql = `INSERT INTO wake (number, not_before, set_at) VALUES ($1, $2, ${moment(3)})
  ON CONFLICT (number) DO UPDATE SET not_before = excluded.not_before, set_at = excluded.set_at`;
