import { serverGoneMs } from "../sharing.ts";

/** The time that is given as this parameter, or that of the database. */
export function moment(place: number): string {
  return `coalesce($${place}::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)`;
}

/** A row of `server` that was not seen for too long; or that was last seen so far in the future that the clock was set back. */
export function isGone(table: string, place: number): string {
  return `(abs(${moment(place)} - ${table}.seen_at) >= ${serverGoneMs})`;
}

/**
 * Released, run out, or granted further in the future than it lasts: then the clock was set back, and waiting for it
 * could take days. Or its server is gone: that is known sooner. The fence keeps a holder that is alive after all from doing harm.
 */
export function isFree(place: number): string {
  const now = moment(place);
  return `(log.holder IS NULL OR log.until <= ${now} OR log.granted_at - ${now} > log.until - log.granted_at
    OR EXISTS (SELECT 1 FROM server AS gone WHERE gone.id = log.holder AND ${isGone("gone", place)}))`;
}

/** Its server is not known to live. */
export function isOfNobody(column: string, place: number): string {
  return `(NOT EXISTS (SELECT 1 FROM server AS alive WHERE alive.id = ${column} AND NOT ${isGone("alive", place)}))`;
}

/** The same for a wake: rather too early than never. A clock that is merely corrected must not cut a delay short. */
export function isDue(place: number): string {
  return `(wake.not_before <= ${moment(place)} OR wake.set_at > ${moment(place)} + 10000)`;
}
