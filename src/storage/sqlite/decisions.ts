import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit } from "../checks.ts";
import { openDecisionRow } from "../shapes.ts";
import type { OpenDecisionRow, SideRows } from "../storage.ts";

/** What people are still asked. */
export type Decisions = {
  /** Inside a transaction, as is `decided`. */
  asked(number: number, asked: NonNullable<SideRows["asked"]>, at: number): void;
  decided(number: number, decisions: readonly string[]): void;
  open(owner: OwnerId, limit: number): OpenDecisionRow[];
};

export function openDecisions(writer: DatabaseSync, reader: DatabaseSync): Decisions {
  const insert = writer.prepare(`INSERT INTO decision (number, decision, body, at) VALUES (?, ?, ?, ?)
    ON CONFLICT (number, decision) DO UPDATE SET body = excluded.body`);
  const remove = writer.prepare("DELETE FROM decision WHERE number = ? AND decision = ?");
  const ofOwner = reader.prepare(`SELECT conversation.*, decision.decision, decision.body, decision.at
    FROM decision JOIN conversation USING (number) WHERE conversation.owner = ? ORDER BY decision.key LIMIT ?`);

  return {
    asked(number, asked, at) {
      for (const { decision, body } of asked) insert.run(number, decision, body, at);
    },
    decided(number, decisions) {
      for (const decision of decisions) remove.run(number, decision);
    },
    open: (owner, limit) => ofOwner.all(owner, checkLimit(limit)).map(openDecisionRow),
  };
}
