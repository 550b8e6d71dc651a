import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { duplexPair } from "node:stream";
import { test } from "node:test";
import { setImmediate as nextLoop } from "node:timers/promises";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { playedProvider } from "../../../test/world/played-provider.ts";
import { ok } from "../../base/result.ts";
import { canaryLimits } from "../guest/canary.ts";
import { createFrameDecoder, encodeFrame, payloadBytesMax } from "../guest/frames.ts";
import { linksOver } from "../guest/stdio.ts";
import { executionLimits, type Guest } from "../provider.ts";
import { serveGuest } from "./serve-guest.ts";

// What a host keeps for a server that asks for more and more, and how it tells what is long. The test plays the server.

const order = {
  ...{ type: "open", version: 1, id: "g1", limits: canaryLimits, env: {}, hasNetwork: false, likeness: "device" },
};

async function served(changes: Partial<Guest> = {}) {
  const played = playedProvider();
  const [near, far] = duplexPair();
  const reserved = new Set<string>();
  serveGuest(near, {
    ...{ files: tmpdir(), clock: manualClock(), keep() {}, load: () => ({ guests: reserved.size, guestsMax: 4 }) },
    reserve: (id) => reserved.size !== reserved.add(id).size,
    release: (id) => void reserved.delete(id),
    async open(wanted) {
      const opened = await played.open(wanted);
      return opened.ok ? ok({ ...opened.value, ...changes }) : opened;
    },
    inBackground: (work) => void work,
  });
  const { control } = linksOver(far);
  control.on("error", () => {});
  const decoder = createFrameDecoder();
  const heard: { readonly header: Record<string, unknown>; readonly bytes: number }[] = [];
  control.on("data", (chunk: Buffer) => {
    const frames = decoder.push(chunk);
    assert(frames.ok);
    for (const { header, payload } of frames.value) heard.push({ header: Object(header), bytes: payload.length });
  });
  const of = (type: string) => heard.filter(({ header }) => header.type === type);
  const say = (message: object, payload?: Uint8Array) => void control.write(encodeFrame(message, payload));
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await nextLoop();
  };
  /** Whether the host still listens. */
  const isHeard = async () => {
    const before = of("pong").length;
    say({ type: "ping" });
    await until(() => of("pong").length > before || far.destroyed);
    return of("pong").length > before;
  };
  say(order);
  await until(() => of("opened").length === 1);
  return { say, of, until, isHeard, reserved };
}

test("a host keeps what is sent ahead for eight executions, and hangs up on who sends for one more [X3][X4]", async () => {
  const { say, isHeard, until, reserved } = await served();
  const part = (id: string) => say({ type: "part", id, name: "code" }, Buffer.from("x"));
  for (let sent = 0; sent < 16; sent += 1) part(`${sent % 8}`);
  assert.equal(await isHeard(), true);
  part("8");
  assert.equal(await isHeard(), false);
  await until(() => reserved.size === 0);
});

test("a host keeps twice what one execution may have, and hangs up at one byte more [X3][X4]", async () => {
  const { say, isHeard } = await served();
  const { codeBytesMax, eventBytesMax, stdinBytesMax } = executionLimits;
  const most = 2 * (codeBytesMax + eventBytesMax + stdinBytesMax);
  const piece = Buffer.alloc(payloadBytesMax);
  for (let sent = 0; sent < most; sent += piece.length)
    say({ type: "part", id: `${sent % 3}`, name: "stdin" }, piece.subarray(0, most - sent));
  assert.equal(await isHeard(), true);
  say({ type: "part", id: "0", name: "event" }, Buffer.from("x"));
  assert.equal(await isHeard(), false);
});

test("files that programs share with their memory are told in pieces, and the last says that it is the last [X4]", async () => {
  const perPiece = payloadBytesMax / 8;
  for (const [count, pieces] of [
    [0, [0]],
    [1, [1]],
    [perPiece, [perPiece]],
    [perPiece + 1, [perPiece, 1]],
  ] as const) {
    const inodes = new Set(Array.from({ length: count }, (_, number) => number + 1));
    const { say, of, until } = await served({ sharedFiles: async () => inodes });
    say({ type: "shared_files", question: 7 });
    await until(() => of("shared").some(({ header }) => header.hasMore === false));
    assert.deepEqual(
      of("shared"),
      pieces.map((piece, index) => ({
        header: { type: "shared", question: 7, isKnown: true, hasMore: index < pieces.length - 1 },
        bytes: piece * 8,
      })),
    );
  }
});
