import { ok } from "../../base/result.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { memoryRow, ruleRow } from "../shapes.ts";
import type { RuleRow, Storage } from "../storage.ts";
import type { Parts } from "./parts.ts";
import type { Query } from "./query.ts";

type Keeping = "listRules" | "putRule" | "dropRule" | "listMemory" | "putMemory" | "dropMemory";

/** What users allowed always, and what they want to be known everywhere. */
export function remembering({ reader, lanes }: Parts): Pick<Storage, Keeping> {
  return {
    async listRules(owner, { number, limit }) {
      const counting = number === undefined ? null : checkNumber(number);
      return (await reader.all(rulesSql, owner, counting, checkLimit(limit))).map(ruleRow);
    },
    putRule: (row) => lanes.write(row.owner, async (query) => ok(await writeRule(query, row))),
    dropRule: (owner, id) =>
      lanes.write(owner, async ({ run }) =>
        ok((await run("DELETE FROM rule WHERE owner = $1 AND id = $2", owner, id)) === 1),
      ),
    listMemory: async (owner, limit) => (await reader.all(memorySql, owner, checkLimit(limit))).map(memoryRow),
    putMemory: ({ owner, id, fact, conversation, at }) =>
      lanes.write(owner, async ({ run }) => {
        await run(putMemorySql, owner, id, fact, conversation, at);
        return ok(undefined);
      }),
    dropMemory: (owner, id) =>
      lanes.write(owner, async ({ run }) =>
        ok((await run("DELETE FROM memory WHERE owner = $1 AND id = $2", owner, id)) === 1),
      ),
  };
}

export async function writeRule(query: Query, { owner, id, number, body, at }: RuleRow): Promise<void> {
  await query.run(putRuleSql, owner, id, number === undefined ? null : checkNumber(number), body, at);
}

const rulesSql = `SELECT * FROM rule WHERE owner = $1 AND ($2::bigint IS NULL OR number IS NULL OR number = $2)
  ORDER BY at DESC, key DESC LIMIT $3`;
const putRuleSql = `INSERT INTO rule (owner, id, number, body, at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (owner, id) DO UPDATE SET number = excluded.number, body = excluded.body, at = excluded.at`;
const memorySql = "SELECT * FROM memory WHERE owner = $1 ORDER BY at, key LIMIT $2";
const putMemorySql = `INSERT INTO memory (owner, id, fact, conversation, at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (owner, id) DO UPDATE SET fact = excluded.fact, conversation = excluded.conversation, at = excluded.at`;
