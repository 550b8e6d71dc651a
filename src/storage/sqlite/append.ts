import type { Clock } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { makeFailure } from "../../protocol/failure.ts";
import type { Append, ConversationRow, NewConversation, StorageFailure } from "../storage.ts";
import type { Tables } from "./tables.ts";

/** A new conversation with its first events, inside a transaction. */
export function create(tables: Tables, conversation: NewConversation): Result<ConversationRow, StorageFailure> {
  const created = tables.conversations.create(conversation);
  if (!created.ok) return created;
  tables.events.append(created.value.number, conversation.events);
  if (conversation.blobsOf !== undefined) tables.blobs.copy(conversation.blobsOf, created.value.number);
  return created;
}

/** One batch inside a transaction: looks first, so that a batch that may not be appended has written nothing. */
export function append(
  tables: Tables,
  batch: Append,
  clock: Clock,
): Result<{ readonly lastSeq: number }, StorageFailure> {
  const { number, with: side } = batch;
  const refused = refusal(tables, batch);
  if (refused !== undefined) return failed(refused);
  const known = side?.received === undefined ? undefined : tables.received.seqOf(number, side.received);
  if (known !== undefined) return ok({ lastSeq: known });
  // Appending nothing tells the head as this transaction has it so far.
  const hasMoved = batch.expectedHead !== undefined && batch.expectedHead !== tables.events.append(number, []);
  if (hasMoved) return failed(makeFailure("log_moved", {}));

  const lastSeq = tables.events.append(number, batch.events);
  if (side !== undefined) writeBeside(tables, batch, { lastSeq, at: batch.events.at(-1)?.at ?? clock.now() });
  return ok({ lastSeq });
}

function refusal({ conversations, leases }: Tables, { number, epoch }: Append): StorageFailure | undefined {
  // Deleting a conversation removes its lease: who holds the current one need not look for the tombstone.
  if (epoch !== undefined && leases.isCurrent(number, epoch)) return undefined;
  return conversations.checkAlive(number) ?? (epoch === undefined ? undefined : makeFailure("fenced", {}));
}

function writeBeside(
  tables: Tables,
  { number, events, with: side = {} }: Append,
  { lastSeq, at }: { lastSeq: number; at: number },
) {
  if (side.received !== undefined) tables.received.add(number, side.received, lastSeq);
  if (side.wake !== undefined) tables.leases.setWake(number, side.wake, lastSeq - events.length);
  if (side.row !== undefined) tables.conversations.update(number, side.row);
  if (side.asked !== undefined) tables.decisions.asked(number, side.asked, at);
  if (side.decided !== undefined) tables.decisions.decided(number, side.decided);
  for (const rule of side.rules ?? []) tables.rules.put(rule);
  if (side.agents !== undefined) tables.workspaces.addAgents(number, side.agents, at);
  // Last: nothing of the batch may stay either.
  if (side.deleted !== undefined) tables.bury(number, side.deleted.at);
}
