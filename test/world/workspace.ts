import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import type { Logger } from "../../src/observe/observe.ts";
import { openBooks, openFiles, type Workspace, type WorkspaceLimits } from "../../src/workspace/workspace.ts";

export const testLimits: WorkspaceLimits = {
  bytesMax: 2 ** 31,
  filesMax: 65_536,
  freeBytesMin: 0,
  keptFileBytesMax: 20 * 2 ** 20,
  keptBytesMax: 200 * 2 ** 20,
  trashMs: 30 * 86_400_000,
  callerMs: 30 * 86_400_000,
};

export type TestWorkspace = {
  readonly workspace: Workspace;
  /** The host folder, which may not be there yet; everything of the test lies in `base`. */
  readonly folder: string;
  readonly base: string;
  /** A second view of the same files, as another request has it. */
  again(): Workspace;
  readonly logged: string[];
};

type Options = {
  readonly kind?: Workspace["kind"];
  readonly limits?: Partial<WorkspaceLimits>;
  readonly clock?: Clock;
  /** Where instead of a new temporary folder. */
  readonly base?: string;
  /** Whose conversation it is of. */
  readonly owner?: string;
  /** Whom its files belong to. */
  readonly uid?: number;
};

/** The files of one workspace on the real disk, without anything around it. A conversation has its folders at once. */
export async function testWorkspace(t: Pick<TestContext, "after">, options: Options = {}): Promise<TestWorkspace> {
  const { kind = "conversation", clock = systemClock } = options;
  const base = options.base ?? (await mkdtemp(join(tmpdir(), "agentyard-files-")));
  if (options.base === undefined) t.after(() => rm(base, { recursive: true, force: true }));
  const folder = join(base, "workspace", "w1");
  const logged: string[] = [];
  const logger = quietLogger(logged);
  const makeFolders = async () => {
    const inside = kind === "conversation" ? ["skills", "uploads", "outputs", "temp"] : ["."];
    for (const name of inside) await mkdir(join(folder, name), { recursive: true });
    return ok(undefined);
  };
  if (kind === "conversation") await makeFolders();
  const books = openBooks();
  const again = () =>
    openFiles({
      ...{ id: "w1", owner: options.owner ?? "local", name: "1", kind, clock, ids: systemIds, logger, books },
      limits: { ...testLimits, ...options.limits },
      stagingFolder: join(base, "staging"),
      place: async () => ok({ folder, keptFolder: join(base, "kept"), uid: options.uid, make: makeFolders, used() {} }),
    });
  return { workspace: again(), folder, base, again, logged };
}

export function quietLogger(lines: string[]): Logger {
  const note = (text: string, details?: object) => void lines.push(`${text} ${JSON.stringify(details ?? {})}`);
  return {
    debug: note,
    info: note,
    warn: note,
    error: note,
    path: undefined,
    flush: async () => {},
    close: async () => {},
  };
}
