import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import { allOf, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { type Execution, executionLimits } from "../provider.ts";
import { connectGuest, type GuestSettings } from "./connection.ts";
import { assertWithinLimits } from "./execution-limits.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";
import { createResults, type ResultKind } from "./results.ts";
import { type GuestLife, tieGuest } from "./tie-guest.ts";

test("an execution has its events in order, and its time is measured outside [X1]", async () => {
  const { guest, far, clock } = await playSupervisor();
  const events = allOf(guest.run(execution({ event: "[1]" })));
  assert.deepEqual(await far.next(2), [
    [{ type: "part", id: "e", name: "event" }, "[1]"],
    [{ type: "exec", id: "e", language: "bash", agent: "a", folder: "", env: {} }, "code"],
  ]);
  clock.move(50);
  far.say({ type: "started", id: "e", first: true });
  far.say({ type: "out", id: "e", stream: "stderr" }, "words");
  far.say({ type: "result", id: "e", kind: "json", more: true }, "[1,");
  far.say({ type: "result", id: "e", kind: "json", more: false }, "2]");
  far.say({ type: "result", id: "e", kind: "json", more: false }, "[".repeat(200) + "]".repeat(200));
  far.say({ type: "cut", id: "e", stream: "stdout", bytes: 7 }, "last");
  far.say({ ...exited, id: "e" });
  assert.deepEqual(await events, [
    { kind: "started", isPythonNew: true },
    { kind: "output", stream: "stderr", bytes: Buffer.from("words") },
    { kind: "result", type: "json", bytes: Buffer.from("[1,2]") },
    { kind: "result", type: "text", bytes: Buffer.from("[".repeat(200) + "]".repeat(200)) },
    { kind: "cut", stream: "stdout", bytes: 7, tail: Buffer.from("last") },
    {
      kind: "exited",
      how: "done",
      code: 0,
      signal: undefined,
      metrics: { durationMs: 50, cpuMs: 1, memoryPeakBytes: 2, readBytes: 3, writtenBytes: 4 },
    },
  ]);
});

test("an execution over its time is interrupted, then killed, then its guest is given up [X1]", async () => {
  const { guest, far, clock } = await playSupervisor();
  const outcome = outcomeOf(guest.run(execution({ timeoutMs: 1000 })));
  await far.next(1);
  const heard: string[] = [];
  for (const ms of [999, 1, 1999, 1]) {
    clock.move(ms);
    heard.push(...(await far.types()));
  }
  assert.deepEqual(heard, ["interrupt", "kill"]);
  clock.move(3000);
  assert.deepEqual(
    [await outcome, await guest.ended],
    [{ stdout: "", stderr: "", results: [], end: "timeout undefined" }, { why: "execution_does_not_end" }],
  );
  assert.equal(clock.timers(), 0);
});

// What a supervisor that was taken over says otherwise is in test/attacks/protocol.test.ts.
const faults: readonly [what: string, why: string, say: (far: Far) => void][] = [
  ["that leaves a field out", "protocol_error", (far) => far.say({ type: "out", id: "e" })],
  [
    "whose results are endlessly many pieces of nothing",
    "protocol_error",
    (far) =>
      far.raw(Buffer.concat(Array(16_385).fill(encodeFrame({ type: "result", id: "e", kind: "text", more: true })))),
  ],
  ["that says output of nothing", "protocol_error", (far) => far.say({ type: "out", id: "e", stream: "stdout" }, "")],
  [
    "whose program begins more than once",
    "protocol_error",
    (far) => {
      for (let n = 0; n < 2; n += 1) far.say({ type: "started", id: "e" });
    },
  ],
  [
    "that tells twice what it left out",
    "protocol_error",
    (far) => {
      for (let n = 0; n < 2; n += 1) far.say({ type: "cut", id: "e", stream: "stdout", bytes: 4 }, "tail");
    },
  ],
  [
    "that kept more than it left out",
    "protocol_error",
    (far) => far.say({ type: "cut", id: "e", stream: "stdout", bytes: 3 }, "tail"),
  ],
];
for (const [what, why, say] of faults) {
  test(`a guest ${what} is closed, and who waits for it is told [X1][Q2]`, async () => {
    const { guest, far } = await playSupervisor();
    const outcome = outcomeOf(guest.run(execution({})));
    await far.next(1);
    say(far);
    assert.deepEqual([await guest.ended, (await outcome).end], [{ why }, "lost undefined"]);
  });
}

test("nothing that a guest sends throws or keeps those who wait [X1][Q2]", async () => {
  const id = fc.constantFrom("e", "x");
  const message = fc.oneof(
    fc.record({
      type: fc.constantFrom("out", "cut"),
      id,
      stream: fc.constantFrom("stdout", "stderr"),
      bytes: fc.nat(),
    }),
    fc.record({ type: fc.constant("result"), id, kind: fc.constantFrom("text", "json", "png"), more: fc.boolean() }),
    fc.record({ type: fc.constant("kernel_lost"), agent: fc.string(), id, asked: fc.boolean() }),
    fc.record({ ...Object.fromEntries(Object.entries(exited).map(([key, value]) => [key, fc.constant(value)])), id }),
    fc.dictionary(fc.string(), fc.jsonValue()),
  );
  const frame = fc.tuple(message, fc.uint8Array({ maxLength: 50 }));
  await fc.assert(
    fc.asyncProperty(fc.array(frame, { maxLength: 12 }), async (frames) => {
      const { guest, far } = await playSupervisor();
      const outcome = outcomeOf(guest.run(execution({})));
      for (const [header, payload] of frames) far.raw(encodeFrame(header, payload));
      far.end();
      await guest.ended;
      assert.match((await outcome).end, /^(done|killed|lost) (0|undefined)$/);
    }),
    { numRuns: 100 },
  );
});

test("a guest that greets wrongly, late or not at all does not open [X1]", async () => {
  const answers = await Promise.all(
    [
      (far: Far, nonce: string) => far.say({ type: "hello", version: 2, nonce }),
      (far: Far) => far.say({ type: "hello", version: 1, nonce: "another" }),
      (far: Far) => far.say({ type: "started", id: "e" }),
      (far: Far) => far.end(),
      (_: Far, __: string, clock: ReturnType<typeof manualClock>) => clock.move(5000),
    ].map(async (say) => {
      const { connected, far, clock } = beginSupervisor({});
      say(far, hello.nonce, clock);
      return connected;
    }),
  );
  assert.deepEqual(
    answers,
    ["wrong_greeting", "wrong_greeting", "wrong_greeting", "ended", "start_timeout"].map((said) => ({
      ok: false,
      failure: { why: said === "start_timeout" ? said : "start_failed", said },
    })),
  );
});

test("a guest that sees another folder than it should, or none, does not open [X1][S4]", async () => {
  const marks = { "/workspace/c": "1:2", "/workspace/c/uploads": "1:3" };
  const answers = await Promise.all(
    [{ marks: ["1:2", "1:3"] }, { marks: ["1:2", "9:3"] }, { marks: [null, "1:3"] }, { marks: ["1:2"] }, {}].map(
      async (seen) => {
        const { connected, far } = beginSupervisor({ marks });
        far.say({ ...hello, ...seen });
        const { ok, ...rest } = await connected;
        return ok || rest;
      },
    ),
  );
  const wrong = { failure: { why: "wrong_workspace", said: "wrong_workspace" } };
  assert.deepEqual(answers, [true, wrong, wrong, wrong, wrong]);
});

type Far = ReturnType<typeof beginSupervisor>["far"];

// The other end of a guest's control socket, which the test plays itself.
export const exited = {
  ...{ type: "exited", code: 0, signal: null, cpuMs: 1, memoryPeakBytes: 2, readBytes: 3, writtenBytes: 4 },
};

export const hello = { type: "hello", version: 1, nonce: "0".repeat(32) };

export function execution(wanted: Partial<Execution>): Execution {
  return { id: "e", language: "bash", code: "code", agent: "a", timeoutMs: 60_000, ...wanted };
}

/** One that has greeted, and heard our greeting. */
export async function playSupervisor(settings: Partial<GuestSettings> = {}) {
  const { connected, far, clock, socket } = beginSupervisor(settings);
  far.say(hello);
  const connection = await connected;
  assert(connection.ok);
  await far.types();
  return { guest: connection.value, far, clock, socket };
}

export function beginSupervisor(settings: Partial<GuestSettings>) {
  const [near, other] = duplexPair();
  const clock = manualClock();
  const connected = connectGuest(near, {
    ...{ id: "g1", workspace: "/workspace/c", javascript: undefined, env: {}, helloTimeoutMs: 5000, clock },
    ...{ limits: { outputBytesMax: 1000, fileBytesMax: 1000 }, oomKills: () => 0 },
    ...{ ids: { uuid: () => "u", hex: (characters) => "0".repeat(characters) }, ...settings },
  });
  const decoder = createFrameDecoder();
  const heard: { readonly header: unknown; readonly payload: Buffer }[] = [];
  other.on("error", () => {});
  other.on("data", (chunk: Buffer) => {
    const frames = decoder.push(chunk);
    assert(frames.ok);
    heard.push(...frames.value);
  });
  /** What was written by now has arrived after some rounds of the loop: both ends are in this process. */
  const delivered = async () => {
    for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const far = {
    say: (header: object, payload = "") => other.write(encodeFrame(header, Buffer.from(payload))),
    raw: (bytes: Uint8Array) => other.write(bytes),
    end: () => other.end(),
    delivered,
    /** What it was told since it was last asked for. */
    async frames() {
      await delivered();
      return heard.splice(0);
    },
    async next(count: number) {
      await delivered();
      return heard.splice(0, count).map(({ header, payload }) => [header, payload.toString()]);
    },
    async types() {
      return (await far.frames()).map(({ header }) => String(Object(header).type));
    },
  };
  return { connected, far, clock, socket: near };
}

test("a program whose output nobody reads any more is killed [X1]", async () => {
  const { guest, far } = await playSupervisor();
  const events = guest.run(execution({}));
  far.say({ type: "started", id: "e" });
  for await (const { kind } of events) if (kind === "started") break;
  assert.deepEqual(await far.types(), ["exec", "kill"]);
});

test("how an execution ended follows from what was done to it [X1]", async () => {
  let oomKills = 0;
  const { guest, far } = await playSupervisor({ oomKills: () => oomKills });
  const ends: string[] = [];
  const lost = (asked: boolean) => () => far.say({ type: "kernel_lost", agent: "a", id: "e", asked });
  const nothing = () => {};
  for (const [happens, code, signal] of [
    [() => guest.interrupt("e"), null, "SIGINT"],
    [() => guest.interrupt("e"), 130, null],
    [() => guest.interrupt("e"), 0, null],
    [nothing, 130, null],
    [lost(true), null, "SIGKILL"],
    [lost(false), null, "SIGKILL"],
  ] as const) {
    const outcome = outcomeOf(guest.run(execution({})));
    await far.delivered();
    happens();
    far.say({ ...exited, id: "e", code, signal });
    ends.push((await outcome).end);
  }
  const told = ["cancelled SIGINT", "cancelled 130", "done 0", "done 130", "killed SIGKILL", "lost SIGKILL"];
  assert.deepEqual(ends, told);
  const outcome = outcomeOf(guest.run(execution({})));
  oomKills += 1;
  far.end();
  assert.equal((await outcome).end, "out_of_memory undefined");
});

/** A guest whose supervisor and whose processes the test plays. */
async function tie() {
  const { guest: connection, far, clock } = await playSupervisor();
  const { promise: ended, resolve: die } = Promise.withResolvers<Awaited<GuestLife["ended"]>>();
  const kills: string[] = [];
  const guest = tieGuest(connection, {
    ...{
      ended,
      kill: () => void kills.push("killed"),
      sharedFiles: async () => new Set([7]),
      unnamedBytes: async () => 8,
    },
    usage: async () => ({ memoryBytes: 1, processes: 2, cpuMs: 3 }),
  });
  return { guest, far, clock, die, kills: () => kills.length };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("that memory ran out is told of a guest that was killed for it, and of no other [X4]", async () => {
  const told: string[] = [];
  for (const [code, oomKills, why] of [
    [137, 1, "ended"],
    [137, 0, "ended"],
    [1, 1, "ended"],
    [null, 1, "ended"],
    [137, 1, "idle"],
  ] as const) {
    const { guest, far, die } = await tie();
    if (why !== "ended") void guest.close(why);
    await turn();
    die({ code, oomKills });
    far.end();
    told.push((await guest.ended).why);
  }
  assert.deepEqual(told, ["out_of_memory", "ended", "ended", "ended", "idle"]);
});

test("code, an event, input and a folder may be as long as their limits; one byte more is a mistake of ours [X1][X4]", () => {
  const { codeBytesMax, eventBytesMax, stdinBytesMax, folderCharactersMax } = executionLimits;
  for (const [long, tooLong] of [
    [{ code: "é".repeat(codeBytesMax / 2) }, { code: `${"é".repeat(codeBytesMax / 2)}x` }],
    [{ event: "é".repeat(eventBytesMax / 2) }, { event: `${"é".repeat(eventBytesMax / 2)}x` }],
    [{ stdin: new Uint8Array(stdinBytesMax) }, { stdin: new Uint8Array(stdinBytesMax + 1) }],
    [{ folder: "x".repeat(folderCharactersMax) }, { folder: "x".repeat(folderCharactersMax + 1) }],
  ]) {
    assertWithinLimits(execution(long ?? {}));
    assert.throws(() => assertWithinLimits(execution(tooLong ?? {})), /within its limit/);
  }
});

const typeOf = (kind: ResultKind, text: string) => {
  const taken = createResults().take(kind, Buffer.from(text), false);
  return typeof taken === "string" ? taken : taken.type;
};

test("a value is handed on as JSON where it is some, no deeper than a hundred, whatever its texts say [X1][X4]", () => {
  const deep = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const texts = [deep(100), deep(101), `{"a":${deep(99)}}`, `{"a":${deep(100)}}`, JSON.stringify("[".repeat(101))];
  const more = [JSON.stringify(`"${"{".repeat(101)}\\`), `[${Array(101).fill("[{}]").join()}]`, "{", ""];
  assert.deepEqual(
    [...texts, ...more].map((text) => typeOf("json", text)),
    ["json", "text", "json", "text", "json", "json", "json", "text", "text"],
  );
  assert.equal(typeOf("text", "[]"), "text");
});

test("a figure is a picture in outputs, and no other place is named as one [X1][X6]", () => {
  const names = ["outputs/a.png", "outputs/b/c d.png", `outputs/${"x".repeat(500)}.png`, "outputs/..a.png"];
  const others = ["a.png", "outputs/.png", `outputs/${"x".repeat(501)}.png`, "outputs/../a.png", "outputs/a/./b.png"];
  const odd = ["outputs/a.svg", "/outputs/a.png", "outputs/a\n.png", "outputs/a\\b.png", "outputs/a.png\n"];
  assert.deepEqual(
    [...names, ...others, ...odd].map((name) => typeOf("png", name)),
    [...names.map(() => "png"), ...[...others, ...odd].map(() => "unfit")],
  );
});

test("the values of an execution may have a mebibyte together, and a short piece counts as sixty-four bytes [X1][X4]", () => {
  for (const [bytes, count] of [
    [65_536, 16],
    [64, 16_384],
    [0, 16_384],
  ] as const) {
    const results = createResults();
    const piece = Buffer.alloc(bytes, "x");
    const told = Array.from({ length: count + 1 }, () => results.take("text", piece, true));
    assert.deepEqual([told.indexOf("too_much"), told.at(-1)], [count, "too_much"]);
  }
});
