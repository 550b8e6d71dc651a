import assert from "node:assert/strict";
import { test } from "node:test";
import { payloadBytesMax } from "../guest/frames.ts";
import type { ExecutionEvent } from "../provider.ts";
import { sendEvents } from "./send-events.ts";
import type { HostMessage } from "./wire.ts";

const metrics = { durationMs: 1, cpuMs: 2, memoryPeakBytes: 3, readBytes: 4, writtenBytes: 5 };

/** What a server hears of these events, each with how many bytes came along. */
async function heardOf(events: readonly ExecutionEvent[], isOpen = () => true): Promise<unknown[]> {
  const heard: unknown[] = [];
  let undrained = 0;
  const channel = {
    send(message: HostMessage, payload?: Uint8Array) {
      undrained += 1;
      heard.push([message, payload?.length]);
    },
    async drained() {
      await new Promise((resolve) => setImmediate(resolve));
      undrained = 0;
    },
    isOpen: () => true,
    end() {},
  };
  async function* told() {
    for (const event of events) {
      assert.equal(undrained, 0, "the next is fetched when the last was taken");
      yield event;
    }
  }
  await sendEvents(channel, { id: "e", events: told(), isOpen });
  return heard;
}

test("what is longer than a message goes in pieces, and the last of a result says that it is the last [X1][X4]", async () => {
  const [output, result] = [
    { type: "output", id: "e", stream: "stderr" },
    { type: "result", id: "e", kind: "json" },
  ];
  const bytes = (length: number) => Buffer.alloc(length, "1");
  for (const [length, pieces] of [
    [1, [1]],
    [payloadBytesMax, [payloadBytesMax]],
    [payloadBytesMax + 1, [payloadBytesMax, 1]],
    [2 * payloadBytesMax, [payloadBytesMax, payloadBytesMax]],
  ] as const) {
    const heard = await heardOf([
      { kind: "output", stream: "stderr", bytes: bytes(length) },
      { kind: "result", type: "json", bytes: bytes(length) },
    ]);
    assert.deepEqual(heard, [
      ...pieces.map((piece) => [output, piece]),
      ...pieces.map((piece, index) => [{ ...result, hasMore: index < pieces.length - 1 }, piece]),
    ]);
  }
  const empty = await heardOf([{ kind: "result", type: "text", bytes: bytes(0) }]);
  assert.deepEqual(empty, [[{ ...result, kind: "text", hasMore: false }, 0]]);
});

test("how a program began and ended is told with all that is known of it, and nothing besides [X1]", async () => {
  const exited = { kind: "exited", how: "done", code: 0, signal: undefined, metrics } as const;
  let looks = 0;
  const isOpen = () => {
    looks += 1;
    return looks < 4;
  };
  const heard = await heardOf(
    [
      { kind: "started" },
      { kind: "started", isPythonNew: true },
      { kind: "cut", stream: "stdout", bytes: 9, tail: Buffer.from("end") },
      exited,
      { ...exited, how: "lost", code: undefined, signal: "SIGKILL", isPythonLost: true },
    ],
    isOpen,
  );
  const end = { type: "exited", id: "e", metrics, isOpen: false };
  assert.deepEqual(heard, [
    [{ type: "started", id: "e" }, undefined],
    [{ type: "started", id: "e", isPythonNew: true }, undefined],
    [{ type: "cut", id: "e", stream: "stdout", bytes: 9 }, 3],
    [{ ...end, how: "done", code: 0 }, undefined],
    [{ ...end, how: "lost", signal: "SIGKILL", isPythonLost: true }, undefined],
  ]);
});
