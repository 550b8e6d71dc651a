import assert from "node:assert/strict";
import { duplexPair } from "node:stream";
import { manualClock } from "../../../test/world/manual-clock.ts";
import type { Execution } from "../provider.ts";
import { connectGuest, type GuestSettings } from "./connection.ts";
import { createFrameDecoder, encodeFrame } from "./frames.ts";

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
    async types() {
      return (await far.frames()).map(({ header }) => String(Object(header).type));
    },
  };
  return { connected, far, clock, socket: near };
}
