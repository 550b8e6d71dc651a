import type { ClientConfig } from "pg";
import { types } from "./query.ts";

export type DatabasePlace = {
  /** `postgres://user:password@host:port/database`; `?schema=` where the tables are not to lie in `agentyard`. */
  readonly url: string;
  /** `normal` survives the end of our process, but the last commits may be lost when the server itself breaks down. */
  readonly synchronous: "full" | "normal";
  readonly statementMsMax: number;
};

/** The schema that holds our tables, so that they meet nobody else's. */
export function schemaOf(url: string): string {
  return new URL(url).searchParams.get("schema") ?? "agentyard";
}

/** How one connection is made, and what every session of ours asks of the server. */
export function configOf({ url, synchronous, statementMsMax }: DatabasePlace): ClientConfig {
  const place = new URL(url);
  const own = place.searchParams.get("options") ?? "";
  const schema = schemaOf(url);
  place.searchParams.delete("schema");
  place.searchParams.delete("options");
  const session = {
    search_path: schema,
    synchronous_commit: synchronous === "full" ? "on" : "off",
    // A machine that lost its power says no good-bye: its locks must not outlive it by hours.
    ...{ tcp_keepalives_idle: 10, tcp_keepalives_interval: 5, tcp_keepalives_count: 3 },
  };
  const options = Object.entries(session).map(([name, value]) => `-c ${name}=${value}`);
  return {
    connectionString: place.href,
    types,
    application_name: "agentyard",
    options: [own, ...options].filter((option) => option !== "").join(" "),
    ...{ keepAlive: true, keepAliveInitialDelayMillis: 10_000, connectionTimeoutMillis: connectMsMax },
    statement_timeout: statementMsMax,
    lock_timeout: lockMsMax,
    idle_in_transaction_session_timeout: statementMsMax,
    // A server that cannot be reached any more cannot end a statement either.
    query_timeout: statementMsMax + connectMsMax,
  };
}

const connectMsMax = 5_000;
/** How long a write waits for another server that changes the same rows. */
const lockMsMax = 5_000;
