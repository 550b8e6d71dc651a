/** The time that is given as this parameter, or that of the database. */
export function moment(place: number): string {
  return `coalesce($${place}::bigint, (extract(epoch FROM statement_timestamp()) * 1000)::bigint)`;
}

/**
 * Released, run out, or granted further in the future than it lasts: then the clock was set back, and waiting for it
 * could take days. The fence keeps a holder that is alive after all from doing harm.
 */
export function isFree(place: number): string {
  const now = moment(place);
  return `(log.holder IS NULL OR log.until <= ${now} OR log.granted_at - ${now} > log.until - log.granted_at)`;
}

/** The same for a wake: rather too early than never. A clock that is merely corrected must not cut a delay short. */
export function isDue(place: number): string {
  return `(wake.not_before <= ${moment(place)} OR wake.set_at > ${moment(place)} + 10000)`;
}
