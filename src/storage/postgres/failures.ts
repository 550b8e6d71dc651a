import { type Failure, makeFailure } from "../../protocol/failure.ts";
import type { AwayFault, DatabaseFault } from "../../words/words.ts";

/** What can befall a database that is in use. */
export type DatabaseFailure = Failure<
  "storage_busy" | "storage_full" | "storage_read_only" | "storage_broken" | "database_away"
>;

/** The commit was asked for and no answer came: what was written may be there, so it must not be written again. */
export class CommitUnknown extends Error {}

/** What the world did to the database, as a value. Undefined: our own mistake, to be thrown on. */
export function failureOf(error: unknown): DatabaseFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (isCrowded(error)) return makeFailure("storage_busy", {});
  const why = whyAway(error);
  if (why !== undefined) return makeFailure("database_away", { why, said: saidBy(error) });
  // It could be used once, so somebody has changed it since.
  if (whyUnusable(error) !== undefined) return makeFailure("storage_broken", { why: "removed", said: saidBy(error) });
  switch (codeOf(error)) {
    case "55P03": // lock_not_available
    case "57014": // query_canceled, by the time limit of a statement
    case "40001": // serialization_failure
    case "40P01": // deadlock_detected
      return makeFailure("storage_busy", {});
    case "53100": // disk_full
      return makeFailure("storage_full", {});
    case "25006": // read_only_sql_transaction
      return makeFailure("storage_read_only", {});
    case "58030": // io_error
      return makeFailure("storage_broken", { why: "io", said: saidBy(error) });
    case "XX001": // data_corrupted
    case "XX002": // index_corrupted
      return makeFailure("storage_broken", { why: "damaged", said: saidBy(error) });
    case "42P01": // undefined_table
      return makeFailure("storage_broken", { why: "removed", said: saidBy(error) });
    default:
      return undefined;
  }
}

/** The same for one that is being opened. */
export function openFailureOf(error: unknown): DatabaseFailure | Failure<"database_unusable"> | undefined {
  const why = whyUnusable(error);
  if (why === undefined || !(error instanceof Error)) return failureOf(error);
  return makeFailure("database_unusable", { why, said: saidBy(error) });
}

/** All of our connections are in use, and none came free in time. */
function isCrowded(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("timeout exceeded when trying to connect");
}

/** Two transactions stood in each other's way: the one that was given up can be done again. */
export function isGivenUp(error: unknown): boolean {
  return /^(40001|40P01)$/.test(codeOf(error));
}

/** Worth waiting for: a server that starts or ends, a network that is cut. A wrong password stays wrong. */
export function isPassing(error: unknown): boolean {
  const why = whyAway(error);
  return why !== undefined && why !== "commit_unknown";
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html, and what the system says of sockets. */
function whyAway(error: unknown): AwayFault | undefined {
  if (error instanceof CommitUnknown) return "commit_unknown";
  const code = codeOf(error);
  if (code === "57P03") return "starting";
  if (code === "53300") return "full";
  if (/^E(CONN|PIPE|HOST|NET|TIMEDOUT|NOTFOUND|AI_AGAIN|NOENT|ACCES)|^57P0[12]$|^25P03$|^08/.test(code)) return "away";
  return code === "" && error instanceof Error && lostWords.test(error.message) ? "away" : undefined;
}

/** pg gives what befalls a connection no code. */
const lostWords =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Query read timeout|timeout expired|timeout exceeded when)/;

function whyUnusable(error: unknown): DatabaseFault | undefined {
  const code = codeOf(error);
  if (/^28/.test(code) || isOfPassword(error)) return "refused";
  if (code === "3D000") return "no_database";
  if (code === "42501" || code === "3F000") return "no_rights";
  return error instanceof Error && /\bSSL\b|certificate/i.test(error.message) ? "no_tls" : undefined;
}

/** The server wants one, and there is none in the address. */
function isOfPassword(error: unknown): boolean {
  return error instanceof Error && /^SASL: .*password/i.test(error.message);
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The code alone where the system speaks: its words have paths and addresses of the operator. */
function saidBy(error: Error): string {
  const told = error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error;
  const code = codeOf(told);
  if ("syscall" in told) return code;
  return code === "" || told.message.includes(code) ? told.message : `${told.message} (${code})`;
}
