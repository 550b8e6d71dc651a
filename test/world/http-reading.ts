import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import type { FollowFrame } from "../../src/client/client.ts";
import { listen } from "../../src/http/http.ts";
import type { LiveFrame } from "../../src/loop/loop.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import type { StreamFrame } from "../../src/protocol/resources.ts";
import type { Yard } from "../../src/yard.ts";
import { until } from "./events.ts";
import type { WritingYard } from "./writing-yard.ts";

// What happens in a conversation, and reading it off a stream.

export function renames(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({ type: "conversation.renamed", title: `t${index + 1}` }));
}

export function stepStarted(step: number, of: { readonly agent?: string } = {}): NewEvent {
  const sent = { hash: "", bytes: 0, reused: 0 };
  return { type: "step.started", ...of, turn: 1, step, attempt: 1, slot: "base", model: "demo", reason: "", ...sent };
}

export function answered(step: number, text: string): NewEvent {
  const usage = { input: 1, output: 1 };
  return { type: "message.assistant", turn: 1, step, text, finish: "stop", usage, durationMs: 1 };
}

export function delta(step: number, offset: number, text: string): Extract<LiveFrame, { frame: "delta" }> {
  return { frame: "delta", turn: 1, step, attempt: 1, kind: "text", offset, text };
}

export function streamPath(query = ""): string {
  return `/api/v1/conversations/c/stream${query}`;
}

/** Takes frame after frame off the raw stream, no faster than asked. */
export function openStream(yard: WritingYard, query = "") {
  let pending: StreamFrame[] = [];
  const reader = (async () => (await yard.app.request(streamPath(query))).body?.getReader())();
  async function read(): Promise<boolean> {
    const chunk = await (await reader)?.read();
    const texts = new TextDecoder()
      .decode(chunk?.value)
      .split("\n\n")
      .filter((text) => text !== "");
    pending.push(...texts.map((text) => JSON.parse(text.replace(/^.*?\ndata: /s, ""))));
    return chunk?.done === false;
  }
  return {
    async take(count: number): Promise<StreamFrame[]> {
      while (pending.length < count && (await read()));
      const taken = pending.slice(0, count);
      pending = pending.slice(count);
      return taken;
    },
    async rest(): Promise<StreamFrame[]> {
      while (await read());
      return pending;
    },
    async close() {
      await (await reader)?.cancel();
      await until("nobody listens", () => yard.listeners() === 0);
    },
  };
}

export function short(frame: StreamFrame | FollowFrame): unknown {
  if (frame.frame === "event") return frame.event.seq;
  if (frame.frame === "delta") return frame.text;
  return frame.frame === "lost" || frame.frame === "failed" ? `${frame.frame}: ${frame.failure.code}` : frame.frame;
}

export function* numbers(from: number, to: number): Generator<number> {
  for (let n = from; n <= to; n += 1) yield n;
}

export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export async function onPort(yard: Pick<Yard, "app">) {
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  const { address, close } = server.value;
  return { url: address, [Symbol.asyncDispose]: close };
}
