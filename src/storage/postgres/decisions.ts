import { checkLimit } from "../checks.ts";
import { openDecisionRow } from "../shapes.ts";
import type { Storage } from "../storage.ts";
import { moment } from "./moment.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

export function deciding({ reader }: Parts): Pick<Storage, "openDecisions"> {
  return {
    openDecisions: async (owner, limit) => (await reader.all(openSql, owner, checkLimit(limit))).map(openDecisionRow),
  };
}

export async function writeAsked(
  query: Query,
  number: number,
  { decision, body }: { readonly decision: string; readonly body: string },
  at: number | null,
): Promise<void> {
  await query.run(askedSql, number, decision, body, at);
}

export async function decide(query: Query, number: number, decisions: readonly string[]): Promise<void> {
  await query.run("DELETE FROM decision WHERE number = $1 AND decision = ANY ($2::text[])", number, decisions);
}

const openSql = `SELECT conversation.*, decision.decision, decision.body, decision.at
  FROM decision JOIN conversation USING (number) WHERE conversation.owner = $1 ORDER BY decision.key LIMIT $2`;
const askedSql = `INSERT INTO decision (number, decision, body, at) VALUES ($1, $2, $3, ${moment(4)})
  ON CONFLICT (number, decision) DO UPDATE SET body = excluded.body`;
