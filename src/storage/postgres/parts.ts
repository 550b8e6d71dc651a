import type { Lanes } from "./lanes.ts";
import type { OwnLine } from "./own-line.ts";
import type { Reader } from "./query.ts";

/** What the tables work with. */
export type Parts = {
  readonly reader: Reader;
  readonly lanes: Lanes;
  /** The time that leases and wakes go by; null: that of the database, which all processes share. */
  readonly now: () => number | null;
  /** Tells other servers what this transaction has changed, with its commit. */
  readonly announce: OwnLine["announce"];
};
