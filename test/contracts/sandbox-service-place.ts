import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { type Homes, homesHere } from "../../src/homes/homes.ts";
import type { OwnerId } from "../../src/protocol/ids.ts";
import type { Guest } from "../../src/sandbox/provider.ts";
import {
  openSandbox,
  type ProgramPlace,
  type RunningProgram,
  type Sandbox,
  type SandboxProvider,
  type SandboxSettings,
} from "../../src/sandbox/sandbox.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { wordsFor } from "../../src/words/words.ts";
import { openWorkspaces, type WorkspaceLimits, type Workspaces } from "../../src/workspace/workspace.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type PlayedProvider, playedProvider } from "../world/played-provider.ts";
import { testSettings } from "../world/sandbox-settings.ts";
import { quietLogger, testLimits } from "../world/workspace.ts";
import { openProvider } from "./sandbox-guests.ts";
import { alice, idOf, unwrap } from "./storage-place.ts";

/** The service with everything real below it: the database, the files, the guests. */
export type Ground = {
  readonly sandbox: Sandbox;
  readonly provider: Counting;
  readonly storage: Storage;
  readonly workspaces: Workspaces;
  readonly logged: string[];
  /** A conversation with its folders; the place of its main agent. */
  place(id: string, owner?: OwnerId, agent?: string): Promise<ProgramPlace & { readonly row: ConversationRow }>;
  /** One more server on the same database, beside this one; both have `homes`. */
  beside(): Sandbox;
  /** One more process on the same data, after this one ended or was killed. */
  restart(how: "closed" | "killed"): Promise<Ground>;
};

type Options = {
  readonly settings?: Partial<SandboxSettings>;
  readonly limits?: Partial<WorkspaceLimits>;
  readonly clock?: Clock;
  /** Those of several servers; this one is alone without them. */
  readonly homes?: Homes;
  readonly provider?: () => SandboxProvider;
  readonly wrapStorage?: (storage: Storage) => Storage;
};

export async function openGround(t: TestContext, options: Options = {}): Promise<Ground> {
  const { clock = systemClock } = options;
  const base = mkdtempSync(join(tmpdir(), "agentyard-service-"));
  const closers: (() => Promise<void>)[] = [];
  t.after(async () => {
    for (const close of closers) await close();
    rmSync(base, { recursive: true, force: true });
  });
  const data = join(base, "data");
  mkdirSync(data);

  function open(): Ground {
    const opened = unwrap(openSqlite({ path: join(base, "sessions.db"), clock }));
    const storage = options.wrapStorage?.(opened) ?? opened;
    const logged: string[] = [];
    const logger = quietLogger(logged);
    const limits = { ...testLimits, ...options.limits };
    const workspaces = openWorkspaces({ dataDir: data, storage, clock: systemClock, ids: systemIds, logger, limits });
    const provider = counting((options.provider ?? openProvider)());
    const settings = { ...testSettings, ...options.settings };
    const words = wordsFor("en");
    const { homes } = options;
    const serve = () => openSandbox({ provider, storage, clock, ids: systemIds, logger, words, settings, homes });
    const sandboxes = [serve()];
    const [sandbox = assert.fail()] = sandboxes;
    const rows = new Map<string, ConversationRow>();
    let isOpen = true;
    const close = async (how: "closed" | "killed") => {
      if (!isOpen) return;
      isOpen = false;
      // A process that is killed takes its guests along, and writes nothing more.
      if (how === "closed") for (const each of sandboxes) await each.close();
      await storage.close();
      await provider.close();
      await workspaces.close();
    };
    closers.push(() => close("closed"));
    return {
      ...{ sandbox, provider, storage, workspaces, logged },
      async place(id, owner = alice, agent = "root") {
        const key = `${owner} ${id}`;
        const row =
          rows.get(key) ??
          (await storage.findConversation(owner, idOf(id))) ??
          unwrap(await storage.createConversation({ owner, id: idOf(id), at: systemClock.now(), events: [] }));
        rows.set(key, row);
        unwrap(await workspaces.create(row));
        return { owner, conversation: row.number, workspace: workspaces.ofConversation(row), agent, row };
      },
      beside() {
        const other = serve();
        sandboxes.push(other);
        return other;
      },
      async restart(how) {
        await close(how);
        return open();
      },
    };
  }
  return open();
}

export type Counting = SandboxProvider & {
  /** How many guests were started. */
  opened(): number;
};

function counting(provider: SandboxProvider): Counting {
  let count = 0;
  return {
    probe: (options) => provider.probe(options),
    reap: () => provider.reap(),
    close: () => provider.close(),
    open(wanted) {
      count += 1;
      return provider.open(wanted);
    },
    opened: () => count,
  };
}

// The service over guests whose part the test plays, in time that the test moves.

export const bare = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
export const echo = { language: "bash", code: "at once", timeoutMs: 1000, conversationId: "c1" } as const;

type PlayedOptions = {
  readonly settings?: Partial<SandboxSettings>;
  readonly homes?: Homes;
  readonly played?: PlayedProvider;
  /** What the first process has otherwise; one that is started again has guests of its own. */
  readonly provider?: (played: PlayedProvider) => Partial<SandboxProvider>;
  readonly wrapStorage?: (storage: Storage) => Storage;
  readonly limits?: Partial<WorkspaceLimits>;
};

export async function openPlayed(t: TestContext, options: PlayedOptions = {}) {
  const { settings = {}, homes = homesHere, played = playedProvider(), wrapStorage, limits = {} } = options;
  const clock = manualClock();
  // Nothing was used in the year of the first clock.
  clock.move(1_000_000);
  const first: SandboxProvider[] = [{ ...played, ...options.provider?.(played) }];
  const provider = () => first.pop() ?? playedProvider();
  const ground: Ground = await openGround(t, {
    ...{ settings, limits, clock, homes, provider },
    ...(wrapStorage === undefined ? {} : { wrapStorage }),
  });
  const running = () => played.guests.flatMap((guest) => [...guest.running.values()]);
  const finish = (code: string) =>
    running()
      .find((execution) => execution.code === code)
      ?.finish();
  /** Starts a program; its report comes with its end. */
  const run = async (place: ProgramPlace, code = "", language: "bash" | "python" = "bash"): Promise<RunningProgram> =>
    unwrap(await ground.sandbox.run(place, { language, code, timeoutMs: 1000 }));
  return { ...ground, played, clock, running, finish, run };
}

/** Guests that the provider opens, with something of theirs changed. */
export function changedGuests(change: (guest: Guest) => Partial<Guest>) {
  return (played: PlayedProvider): Partial<SandboxProvider> => ({
    async open(wanted) {
      const opened = await played.open(wanted);
      return opened.ok ? { ok: true, value: { ...opened.value, ...change(opened.value) } } : opened;
    },
  });
}

/** As a program would that nobody looks at. */
export async function writeInside({ workspace }: ProgramPlace, path: string, bytes: number): Promise<void> {
  const { folder } = unwrap((await workspace?.guestFolder()) ?? assert.fail("the place has a workspace"));
  writeFileSync(join(folder, path), "x".repeat(bytes));
}

/** Whether it is over, after everything that needs no outside help has had its turn. */
export async function isOver(work: Promise<unknown>): Promise<boolean> {
  let over = false;
  void work.then(() => {
    over = true;
  });
  for (let loop = 0; loop < 20; loop += 1) await nextLoop();
  return over;
}
