import assert from "node:assert/strict";
import type { Execution } from "../../src/sandbox/provider.ts";
import { allOf } from "../world/bare-supervisor.ts";
import { type Promised, type Tried, wantedGuest } from "./sandbox-place.ts";

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
 * In which order things happen to guests and executions, whatever runs in them: what the sandbox service relies on. The
 * provider that tests of the service play passes these, too.
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
    },
  },
  {
    says: "a provider that is closed closes its guests, and opens no more [X3]",
    async holds({ another }) {
      const { provider } = await another();
      const opened = await provider.open(wantedGuest({}));
      assert.ok(opened.ok);
      await provider.close();
      assert.deepEqual(await opened.value.ended, { why: "closed" });
      const again = await provider.open(wantedGuest({}));
      assert.equal(!again.ok && again.failure.why, "unavailable");
    },
  },
];
