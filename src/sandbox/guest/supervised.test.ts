import assert from "node:assert/strict";
import { type Duplex, duplexPair } from "node:stream";
import { test } from "node:test";
import { endlessClock } from "../../../test/world/manual-clock.ts";
import type { GuestWanted } from "../provider.ts";
import { canaryLimits } from "./canary.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";
import { linksOver } from "./stdio.ts";
import { superviseGuest } from "./supervised.ts";

// What the first process of a container is started with and greeted by. The test plays that process.

const isRoot = process.geteuid?.() === 0;
const limits = { ...canaryLimits, memoryBytes: 1000, processesMax: 20 };
const workspace = { folder: "/h", inside: "/workspace/c1", writable: "all", marks: { outputs: "1:3" } } as const;
const wanted: GuestWanted = { id: "g", workspace, limits, uid: 5, env: { OWN: "x" } };
const host = {
  ...{ calls: new Uint8Array([7]), hasNode: true, startTimeoutMs: 1000, clock: endlessClock },
  ids: { uuid: () => "u", hex: (characters: number) => "ab".repeat(characters / 2) },
};
const isLimited = { memory: true, pids: true };
const own = { script: "enter", likeness: "device", isLimited, oomKills: () => 0 } as const;

type Changes = {
  readonly wanted?: Partial<GuestWanted>;
  readonly host?: Partial<typeof host>;
  readonly own?: Partial<Parameters<typeof superviseGuest>[2]>;
};

/** The greeting that a guest hears, and what comes of the answer. */
async function greeted(changes: Changes, marks: readonly string[] = ["1:2", "1:3"]) {
  const order = { ...wanted, ...changes.wanted };
  const supervised = superviseGuest(order, { ...host, ...changes.host }, { ...own, ...changes.own });
  const [near, far] = duplexPair();
  const { control } = linksOver(far);
  const decoder = createFrameDecoder();
  let hello: Record<string, unknown> = {};
  control.on("data", (bytes: Buffer) => {
    const frames = decoder.push(bytes);
    assert(frames.ok);
    for (const { header } of frames.value) hello = { ...Object(header) };
    control.write(encodeFrame({ type: "hello", version: 1, nonce: hello.nonce, marks }));
  });
  const fault = await supervised.program.greet(near, { marks: { "/workspace/c1": "1:2" }, stage: "" });
  return { ...supervised, hello, fault };
}

test("a guest in a container is started as its supervisor, and hears where it is and what its programs have [X1][X4]", async () => {
  const { program, hello, fault } = await greeted({});
  assert.deepEqual(program.command, [
    ...["/bin/sh", "-c", "enter", "sandbox", "/usr/bin/python3", "-I", "-S"],
    ...["/run/agentyard/guest/supervisor.py", "stdio"],
  ]);
  assert.deepEqual(program.files["guest/calls.bpf"], new Uint8Array([7]));
  const { workspace: inside, folders, javascript, memoryBytes, processesMax, env } = hello;
  assert.deepEqual(
    [fault, inside, folders, javascript, memoryBytes, processesMax, Object(env).OWN],
    [undefined, "/workspace/c1", ["/workspace/c1", "/workspace/c1/outputs"], ["node"], null, null, "x"],
  );
  const bare = await greeted({ wanted: { workspace: undefined }, host: { hasNode: false } }, ["1:2"]);
  assert.deepEqual([bare.hello.workspace, bare.hello.javascript, bare.fault], ["/tmp", null, undefined]);
});

test("what the engine limits for all of a guest is not limited for each process, and what it does not is [X4]", async () => {
  const limitsOf = async (changes: Changes) => {
    const { hello } = await greeted(changes);
    return [hello.memoryBytes, hello.processesMax];
  };
  const unlimited = { isLimited: { memory: false, pids: false } };
  // The processes of a user whom others have, too, are counted together.
  assert.deepEqual(
    [
      await limitsOf({ own: unlimited }),
      await limitsOf({ own: unlimited, wanted: { uid: undefined } }),
      await limitsOf({ own: { isLimited: { memory: true, pids: false } } }),
      await limitsOf({ own: { isLimited: { memory: false, pids: true } } }),
    ],
    [
      [1000, isRoot ? 20 : null],
      [1000, null],
      [null, isRoot ? 20 : null],
      [1000, null],
    ],
  );
});

test("a guest that sees another folder is none, as far as folders are known by the same numbers there [W5][X3]", async () => {
  const whyOf = async (likeness: "device" | "inode" | "none", marks: readonly string[]) =>
    (await greeted({ own: { likeness } }, marks)).fault?.why ?? "ready";
  assert.deepEqual(
    [
      await whyOf("device", ["1:2", "1:9"]),
      await whyOf("device", ["8:2", "8:3"]),
      await whyOf("inode", ["8:2", "8:3"]),
      await whyOf("inode", ["8:2", "8:9"]),
      await whyOf("none", []),
    ],
    ["wrong_workspace", "wrong_workspace", "ready", "wrong_workspace", "ready"],
  );
});

test("a guest whose words are kept by others on the way gets a key before all else, and one with a network its way out [X3][X5]", async () => {
  const program = superviseGuest({ ...wanted, network: () => {} }, host, { ...own, isCovered: true }).program;
  assert.deepEqual(program.command.slice(-3), ["stdio", "covered", "network"]);
  const [near, far] = duplexPair();
  const greeting = program.greet(near, { marks: {}, stage: "" });
  const first = await new Promise<Buffer>((resolve) => far.once("data", resolve));
  assert.deepEqual(first.subarray(0, 32), Buffer.from("ab".repeat(32), "hex"));
  far.destroy();
  assert.equal((await greeting)?.why, "start_failed");

  const links: Duplex[] = [];
  const open = await greeted({ wanted: { network: (link) => void links.push(link) } });
  assert.deepEqual([open.fault, links.length], [undefined, 0]);
  const connection = open.connected();
  assert.deepEqual([connection.id, links.length], ["g", 1]);
});
