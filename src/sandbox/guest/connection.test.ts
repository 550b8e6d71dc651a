import assert from "node:assert/strict";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import fc from "fast-check";
import { allOf, outcomeOf } from "../../../test/world/bare-supervisor.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { type Execution, executionLimits } from "../provider.ts";
import { connectGuest, type GuestConnection, type GuestSettings } from "./connection.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";

const exited = { type: "exited", code: 0, signal: null, cpuMs: 1, memoryPeakBytes: 2, readBytes: 3, writtenBytes: 4 };

test("an execution has its events in order, and its time is measured outside [X1]", async () => {
  const { guest, far, clock } = await played();
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
  const { guest, far, clock } = await played();
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

test("memory that ran out is told from a program that was killed [X1][X4]", async () => {
  let oomKills = 3;
  const { guest, far } = await played({ oomKills: () => oomKills });
  const ends: string[] = [];
  for (const [kills, end] of [
    [0, { code: null, signal: "SIGKILL" }],
    [1, { code: null, signal: "SIGKILL" }],
    [1, { code: 137, signal: null }],
    [1, { code: 1, signal: null }],
  ] as const) {
    const outcome = outcomeOf(guest.run(execution({})));
    await far.next(1);
    oomKills += kills;
    far.say({ ...exited, id: "e", ...end });
    ends.push((await outcome).end);
  }
  assert.deepEqual(ends, ["done SIGKILL", "out_of_memory SIGKILL", "out_of_memory 137", "done 1"]);
});

test("frames for an execution that is over or never was are dropped and counted [X1]", async () => {
  const { guest, far } = await played();
  const outcome = outcomeOf(guest.run(execution({})));
  await far.next(1);
  far.say({ ...exited, id: "never" });
  far.say({ ...exited, id: "e" });
  await outcome;
  far.say({ type: "out", id: "e", stream: "stdout" }, "late");
  far.say({ type: "kernel_lost", agent: "a", id: "e", asked: false });
  const ping = guest.ping();
  await far.next(1);
  far.say({ type: "pong", n: 1, dropped: 9 });
  assert.deepEqual([await ping, guest.dropped()], [9, 3]);
});

const faults: readonly [what: string, why: string, say: (far: Far) => void][] = [
  ["that says hello again", "protocol_error", (far) => far.say({ type: "hello", version: 1, nonce: "x" })],
  ["that says a word nobody knows", "protocol_error", (far) => far.say({ type: "sudo" })],
  ["that leaves a field out", "protocol_error", (far) => far.say({ type: "out", id: "e" })],
  ["that has used less than nothing", "protocol_error", (far) => far.say({ ...exited, id: "e", cpuMs: -1 })],
  ["whose frame has no end", "protocol_error", (far) => far.raw(Buffer.alloc(8, 0xff))],
  [
    "that says more than it may",
    "protocol_error",
    (far) => {
      for (let n = 0; n < 3; n += 1) far.say({ type: "out", id: "e", stream: "stdout" }, "x".repeat(1500));
      far.say({ type: "out", id: "e", stream: "stdout" }, "x".repeat(1500));
    },
  ],
  [
    "whose results are too many",
    "protocol_error",
    (far) => {
      for (let n = 0; n < 17; n += 1)
        far.say({ type: "result", id: "e", kind: "text", more: false }, "x".repeat(65_536));
    },
  ],
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
  [
    "that floods us with frames",
    "flood",
    (far) => far.raw(Buffer.concat(Array(20_001).fill(encodeFrame({ type: "started", id: "x" })))),
  ],
];
for (const [what, why, say] of faults) {
  test(`a guest ${what} is closed, and who waits for it is told [X1][Q2]`, async () => {
    const { guest, far } = await played();
    const outcome = outcomeOf(guest.run(execution({})));
    await far.next(1);
    say(far);
    assert.deepEqual([await guest.ended, (await outcome).end], [{ why }, "lost undefined"]);
  });
}

test("a guest that begins a frame and does not end it is closed [X1][Q2]", async () => {
  const { guest, far, clock } = await played();
  far.raw(encodeFrame({ type: "started", id: "x" }).subarray(0, 12));
  await far.delivered();
  clock.move(10_000);
  assert.deepEqual(await guest.ended, { why: "protocol_error" });
});

test("a frame that comes byte by byte has no more time than any other, and one that is complete starts it anew [X1][Q2]", async () => {
  const { guest, far, clock } = await played();
  const frame = encodeFrame({ type: "started", id: "x" });
  const heard = [frame.subarray(0, 5), Buffer.concat([frame.subarray(5), frame.subarray(0, 5)])];
  for (const bytes of [...heard, frame.subarray(5, 6)]) {
    far.raw(bytes);
    await far.delivered();
    clock.move(9000);
  }
  assert.deepEqual([await guest.ended, guest.dropped()], [{ why: "protocol_error" }, 1]);
});

test("variables and folders that are too long are refused before anything waits for them [X1]", async () => {
  const { guest, far } = await played();
  const first = outcomeOf(guest.run(execution({ language: "python" })));
  for (const wanted of [
    { env: { A: "\u0001".repeat(6000) } },
    { env: { A: "a\0b" } },
    { env: { A: "\ud800" } },
    { env: { "A=B": "" } },
    { folder: "x".repeat(4097) },
  ])
    assert.throws(() => guest.run(execution({ id: "next", language: "python", ...wanted })));
  far.say({ ...exited, id: "e" });
  assert.equal((await first).end, "done 0");
  const next = outcomeOf(guest.run(execution({ id: "next", language: "python", env: { A: "\n".repeat(16_000) } })));
  await far.delivered();
  far.say({ ...exited, id: "next" });
  assert.equal((await next).end, "done 0");
});

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
      const { guest, far } = await played();
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
      const { connected, far, clock, nonce } = await begun();
      say(far, nonce, clock);
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
        const { connected, far, nonce } = await begun({ marks });
        far.say({ type: "hello", version: 1, nonce, ...seen });
        const { ok, ...rest } = await connected;
        return ok || rest;
      },
    ),
  );
  const wrong = { failure: { why: "wrong_workspace", said: "wrong_workspace" } };
  assert.deepEqual(answers, [true, wrong, wrong, wrong, wrong]);
});

test("code up to the limit is taken in parts; longer code is a mistake of ours [X1]", async () => {
  const { codeBytesMax } = executionLimits;
  const { guest, far } = await played();
  const outcome = outcomeOf(guest.run(execution({ code: "x".repeat(codeBytesMax) })));
  const parts = (await far.types()).filter((type) => type === "part");
  far.say({ ...exited, id: "e" });
  assert.deepEqual([parts.length, (await outcome).end], [63, "done 0"]);
  assert.throws(() => guest.run(execution({ code: "x".repeat(codeBytesMax + 1) })));
});

test("a guest that does not close when it is asked to is left all the same [X1]", async () => {
  const { guest, far, clock } = await played();
  const closed = guest.close("idle");
  assert.deepEqual(await far.types(), ["shutdown"]);
  clock.move(1000);
  await closed;
  assert.deepEqual(await guest.ended, { why: "idle" });
});

type Far = ReturnType<typeof farSide>;

function execution(wanted: Partial<Execution>): Execution {
  return { id: "e", language: "bash", code: "code", agent: "a", timeoutMs: 60_000, ...wanted };
}

/** A guest whose other side the test plays itself. */
async function played(settings: Partial<GuestSettings> = {}) {
  const { connected, far, clock, nonce } = await begun(settings);
  far.say({ type: "hello", version: 1, nonce });
  const connection = await connected;
  assert(connection.ok);
  const guest: GuestConnection = connection.value;
  return { guest, far, clock };
}

async function begun(settings: Partial<GuestSettings> = {}) {
  const [near, other] = duplexPair();
  const clock = manualClock();
  const connected = connectGuest(near, {
    id: "g1",
    workspace: "/workspace/c",
    javascript: undefined,
    env: {},
    limits: { outputBytesMax: 1000, fileBytesMax: 1000 },
    oomKills: () => 0,
    helloTimeoutMs: 5000,
    clock,
    ids: { uuid: () => "u", hex: (characters) => "0".repeat(characters) },
    ...settings,
  });
  const far = farSide(other);
  const nonce = "0".repeat(32);
  const { outputBytesMax, fileBytesMax } = { outputBytesMax: 1000, fileBytesMax: 1000, ...settings.limits };
  const hello = {
    type: "hello",
    nonce,
    folders: Object.keys(settings.marks ?? {}),
    workspace: "/workspace/c",
    javascript: null,
    env: {},
    outputBytesMax,
    fileBytesMax,
    memoryBytes: null,
    processesMax: null,
  };
  assert.deepEqual(await far.next(1), [[hello, ""]]);
  return { connected, far, clock, nonce };
}

function farSide(socket: Duplex) {
  const decoder = createFrameDecoder();
  const heard: [header: unknown, payload: string][] = [];
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    const frames = decoder.push(chunk);
    assert(frames.ok);
    heard.push(...frames.value.map(({ header, payload }): [unknown, string] => [header, payload.toString()]));
  });
  /** What was written by now has arrived after some rounds of the loop: both ends are in this process. */
  const delivered = async () => {
    for (let round = 0; round < 10; round += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    say: (header: object, payload = "") => socket.write(encodeFrame(header, Buffer.from(payload))),
    raw: (bytes: Uint8Array) => socket.write(bytes),
    end: () => socket.end(),
    delivered,
    async next(count: number) {
      await delivered();
      return heard.splice(0, count);
    },
    async types() {
      await delivered();
      return heard.splice(0).map(([header]) => String(Object(header).type));
    },
  };
}
