import { assert } from "../../base/assert.ts";
import { ok } from "../../base/result.ts";
import { onceRow } from "../shapes.ts";
import type { Storage } from "../storage.ts";
import type { Parts } from "./parts.ts";

type DoingOnce = "beginOnce" | "endOnce" | "dropOnceBefore";

/** What was done under a caller's key. */
export function doingOnce({ lanes }: Parts): Pick<Storage, DoingOnce> {
  return {
    beginOnce: ({ owner, key, fingerprint, at }) =>
      lanes.write(owner, async ({ run, one }) => {
        const isNew = (await run(beginSql, owner, key, fingerprint, at)) === 1;
        const row = await one("SELECT * FROM idempotency WHERE owner = $1 AND key = $2", owner, key);
        assert(row !== undefined, "it was there, or it is now");
        return ok({ row: onceRow(row), isNew });
      }),
    endOnce: (owner, key, answer) =>
      lanes.write(owner, async ({ run }) => {
        await run("UPDATE idempotency SET answer = $3 WHERE owner = $1 AND key = $2", owner, key, answer);
        return ok(undefined);
      }),
    dropOnceBefore: (at) =>
      lanes.write("once", async ({ run }) => {
        await run("DELETE FROM idempotency WHERE at < $1", at);
        return ok(undefined);
      }),
  };
}

const beginSql = `INSERT INTO idempotency (owner, key, fingerprint, at) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING`;
