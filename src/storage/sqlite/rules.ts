import type { DatabaseSync } from "node:sqlite";
import type { OwnerId } from "../../protocol/ids.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { ruleRow } from "../shapes.ts";
import type { RuleRow } from "../storage.ts";

/** What users allowed always. */
export type Rules = {
  /** Inside a transaction, as is `drop`. */
  put(row: RuleRow): void;
  drop(owner: OwnerId, id: string): boolean;
  list(owner: OwnerId, where: { number?: number | undefined; limit: number }): RuleRow[];
};

export function openRules(writer: DatabaseSync, reader: DatabaseSync): Rules {
  const insert = writer.prepare(`INSERT INTO rule (owner, id, number, body, at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (owner, id) DO UPDATE SET number = excluded.number, body = excluded.body, at = excluded.at`);
  const remove = writer.prepare("DELETE FROM rule WHERE owner = ? AND id = ?");
  const newest = "ORDER BY at DESC, key DESC LIMIT ?";
  const ofOwner = reader.prepare(`SELECT * FROM rule WHERE owner = ? ${newest}`);
  const counting = reader.prepare(`SELECT * FROM rule WHERE owner = ? AND (number IS NULL OR number = ?) ${newest}`);

  return {
    put({ owner, id, number, body, at }) {
      insert.run(owner, id, number === undefined ? null : checkNumber(number), body, at);
    },
    drop: (owner, id) => remove.run(owner, id).changes === 1,
    list(owner, { number, limit }) {
      const rows =
        number === undefined
          ? ofOwner.all(owner, checkLimit(limit))
          : counting.all(owner, checkNumber(number), checkLimit(limit));
      return rows.map(ruleRow);
    },
  };
}
