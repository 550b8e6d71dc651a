import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createClient, type Fetch, type FollowFrame, inProcessFetch } from "../../src/client/client.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { answered, delta, numbers, renames, settle, short, stepStarted, streamPath } from "../world/http-reading.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type WritingYard, writingYard } from "../world/writing-yard.ts";

test("cut at any byte and opened again, a stream tells every event once and every word once [C3]", async () => {
  const { yard, row } = await yardWithAnswer();
  await using _ = yard;
  const whole = await follow(yard, row, inProcessFetch(yard.app));
  assert.equal(whole.events.length, 3);
  assert.equal(whole.text, "Hello, 世界 and 🌍!");
  const length = await streamLength(yard);
  const cutAt = async (bytes: number) => {
    const cut = await follow(yard, row, cutAfter(yard, [bytes]));
    assert.deepEqual(cut, whole, `cut after ${bytes} of ${length} bytes`);
  };
  // Several readers side by side, for each waits a little before it comes again.
  for (let from = 0; from <= length; from += 32)
    await Promise.all(Array.from({ length: Math.min(32, length - from + 1) }, (_, index) => cutAt(from + index)));
  assert.equal(yard.listeners(), 0);
});

test("whatever is appended while readers come and go, each sees the log without a gap [C3]", async () => {
  const moves = fc.array(
    fc.oneof(fc.record({ append: fc.integer({ min: 1, max: 90 }) }), fc.constant("turn" as const)),
    { maxLength: 20 },
  );
  await using yard = await writingYard();
  let places = 0;
  await fc.assert(
    fc.asyncProperty(moves, fc.nat({ max: 100 }), async (steps, after) => {
      places += 1;
      const row = await yard.start(`c${places}`);
      const total = steps.reduce((sum, step) => sum + (step === "turn" ? 0 : step.append), 0);
      const stop = new AbortController();
      const reading = (async () => {
        const seen: number[] = [];
        for await (const frame of yard.client.follow(row.id, { after, signal: stop.signal })) {
          if (frame.frame === "event") seen.push(frame.event.seq);
          if (seen.at(-1) === total || (total <= after && frame.frame === "caught_up")) break;
        }
        return seen;
      })();
      for (const step of steps) {
        if (step === "turn") await new Promise((resolve) => setImmediate(resolve));
        else await yard.append(row, ...renames(step.append));
      }
      assert.deepEqual(await reading, [...numbers(after + 1, total)]);
      await until("nobody listens", () => yard.listeners() === 0);
    }),
    { numRuns: 20 },
  );
});

test("a client shows the text of each step, and drops what a careless server sends twice [C3]", async () => {
  await using yard = await writingYard({ clock: manualClock() });
  const row = await yard.start("c");
  const direct = inProcessFetch(yard.app);
  const fetch: Fetch = (url, init) => direct(url.replace(/after=\d+/, "after=0"), init);
  await yard.append(row, stepStarted(1));
  yard.say(row, delta(1, 0, "first"));
  const stop = new AbortController();
  const seen: unknown[] = [];
  for await (const frame of createClient({ fetch, clock: manualClock() }).follow("c", { signal: stop.signal })) {
    seen.push(short(frame));
    if (seen.length === 3) await yard.append(row, answered(1, "first"), stepStarted(2));
    if (seen.length === 3) yard.say(row, delta(2, 0, "2nd"));
    // Too much at once: the client is told to resume.
    if (seen.length === 6)
      for (let n = 0; n < 20; n += 1) yard.say(row, delta(2, 3 + n * 100_000, "z".repeat(100_000)));
    if (String(seen.slice(6).join("")).length === 2_000_000) break;
  }
  stop.abort();
  assert.deepEqual(seen.slice(0, 6), [1, "caught_up", "first", 2, 3, "2nd"]);
  assert.equal(seen.slice(6).join(""), "z".repeat(2_000_000));
});

test("a client leaves a connection that has fallen silent and comes back", async () => {
  const clock = manualClock();
  await using yard = await writingYard({ clock });
  const row = await yard.start("c");
  await yard.append(row, ...renames(1));
  const connections: string[] = [];
  const direct = inProcessFetch(yard.app);
  const client = createClient({
    clock,
    fetch: async (url, init) => {
      connections.push(new URL(url).search);
      if (connections.length === 1) return unanswered(init.signal);
      // The second one is dead from its first event on.
      return connections.length === 2 ? silentAfterFirstChunk(await direct(url, init), init.signal) : direct(url, init);
    },
  });
  const stop = new AbortController();
  const frames = client.follow("c", { signal: stop.signal });
  const first = nextOf(frames);
  await settle();
  clock.move(60_000);
  assert.equal(short(await first), "lost: network");
  assert.equal(short(await nextOf(frames)), "found");
  assert.equal(short(await nextOf(frames)), 1);
  const next = nextOf(frames);
  await settle();
  clock.move(60_000);
  assert.equal(short(await next), "caught_up");
  assert.deepEqual(connections, ["?after=0", "?after=0", "?after=1"]);
  stop.abort();
  await frames.return();
});

test("a client says once that the server is away, and goes on when it is back [C3]", async () => {
  await using yard = await writingYard({ clock: manualClock() });
  const row = await yard.start("c");
  await yard.append(row, ...renames(1));
  let refusals = 5;
  const direct = inProcessFetch(yard.app);
  const fetch: Fetch = async (url, init) => {
    refusals -= 1;
    if (refusals === 3) return new Response("<html>please sign in to the airport</html>");
    if (refusals >= 0) throw new TypeError("fetch failed");
    return direct(url, init);
  };
  const stop = new AbortController();
  const seen: unknown[] = [];
  for await (const frame of createClient({ fetch, clock: manualClock() }).follow("c", { signal: stop.signal })) {
    seen.push(short(frame));
    if (frame.frame === "caught_up") break;
  }
  assert.deepEqual(seen, ["lost: network", "found", 1, "caught_up"]);
});

/** Three events, and an answer in the middle of being written. */
async function yardWithAnswer(): Promise<{ yard: WritingYard; row: ConversationRow }> {
  const yard = await writingYard({ clock: manualClock() });
  const row = await yard.start("c");
  await yard.append(row, ...renames(1), answered(1, "好"), stepStarted(2));
  const words = ["Hel", "lo, 世", "界 and ", "🌍", "!"];
  words.reduce((offset, word) => {
    yard.say(row, delta(2, offset, word));
    return offset + word.length;
  }, 0);
  return { yard, row };
}

async function follow(yard: WritingYard, row: ConversationRow, fetch: Fetch) {
  const events: number[] = [];
  let text = "";
  const stop = new AbortController();
  for await (const frame of createClient({ fetch, clock: manualClock() }).follow(row.id, { signal: stop.signal })) {
    if (frame.frame === "event") events.push(frame.event.seq);
    if (frame.frame === "delta") text += frame.text;
    if (text.endsWith("!")) break;
  }
  stop.abort();
  await until("nobody listens", () => yard.listeners() === 0);
  return { events, text };
}

/** The n-th connection breaks after so many bytes; later ones hold. */
function cutAfter(yard: WritingYard, places: readonly number[]): Fetch {
  const left = [...places];
  const direct = inProcessFetch(yard.app);
  return async (url, init) => {
    const response = await direct(url, init);
    let bytes = left.shift() ?? Number.POSITIVE_INFINITY;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, bytes));
        if (chunk.length >= bytes) controller.error(new Error("connection lost"));
        bytes -= chunk.length;
      },
    });
    return new Response(response.body?.pipeThrough(cut) ?? null, response);
  };
}

async function streamLength(yard: WritingYard): Promise<number> {
  const reader = (await yard.app.request(streamPath())).body?.getReader();
  let bytes = 0;
  let text = "";
  while (!text.includes("!")) {
    const chunk = (await reader?.read())?.value ?? new Uint8Array();
    bytes += chunk.length;
    text += new TextDecoder().decode(chunk);
  }
  await reader?.cancel();
  return bytes;
}

function unanswered(signal: AbortSignal | undefined): Promise<Response> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

/** As the network does it: nothing comes any more, and only giving up ends it. */
function silentAfterFirstChunk(response: Response, signal: AbortSignal | undefined): Response {
  const reader = response.body?.getReader();
  const body = new ReadableStream({
    async start(controller) {
      signal?.addEventListener("abort", () => controller.error(signal.reason));
      controller.enqueue((await reader?.read())?.value);
    },
  });
  return new Response(body, response);
}

async function nextOf(frames: AsyncGenerator<FollowFrame, void>): Promise<FollowFrame> {
  const next = await frames.next();
  assert.ok(!next.done);
  return next.value;
}
