import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createClient, type Fetch, inProcessFetch } from "../../src/client/client.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import type { ConversationRow } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { answered, delta, onPort, renames, stepStarted, streamPath } from "../world/http-reading.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type RawEvent, readEvents } from "../world/raw-events.ts";
import { type WritingYard, writingYard } from "../world/writing-yard.ts";

const eventBytesMax = 64 * 1024;

test("whoever comes back after any frame, by header or by address, gets exactly what it lacks [C3]", async () => {
  await using yard = await yardInAnswer();
  const whole = await readEvents(yard, {}, isLastWord);
  assert.equal(said(whole), "Let me see: Hello, 世界 and 🌍!.building… done ");
  for (const [index, { id }] of whole.entries()) {
    assert.ok(id !== undefined, "every frame that matters has an id");
    const rest = whole.slice(index + 1);
    for (const how of [{ lastEventId: id }, { after: id }]) {
      const again = await readEvents(yard, how, isLastWord);
      const lacking = again.filter(({ frame }) => frame.frame !== "caught_up");
      assert.deepEqual(
        [said(lacking), eventsOf(lacking)],
        [said(rest), eventsOf(rest)],
        `after ${id} by ${Object.keys(how).join()}`,
      );
    }
  }
});

test("however often and wherever a raw reader breaks off, no word comes twice and none is missing [C3]", async () => {
  await using yard = await yardInAnswer();
  const whole = said(await readEvents(yard, {}, isLastWord));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 5 }), { maxLength: 6 }), async (takes) => {
      const all: RawEvent[] = [];
      let lastEventId = "0";
      for (const count of [...takes, Number.POSITIVE_INFINITY]) {
        const seen = await readEvents(yard, { lastEventId }, (events) => events.length > count || isLastWord(events));
        const taken = seen.slice(0, count);
        all.push(...taken);
        lastEventId = taken.at(-1)?.id ?? lastEventId;
      }
      assert.equal(said(all), whole);
    }),
    { numRuns: 60 },
  );
});

test("a place in an answer that died with its server is void: the log tells, and the new answer comes whole [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  const recovered: NewEvent = { type: "turn.recovered", turn: 1, epoch: 2 };
  await yard.append(row, stepStarted(1), recovered, stepStarted(1));
  yard.say(row, delta(1, 0, "the new answer."));
  const seen = await readEvents(yard, { lastEventId: "1~1.1.1.t9" }, isLastWord);
  assert.deepEqual(
    seen.map(({ id, frame }) => [id, frame.frame === "delta" ? frame.text : frame.frame]),
    [
      ["2", "event"],
      ["3", "event"],
      ["3", "caught_up"],
      ["3~1.1.1.t15", "the new answer."],
    ],
  );
});

test("what is no place of ours counts as none, and the address is checked [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, ...renames(2));
  for (const lastEventId of ["", "x", "-1", "1~", "9".repeat(30), "1~1.1.1.t1x"])
    assert.deepEqual(eventsOf(await readEvents(yard, { lastEventId, after: "1" }, hasCaughtUp)), [2]);
  for (const after of ["x", "-1", "1~1.1", "1,%zz"])
    assert.equal((await yard.app.request(streamPath(`?after=${encodeURIComponent(after)}`))).status, 400);
});

test("no event is longer than 64 KB: a long one comes in parts, and cut anywhere it comes whole [C3]", async () => {
  await using yard = await writingYard({ clock: manualClock() });
  const row = await yard.start("c");
  const title = `${'\u0001\\"世🌍'.repeat(20_000)}end`;
  await yard.append(row, ...renames(1), { type: "conversation.renamed", title }, stepStarted(1));
  yard.say(row, delta(1, 0, `${"\u0000🌍".repeat(40_000)}.`));
  const raw = await readEvents(yard, {}, isLastWord);
  const sizes = raw.map(({ bytes }) => bytes);
  assert.ok(Math.max(...sizes) <= eventBytesMax, `the longest has ${Math.max(...sizes)} bytes`);
  const parts = raw.flatMap(({ frame, id }) => (frame.frame === "part" ? [{ ...frame, id }] : []));
  assert.deepEqual(
    parts.map(({ of, index, id }) => [of, index, id]),
    parts.map((_, index) => ["2", index, index === parts.length - 1 ? "2" : undefined]),
  );
  const joined = JSON.parse(parts.map(({ text }) => text).join(""));
  assert.equal(joined.event.title, title);
  const starts = sizes.map((_, index) => sizes.slice(0, index).reduce((sum, bytes) => sum + bytes, 0));
  for (const place of starts.flatMap((start) => [start, start + 200])) {
    const seen = await titles(row, cutOnce(yard, place));
    assert.deepEqual(seen, ["t1", title], `cut after ${place} bytes`);
  }
});

test("the last frame says why it is the last: the server ends, or the conversation is gone [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, stepStarted(1));
  yard.say(row, delta(1, 0, "so far."));
  const server = await onPort(yard);
  const response = await fetch(server.url + streamPath());
  const { "cache-control": cache, "x-accel-buffering": buffering } = Object.fromEntries(response.headers);
  assert.deepEqual([cache, buffering], ["no-store", "no"]);
  const text = response.text();
  await readEvents(yard, {}, isLastWord);
  await until("both listen", () => yard.listeners() === 2);
  await server[Symbol.asyncDispose]();
  const place = "1~1.1.1.t7";
  assert.match(await text, /^retry: 1000\n/);
  assert.ok((await text).endsWith(`event: closing\nid: ${place}\ndata: {"frame":"closing","after":"${place}"}\n\n`));

  const last = (await yard.app.request(streamPath())).text();
  await until("both listen", () => yard.listeners() === 2);
  await yard.client.call("deleteConversation", { params: { id: "c" } });
  assert.ok((await last).endsWith('data: {"frame":"deleted"}\n\n'));
  assert.equal(yard.listeners(), 0);
  const gone = [];
  for await (const frame of yard.client.follow("c", { signal: new AbortController().signal })) gone.push(frame.frame);
  assert.deepEqual(gone, ["failed"]);
});

/** In the middle of its second answer, while a program runs. */
async function yardInAnswer(): Promise<WritingYard> {
  const yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, ...renames(1), stepStarted(1), answered(1, "first"), stepStarted(2));
  yard.say(row, { ...delta(2, 0, "Let me "), kind: "reasoning" });
  yard.say(row, { ...delta(2, 7, "see: "), kind: "reasoning" });
  yard.say(row, delta(2, 0, "Hello, 世界 and 🌍!."));
  yard.say(row, { frame: "output", call: "call:1,a", offset: 0, text: "building… " });
  yard.say(row, { frame: "output", call: "call 2", offset: 0, text: "done " });
  return yard;
}

function said(events: readonly RawEvent[]): string {
  const texts = (kinds: readonly string[]) =>
    events.map(({ frame }) => ("text" in frame && kinds.includes(kindOf(frame)) ? frame.text : "")).join("");
  return texts(["reasoning"]) + texts(["text"]) + texts(["output"]);
}

function kindOf(frame: RawEvent["frame"]): string {
  return frame.frame === "delta" ? frame.kind : frame.frame;
}

function eventsOf(events: readonly RawEvent[]): number[] {
  return events.flatMap(({ frame }) => (frame.frame === "event" ? [frame.event.seq] : []));
}

/** The last that is said ends with a full stop; who has it already only hears that nothing is missing. */
function isLastWord(events: readonly RawEvent[]): boolean {
  const last = events.at(-1)?.frame;
  return last !== undefined && ("text" in last && last.frame !== "part" ? last.text.endsWith(".") : false);
}

function hasCaughtUp(events: readonly RawEvent[]): boolean {
  return events.at(-1)?.frame.frame === "caught_up";
}

async function titles(row: ConversationRow, fetch: Fetch): Promise<string[]> {
  const stop = new AbortController();
  const seen: string[] = [];
  for await (const frame of createClient({ fetch, clock: manualClock() }).follow(row.id, { signal: stop.signal })) {
    if (frame.frame === "event" && frame.event.type === "conversation.renamed") seen.push(frame.event.title);
    if (frame.frame === "delta" && frame.text.endsWith(".")) break;
  }
  stop.abort();
  return seen;
}

/** The first connection breaks after so many bytes. */
function cutOnce(yard: WritingYard, place: number): Fetch {
  const direct = inProcessFetch(yard.app);
  let left = place;
  return async (url, init) => {
    const response = await direct(url, init);
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, left));
        if (chunk.length >= left) {
          left = Number.POSITIVE_INFINITY;
          controller.error(new Error("connection lost"));
        }
        left -= chunk.length;
      },
    });
    return new Response(response.body?.pipeThrough(cut) ?? null, response);
  };
}
