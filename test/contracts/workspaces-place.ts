import assert from "node:assert/strict";
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { type Ids, systemIds } from "../../src/base/ids.ts";
import type { OwnerId } from "../../src/protocol/ids.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import {
  type Disk,
  openWorkspaces,
  type Workspace,
  type WorkspaceLimits,
  type Workspaces,
} from "../../src/workspace/workspace.ts";
import { quietLogger, testLimits } from "../world/workspace.ts";
import { alice, idOf, morning, unwrap } from "./storage-place.ts";

export const dayMs = 86_400_000;

/** The folders of a data directory on the real disk, with the real database beside it and a clock of ours. */
export type Ground = {
  readonly data: string;
  readonly storage: Storage;
  readonly workspaces: Workspaces;
  readonly clock: { move(ms: number): void; now(): number };
  readonly logged: string[];
  /** A conversation as it is when it was just made; with its folders unless `bare`. */
  start(id: string, options?: { owner?: OwnerId; bare?: boolean }): Promise<ConversationRow>;
  /** One more process on the same data, after this one ended; with other options where they are given. */
  restart(changed?: Options): Promise<Ground>;
  /** One more server that has the same database and the same files, started beside this one. */
  beside(): Workspaces;
  path(...names: string[]): string;
};

type Options = {
  readonly wrapStorage?: (storage: Storage) => Storage;
  readonly disk?: Disk;
  readonly limits?: Partial<WorkspaceLimits>;
  readonly clock?: Partial<Clock>;
  /** It is one of several servers. */
  readonly isShared?: boolean;
  /** Whether this one may tidy up for a conversation. */
  readonly isHere?: (conversation: number) => Promise<boolean>;
  /** Ends the programs of a conversation. */
  readonly leave?: (conversation: number) => Promise<void>;
  readonly ids?: Ids;
};

export async function openGround(t: Pick<TestContext, "after">, options: Options = {}): Promise<Ground> {
  const base = mkdtempSync(join(tmpdir(), "workspaces-"));
  const closers: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const close of closers) await close();
    rmSync(base, { recursive: true, force: true });
  });
  // One level deeper, so that what leaves the data directory is seen.
  const data = join(base, "data");
  mkdirSync(data);
  let now = morning;
  const clock = { ...systemClock, now: () => now, monotonic: () => now - morning, ...options.clock };
  const move = (ms: number) => {
    now += ms;
  };

  function open(options: Options): Ground {
    const real = unwrap(openSqlite({ path: join(base, "sessions.db"), clock }));
    const storage = options.wrapStorage?.(real) ?? real;
    const logged: string[] = [];
    const logger = quietLogger(logged);
    const limits = { ...testLimits, ...options.limits };
    const { disk, isShared, isHere, leave, ids = systemIds } = options;
    const serve = () =>
      openWorkspaces({ dataDir: data, storage, clock, ids, logger, limits, disk, isShared, isHere, leave });
    const servers = [serve()];
    const [workspaces = assert.fail()] = servers;
    let isOpen = true;
    const close = async () => {
      if (!isOpen) return;
      isOpen = false;
      for (const server of servers) await server.close();
      await real.close();
    };
    closers.push(close);
    return {
      ...{ data, storage, workspaces, logged, clock: { move, now: clock.now } },
      async start(id, { owner = alice, bare = false } = {}) {
        const row = unwrap(await storage.createConversation({ owner, id: idOf(id), at: now, events: [] }));
        if (!bare) unwrap(await workspaces.create(row));
        return row;
      },
      async restart(changed = {}) {
        await close();
        return open({ ...options, ...changed });
      },
      beside() {
        const other = serve();
        servers.push(other);
        return other;
      },
      path: (...names) => join(data, ...names),
    };
  }
  return open(options);
}

/** Everything below a folder, the folder beside it included, with what is in the files. */
export function treeOf(folder: string): Record<string, string> {
  const tree = new Map<string, string>();
  const waiting = [""];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const entry of readdirSync(join(folder, name))) {
      const path = name === "" ? entry : `${name}/${entry}`;
      const stat = lstatSync(join(folder, path));
      if (stat.isDirectory()) waiting.push(path);
      if (entry !== ".metadata.json") tree.set(path, describe(join(folder, path), stat));
    }
  }
  return Object.fromEntries(tree);
}

function describe(path: string, stat: ReturnType<typeof lstatSync>): string {
  if (stat?.isDirectory()) return "folder";
  return stat?.isSymbolicLink() ? `link to ${readlinkSync(path)}` : readFileSync(path, "utf8");
}

/** Only the files of a tree. */
export function filesOf(folder: string): Record<string, string> {
  return Object.fromEntries(Object.entries(treeOf(folder)).filter(([, what]) => what !== "folder"));
}

export async function write(workspace: Workspace, path: string, text: string): Promise<void> {
  unwrap(await workspace.write(path, text));
}

export async function textOf(workspace: Workspace, path: string): Promise<string> {
  return unwrap(await workspace.read(path)).bytes.toString();
}

/** No line tells where on this machine something lies. */
export function assertNoHostPath({ data, logged }: Ground, ...answers: unknown[]): void {
  for (const text of [...logged, JSON.stringify(answers)]) assert.ok(!text.includes(data), text);
}
