import assert from "node:assert/strict";
import { join } from "node:path";
import type { Execution } from "../../src/sandbox/provider.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { until } from "../world/events.ts";
import { conversation, type Promised, type Tried, wantedGuest } from "./sandbox-place.ts";

const long = { language: "bash", code: "sleep 1000", agent: "a", timeoutMs: 60_000 } as const;

/** Runs until it has begun, then something happens; answers how it ended. */
async function whenBegun({ guest }: Tried, execution: Execution, happens: () => unknown): Promise<string> {
  const kinds: string[] = [];
  for await (const event of guest.run(execution)) {
    kinds.push(event.kind);
    if (event.kind === "started") await happens();
    if (event.kind === "exited") kinds.push(event.how);
  }
  assert.equal(kinds.at(-2), "exited", "nothing comes after the end");
  return kinds.at(-1) ?? "";
}

/**
 * What holds whatever a program does: how guests and executions begin and end, and what a provider says of itself. The
 * provider that tests of the service play passes all of these; the other promises are about programs, and it runs none.
 */
export const orderPromises: readonly Promised[] = [
  {
    says: "an execution begins once and ends once, and tells nothing after its end [X1]",
    async holds({ guest }) {
      const { guest: opened } = await guest();
      assert.equal(opened.isOpen(), true);
      const events = await allOf(opened.run({ ...long, id: "1", code: "at once" }));
      const kinds = events.map(({ kind }) => kind).filter((kind) => kind === "started" || kind === "exited");
      assert.deepEqual([kinds, events.at(-1)?.kind], [["started", "exited"], "exited"]);
    },
  },
  {
    says: "an execution is cancelled by a signal that fires before or while it runs, and killed by its id [X1]",
    async holds({ guest }) {
      const tried = await guest();
      const stop = new AbortController();
      const before = await allOf(tried.guest.run({ ...long, id: "1", signal: AbortSignal.abort() }));
      assert.partialDeepStrictEqual(before.at(-1), { kind: "exited", how: "cancelled" });
      const ends = [
        await whenBegun(tried, { ...long, id: "2", signal: stop.signal }, () => stop.abort()),
        await whenBegun(tried, { ...long, id: "3" }, () => tried.guest.kill("3")),
      ];
      assert.deepEqual(ends, ["cancelled", "killed"]);
      tried.guest.kill("3");
      tried.guest.interrupt("never was");
    },
  },
  {
    says: "a guest that is closed says why, loses what runs in it, and takes nothing more [X1]",
    async holds({ guest }) {
      const tried = await guest();
      let closing: Promise<void> | undefined;
      const end = await whenBegun(tried, { ...long, id: "1" }, () => {
        closing = tried.guest.close("idle");
      });
      await closing;
      assert.deepEqual([end, await tried.guest.ended, tried.guest.isOpen()], ["lost", { why: "idle" }, false]);
      assert.deepEqual(await tried.guest.usage(), { memoryBytes: 0, processes: 0, cpuMs: 0 });
      assert.partialDeepStrictEqual((await allOf(tried.guest.run({ ...long, id: "2" }))).at(-1), { how: "lost" });
      await Promise.all([tried.guest.reset("a"), tried.guest.endTurn(), tried.guest.close("again")]);
    },
  },
  {
    says: "a guest that has an accident says so, and loses what runs in it [X1]",
    async holds({ guest, accident }) {
      const tried = await guest();
      const end = await whenBegun(tried, { ...long, id: "1" }, () => accident(tried.guest.id));
      assert.deepEqual([end, await tried.guest.ended, tried.guest.isOpen()], ["lost", { why: "ended" }, false]);
      assert.partialDeepStrictEqual((await allOf(tried.guest.run({ ...long, id: "2" }))).at(-1), { how: "lost" });
    },
  },
  {
    says: "a provider that is closed takes its guests along and opens no more [X3]",
    async holds({ another }) {
      const { provider } = await another();
      const opened = await Promise.all([provider.open(wantedGuest({})), provider.open(wantedGuest({}))]);
      const running = opened.map((result) => {
        assert.ok(result.ok, JSON.stringify(result));
        return result.value;
      });
      const late = provider.open(wantedGuest({}));
      await provider.close();
      const ends = await Promise.all(running.map(({ ended }) => ended));
      assert.deepEqual(ends, [{ why: "closed" }, { why: "closed" }]);
      const again = await provider.open(wantedGuest({}));
      assert.equal(!again.ok && again.failure.why, "unavailable");
      const caught = await late;
      if (caught.ok) await until("the last one is gone", async () => (await caught.value.usage()).processes === 0);
    },
  },
  {
    says: "a workspace that is not there is a fault, and leaves nothing behind [X3]",
    async holds({ another, workspace }) {
      const { provider } = await another();
      const opened = await provider.open(wantedGuest({ workspace: conversation(join(workspace(), "nowhere")) }));
      assert.equal(!opened.ok && opened.failure.why, "start_failed");
      assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
    },
  },
  {
    says: "what the machine can do is found out once, and again when that is asked for [X3]",
    async holds({ provider }) {
      const first = await provider.probe();
      assert.deepEqual(first.missing, []);
      assert.equal(await provider.probe(), first);
      const again = await provider.probe({ fresh: true });
      assert.notEqual(again, first);
      assert.deepEqual(again, first);
    },
  },
];
