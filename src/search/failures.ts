import { failure } from "../protocol/failure.ts";
import type { Fault } from "./jobs.ts";

/** What befell the index, by the codes of https://sqlite.org/rescode.html and of the system. */
export function failureOf({ code, said }: Fault) {
  return failure("index_unavailable", { why: causes[code] ?? "broken", said });
}

const causes: Readonly<Record<number | string, "busy" | "full" | "read_only" | "damaged" | "memory" | "stopped">> = {
  5: "busy",
  6: "busy",
  15: "busy",
  8: "read_only",
  14: "read_only",
  11: "damaged",
  26: "damaged",
  13: "full",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EACCES: "read_only",
  EPERM: "read_only",
  EROFS: "read_only",
  memory: "memory",
  ended: "stopped",
};
