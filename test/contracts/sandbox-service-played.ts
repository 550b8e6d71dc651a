import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { type Homes, homesHere } from "../../src/homes/homes.ts";
import type { Guest, SandboxProvider } from "../../src/sandbox/provider.ts";
import type { ProgramPlace, RunningProgram, SandboxSettings } from "../../src/sandbox/sandbox.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { WorkspaceLimits } from "../../src/workspace/workspace.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type PlayedProvider, playedProvider } from "../world/played-provider.ts";
import { type Ground, openGround } from "./sandbox-service-place.ts";
import { alice, unwrap } from "./storage-place.ts";

// The service over guests whose part the test plays, in time that the test moves.

export const bare = { owner: alice, conversation: undefined, workspace: undefined, agent: "root" };
export const echo = { language: "bash", code: "at once", timeoutMs: 1000, conversationId: "c1" } as const;

type Options = {
  readonly settings?: Partial<SandboxSettings>;
  readonly homes?: Homes;
  readonly played?: PlayedProvider;
  /** What the first process has otherwise; one that is started again has guests of its own. */
  readonly provider?: (played: PlayedProvider) => Partial<SandboxProvider>;
  readonly wrapStorage?: (storage: Storage) => Storage;
  readonly limits?: Partial<WorkspaceLimits>;
};

export async function openPlayed(t: TestContext, options: Options = {}) {
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
