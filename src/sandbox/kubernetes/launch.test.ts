import assert from "node:assert/strict";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { until } from "../../../test/world/events.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import type { Clock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { type CallFault, callFault } from "../guest/http-call.ts";
import type { SandboxFault } from "../provider.ts";
import type { ClusterApi } from "./api.ts";
import type { PodSeen } from "./follow.ts";
import { begin, type LaunchSettings } from "./launch.ts";
import { acceptOf, createFrameReader, encodeFrame, opcodes } from "./websocket.ts";

const order = { path: "/pods", name: "agentyard-g", body: {} };
const removal = "DELETE /pods/agentyard-g?gracePeriodSeconds=1";
const waiting: PodSeen = {
  ...{ name: "pod-1", labels: {}, isRunning: false, isLeaving: false, end: undefined },
  waits: { reason: "", message: "" },
};

/** A cluster in which one pod is asked for; what becomes of it, and when a wait is over, the test says. */
type Answers = {
  readonly isDeaf?: boolean;
  /** To whoever asks for a pod, or for its stream; a good one otherwise. */
  readonly made?: Result<unknown, CallFault>;
  readonly attached?: Result<never, CallFault>;
};

function launching(
  greet: (stdio: Duplex) => Promise<SandboxFault | undefined>,
  { isDeaf = false, made = ok({}), attached }: Answers = {},
) {
  const asked: string[] = [];
  const [near, far] = duplexPair();
  const api: ClusterApi = {
    async ask(method, path) {
      asked.push(`${method} ${path}`);
      if (method === "POST") return made;
      return isDeaf && method === "DELETE" ? new Promise<never>(() => {}) : ok({});
    },
    watch: () => assert.fail("who follows it is played"),
    async upgrade(path, headers) {
      asked.push(path);
      if (attached !== undefined) return attached;
      const accept = acceptOf(headers["Sec-WebSocket-Key"] ?? "");
      const told = { "sec-websocket-accept": accept, "sec-websocket-protocol": "v5.channel.k8s.io" };
      return ok({ socket: near, headers: told });
    },
    peer: () => undefined,
  };
  const followed = { isLeft: false, tell: (_: PodSeen | "gone") => {} };
  const waits: { readonly ms: number; readonly elapse: () => void }[] = [];
  const wait: Clock["wait"] = (ms, signal) =>
    new Promise((resolve) => {
      waits.push({ ms, elapse: () => resolve("elapsed") });
      signal?.addEventListener("abort", () => resolve("aborted"), { once: true });
    });
  const clock = { ...manualClock(), wait };
  const host: LaunchSettings = {
    ...{ api, clock, ids: systemIds, pods: "/pods", image: "i", runtimeClass: undefined, architecture: "amd64" },
    ...{ claim: "c", files: "/files", volumePath: "", folder: "/files/one", installation: "yard", server: "one" },
    startTimeoutMs: 20_000,
    follower: {
      follow(guest, take) {
        assert.equal(guest, "g");
        followed.tell = take;
        return () => (followed.isLeft = true);
      },
    },
  };
  const run = () => followed.tell({ ...waiting, isRunning: true });
  return { asked, far, followed, waits, clock, run, begun: begin(order, "g", greet, host) };
}

async function launched(changes: { readonly isDeaf?: boolean } = {}) {
  const streams: Duplex[] = [];
  const launch = launching(async (stdio) => void streams.push(stdio), changes);
  launch.run();
  const begun = await launch.begun;
  const [stdio] = streams;
  assert.ok(begun.ok && stdio !== undefined);
  return { ...launch, ...begun.value, stdio };
}

async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextLoop();
}

const removals = (asked: readonly string[]) => asked.filter((one) => one === removal).length;

test("a pod is attached to by the name that the cluster gave it, told to begin, and asked to go once, however often it is killed [X3]", async () => {
  const { asked, far, followed, kill, ended } = await launched();
  assert.match(asked.join(" "), /^POST \/pods \/pods\/pod-1\/attach\?\S+$/);
  const read = createFrameReader();
  assert.equal(read(far.read())?.[0]?.payload.toString(), "\0\n");
  kill();
  kill();
  await someTurns();
  assert.deepEqual([removals(asked), followed.isLeft], [1, false]);
  followed.tell("gone");
  assert.deepEqual(await ended, { code: null, reason: "removed" });
  assert.deepEqual([removals(asked), followed.isLeft], [1, true]);
});

test("a pod that is over is removed once, and its end is told in time, also where the cluster does not listen [X3]", async () => {
  const over = { ...waiting, end: { code: 137, reason: "OOMKilled" } };
  for (const isDeaf of [false, true]) {
    const { asked, followed, ended, waits } = await launched({ isDeaf });
    let isEnded = false;
    void ended.then(() => (isEnded = true));
    followed.tell(over);
    followed.tell(over);
    await someTurns();
    assert.deepEqual([removals(asked), isEnded, waits.map(({ ms }) => ms)], [1, !isDeaf, [3000]]);
    waits[0]?.elapse();
    assert.deepEqual(await ended, over.end);
  }
});

test("who listens to a pod hears of its end when the cluster has said why, or three seconds later [X3]", async () => {
  const told = await launched();
  told.far.end();
  await someTurns();
  assert.deepEqual([told.stdio.destroyed, told.waits.map(({ ms }) => ms)], [false, [3000]]);
  told.followed.tell("gone");
  await someTurns();
  assert.equal(told.stdio.destroyed, true);
  const silent = await launched();
  silent.far.end();
  await someTurns();
  assert.equal(silent.stdio.destroyed, false);
  silent.waits[0]?.elapse();
  await someTurns();
  assert.equal(silent.stdio.destroyed, true);
});

test("why a pod is no guest is said by who greets it, else by the pod itself, else by the cluster [X3]", async () => {
  const said = async (own: string, words: string) => {
    const launch = launching(async (stdio) => {
      if (words !== "") launch.far.write(encodeFrame(opcodes.binary, Buffer.from(`\x02${words}\x0a`)));
      await someTurns();
      assert.ok(!stdio.destroyed);
      return { why: "start_failed", said: own };
    });
    launch.run();
    while (removals(launch.asked) === 0) await nextLoop();
    launch.followed.tell("gone");
    const begun = await launch.begun;
    return begun.ok || begun.failure;
  };
  const why = "start_failed";
  assert.deepEqual(
    [await said("greeted", "words"), await said("", "words"), await said("", "")],
    [
      { why, said: "greeted" },
      { why, said: "words" },
      { why, said: "removed" },
    ],
  );
});

test("a pod that does not run in its time is removed, and what it waited for is told [X3]", async () => {
  const launch = launching(() => assert.fail("it never ran"));
  await someTurns();
  launch.followed.tell({ ...waiting, waits: { reason: "ContainerCreating", message: "slow" } });
  launch.clock.move(19_999);
  await someTurns();
  assert.equal(removals(launch.asked), 0);
  launch.clock.move(1);
  while (removals(launch.asked) === 0) await nextLoop();
  launch.followed.tell("gone");
  const failure = { why: "start_timeout", said: "ContainerCreating: slow" };
  assert.deepEqual([await launch.begun, launch.clock.timers()], [{ ok: false, failure }, 0]);
});

test("a pod that the cluster refused is not asked to go; one that it may have made is, and its end is waited for [X3]", async () => {
  const nobody = () => assert.fail("it never ran");
  const refused = launching(nobody, { made: failed(callFault("refused", "exceeded quota: pods", 403)) });
  assert.deepEqual(await refused.begun, { ok: false, failure: { why: "full", said: "403 exceeded quota: pods" } });
  assert.deepEqual([removals(refused.asked), refused.followed.isLeft, refused.clock.timers()], [0, true, 0]);
  const endOf = async (launch: ReturnType<typeof launching>) => {
    let isOver = false;
    void launch.begun.then(() => (isOver = true));
    await until("it is asked to go", () => removals(launch.asked) > 0);
    await someTurns();
    assert.deepEqual([isOver, launch.followed.isLeft], [false, false]);
    launch.followed.tell("gone");
    const begun = await launch.begun;
    return [begun.ok || begun.failure, launch.followed.isLeft, launch.clock.timers()];
  };
  const lost = launching(nobody, { made: failed(callFault("broken_off", "ECONNRESET")) });
  assert.deepEqual(await endOf(lost), [{ why: "unavailable", said: "ECONNRESET" }, true, 0]);
  const mute = launching(nobody, { attached: failed(callFault("refused", "no stream", 400)) });
  mute.run();
  assert.deepEqual(await endOf(mute), [{ why: "start_failed", said: "400 no stream" }, true, 0]);
});
