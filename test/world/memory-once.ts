import { ok } from "../../src/base/result.ts";
import type { OnceRow, Storage } from "../../src/storage/storage.ts";

/** What was done under which key, in memory. */
export function memoryOnce(): Pick<Storage, "beginOnce" | "endOnce" | "dropOnce" | "dropOnceBefore"> {
  const rows = new Map<string, OnceRow>();
  const placeOf = (owner: string, key: string) => JSON.stringify([owner, key]);
  return {
    async beginOnce(begun) {
      const place = placeOf(begun.owner, begun.key);
      const row = rows.get(place) ?? { ...begun, answer: undefined };
      const isNew = !rows.has(place);
      rows.set(place, row);
      return ok({ row, isNew });
    },
    async endOnce(owner, key, answer) {
      const row = rows.get(placeOf(owner, key));
      if (row !== undefined) rows.set(placeOf(owner, key), { ...row, answer });
      return ok(undefined);
    },
    async dropOnce(owner, key) {
      rows.delete(placeOf(owner, key));
      return ok(undefined);
    },
    async dropOnceBefore(at) {
      for (const [place, row] of rows) if (row.at < at) rows.delete(place);
      return ok(undefined);
    },
  };
}
