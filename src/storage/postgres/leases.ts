import { failed, ok, type Result } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { hashOf } from "../blob-hash.ts";
import { checkLimit, checkNumber } from "../checks.ts";
import { integer } from "../rows.ts";
import { wakeRow } from "../shapes.ts";
import type { Storage } from "../storage.ts";
import { lockLog, notFound } from "./event-rows.ts";
import { isDue, isFree, isGone, isOfNobody, moment } from "./moment.ts";
import type { Parts } from "./parts.ts";

type Leasing = "claimLease" | "expireLeases" | "renewLease" | "releaseLease" | "dueWakes" | "putBlob";

/** Who works on a conversation, and which conversations wait for somebody; and what is too large for its log. */
export function leasing({ reader, lanes, now }: Parts): Pick<Storage, Leasing> {
  return {
    claimLease: (number, holder, ttlMs) =>
      lanes.write(number, async (transaction) => {
        const before = await transaction.one(findSql, checkNumber(number), now());
        if (before === undefined) return failed(await notFound(transaction, number));
        if (before.is_free !== true) return failure("fenced", {});
        const epoch = integer(before, "epoch") + 1;
        await transaction.run(grantSql, number, now(), ttlMs, epoch, holder);
        // What was stored by another server, or by a commit whose answer was lost, nobody has told who follows it here.
        transaction.appended(number, integer(before, "head"));
        return ok({ epoch, wasAbandoned: before.is_held === true });
      }),
    async expireLeases() {
      await twice(() => lanes.write("leases", async ({ run }) => ok(await run(expireSql, now()))));
    },
    renewLease: (number, { holder, epoch, ttlMs }) =>
      twice(() =>
        lanes.write(number, async ({ run }) => ok((await run(renewSql, number, now(), ttlMs, epoch, holder)) === 1)),
      ),
    async releaseLease(number, { holder, epoch }) {
      // When it cannot be written the lease runs out by itself.
      await twice(() => lanes.write(number, async ({ run }) => ok(await run(releaseSql, number, holder, epoch))));
    },
    async dueWakes(limit, server) {
      const rows = await reader.all(dueSql, now(), checkLimit(limit), server);
      return rows.map(wakeRow);
    },
    putBlob: (number, data) =>
      lanes.write(number, async (transaction) => {
        if ((await lockLog(transaction, number)) === undefined) return failed(await notFound(transaction, number));
        const hash = hashOf(data);
        await transaction.run(blobSql, number, hash, data);
        return ok({ hash });
      }),
  };
}

/** A lease must not be lost because its write shared a transaction with one that could not be done. */
async function twice<T, F>(attempt: () => Promise<Result<T, F>>): Promise<Result<T, F>> {
  const first = await attempt();
  return first.ok ? first : attempt();
}

const findSql = `SELECT epoch, head, holder IS NOT NULL AS is_held, ${isFree(2)} AS is_free
  FROM log WHERE number = $1 FOR UPDATE`;
const granted = `granted_at = ${moment(2)}, until = ${moment(2)} + $3::bigint`;
const grantSql = `UPDATE log SET ${granted}, epoch = $4, holder = $5 WHERE number = $1`;
const renewSql = `UPDATE log SET ${granted} WHERE number = $1 AND epoch = $4 AND holder = $5`;
const releaseSql = "UPDATE log SET holder = NULL WHERE number = $1 AND holder = $2 AND epoch = $3";
const expireSql = `UPDATE log SET granted_at = 0, until = 0 WHERE holder IS NOT NULL AND ${isOfNobody("holder", 1)}`;
const dueSql = `SELECT wake.number, wake.not_before, log.head FROM wake JOIN log USING (number)
  WHERE ${isDue(1)} AND ${isFree(1)} AND ($3::text IS NULL OR NOT EXISTS (
    SELECT 1 FROM home JOIN server ON server.id = home.server
    WHERE home.key = 'c:' || wake.number AND home.server <> $3 AND NOT ${isGone("server", 1)}))
  ORDER BY wake.not_before, wake.number LIMIT $2`;
const blobSql = "INSERT INTO blob (number, hash, data) VALUES ($1, $2, $3) ON CONFLICT (number, hash) DO NOTHING";
