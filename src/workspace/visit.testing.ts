import { join } from "node:path";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { ok } from "../base/result.ts";
import { openBooks } from "./books.ts";
import type { Visit } from "./files.ts";

/** Somebody looks at the whole of a workspace, whose folder is `w` below `base`; `root`: open, where it is there. */
export function visitOf(base: string, given: Partial<Visit> = {}): Visit {
  const make = async () => ok(undefined);
  const at = { folder: join(base, "w"), keptFolder: join(base, "kept"), uid: undefined, make, used() {} };
  return {
    ...{ id: "w", kind: "conversation", owner: "local", name: "1", clock: systemClock, ids: systemIds },
    ...{ logger: quietLogger([]), limits: testLimits, stagingFolder: join(base, "staging"), books: openBooks() },
    ...{ at, place: async () => ok(at), path: ".", names: [], root: undefined, above: [], ...given },
  };
}
