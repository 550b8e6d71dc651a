import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { NewEvent } from "../../src/protocol/events.ts";
import { StreamFrame } from "../../src/protocol/resources.ts";
import { until } from "../world/events.ts";
import {
  answered,
  delta,
  numbers,
  onPort,
  openStream,
  renames,
  settle,
  short,
  stepStarted,
  streamPath,
} from "../world/http-reading.ts";
import { manualClock } from "../world/manual-clock.ts";
import { type WritingYard, writingYard } from "../world/writing-yard.ts";

test("a stream has the log from a place on, then what happens, and says where one becomes the other [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, ...renames(200));
  const stream = openStream(yard, "?after=150");
  const seen = await stream.take(50);
  assert.deepEqual(seen.map(short), [...numbers(151, 200)]);
  assert.deepEqual(await stream.take(1), [{ frame: "caught_up", head: 200 }]);
  await yard.append(row, ...renames(2));
  assert.deepEqual((await stream.take(2)).map(short), [201, 202]);
  await stream.close();
});

test("the text of the running answer comes between the start of its step and the whole answer [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  const stream = openStream(yard);
  await stream.take(1);
  yard.say(row, delta(1, 0, "too "));
  yard.say(row, delta(1, 4, "early"));
  await yard.append(row, stepStarted(1));
  assert.deepEqual((await stream.take(2)).map(short), [1, "too early"]);
  const beforeItStarts = stream.take(1);
  await settle();
  yard.say(row, delta(2, 0, "of the "));
  await settle();
  await yard.append(row, ...renames(1));
  assert.deepEqual((await beforeItStarts).map(short), [2]);
  await yard.append(row, answered(1, "too early"), stepStarted(2));
  yard.say(row, delta(2, 7, "next"));
  assert.deepEqual((await stream.take(3)).map(short), [3, 4, "of the next"]);
  await yard.append(row, answered(2, "of the next step"));
  assert.deepEqual((await stream.take(1)).map(short), [5]);
  const afterItsEnd = stream.take(1);
  await settle();
  yard.say(row, delta(2, 11, " step"));
  await settle();
  await yard.append(row, ...renames(1));
  assert.deepEqual((await afterItsEnd).map(short), [6]);
  await stream.close();
});

test("a browser that reconnects by itself goes on where it was [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, ...renames(5));
  const response = await yard.app.request(streamPath("?after=1"), { headers: { "last-event-id": "4" } });
  const reader = response.body?.getReader();
  const text = new TextDecoder().decode((await reader?.read())?.value);
  assert.match(text, /^retry: 1000\nevent: event\nid: 5\ndata: \{.*\}\n\n$/);
  const { frame, event } = JSON.parse(text.split("data: ")[1] ?? "");
  const renamed = { seq: 5, at: event.at, type: "conversation.renamed", title: "t5" };
  assert.deepEqual([frame, event], ["event", renamed]);
  await reader?.cancel();
});

test("a record that cannot be read is passed over, and the stream goes on behind it", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, ...renames(300));
  using database = new DatabaseSync(yard.config.paths.sessionDbPath);
  database.exec("UPDATE event SET body = 'torn' WHERE id % 16777216 BETWEEN 51 AND 250");
  const stream = openStream(yard);
  assert.deepEqual((await stream.take(101)).map(short), [...numbers(1, 50), ...numbers(251, 300), "caught_up"]);
  await stream.close();
});

test("a slow reader waits for nothing but its own pace, until too much text piles up: then it is told to resume [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, stepStarted(1));
  const stream = openStream(yard);
  await stream.take(2);
  await settle();
  const piece = "x".repeat(64 * 1024);
  for (let n = 0; n < 4; n += 1) yard.say(row, delta(1, n * piece.length, piece));
  const enough = await stream.take(Math.ceil((4 * piece.length) / 10_000));
  const characters = enough.map((frame) => (frame.frame === "delta" ? frame.text.length : 0));
  assert.equal(
    characters.reduce((sum, length) => sum + length),
    4 * piece.length,
  );
  await settle();
  for (let n = 4; n < 12; n += 1) yard.say(row, delta(1, n * piece.length, piece));
  assert.deepEqual((await stream.rest()).at(-1), { frame: "behind", after: `1~1.1.1.t${4 * piece.length}` });
  await until("nobody listens", () => yard.listeners() === 0);
});

test("a stream pings while nothing happens, and leaves no timer behind", async () => {
  const clock = manualClock();
  await using yard = await writingYard({ clock });
  await yard.start("c");
  const before = clock.timers();
  const stream = openStream(yard);
  await stream.take(1);
  for (let n = 0; n < 3; n += 1) {
    const next = stream.take(1);
    await settle();
    clock.move(15_000);
    assert.deepEqual(await next, [{ frame: "ping" }]);
  }
  await stream.close();
  assert.equal(clock.timers(), before);
});

test("a reader that goes leaves nothing listening, wherever it was [C3]", async () => {
  await using yard = await writingYard();
  const row = await yard.start("c");
  await yard.append(row, ...renames(100));
  await using server = await onPort(yard);
  for (const base of ["", server.url]) {
    const open = (init: RequestInit) =>
      base === "" ? yard.app.request(streamPath(), init) : fetch(base + streamPath(), init);
    for (const frames of [0, 1, 70, 101]) {
      const leave = new AbortController();
      const response = await open({ signal: leave.signal });
      const reader = response.body?.getReader();
      let text = "";
      while (text.split("\n\n").length <= frames) text += new TextDecoder().decode((await reader?.read())?.value);
      if (base === "") await reader?.cancel();
      else leave.abort();
      await until("nobody listens", () => yard.listeners() === 0);
    }
    await open({ method: "HEAD" });
    assert.equal(yard.listeners(), 0);
  }
});

test("a fault in the middle of a stream is in the log file, and the reader sees an end [Q1]", async () => {
  const read = () => Promise.reject(new Error("disk"));
  await using yard = await writingYard({ wrapStorage: (storage) => ({ ...storage, read }) });
  await yard.append(await yard.start("c"), ...renames(3));
  const stream = openStream(yard);
  assert.deepEqual(await stream.rest(), []);
  assert.match((await yard.faults())[0] ?? "", /failed at the stream: Error: disk/);
  assert.equal(yard.listeners(), 0);
});

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

test("no event is longer than 64 KB: a long one comes in parts [C3]", async () => {
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

/** An event as it came over the wire. */
type RawEvent = { readonly id: string | undefined; readonly frame: StreamFrame; readonly bytes: number };

type From = { readonly lastEventId?: string; readonly after?: string };

/** As a program reads that knows only server-sent events: until enough came, or the stream ends, or nothing is left. */
async function readEvents(
  yard: WritingYard,
  { lastEventId, after }: From,
  isEnough: (events: readonly RawEvent[]) => boolean,
): Promise<RawEvent[]> {
  const query = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  const response = await yard.app.request(streamPath(query), { headers });
  const reader = response.body?.getReader();
  const events: RawEvent[] = [];
  let rest = "";
  const decoder = new TextDecoder();
  let isRead = false;
  /** Whoever has caught up and hears nothing for some turns of the loop lacks nothing. */
  const idle = async (): Promise<undefined> => {
    const before = events.length;
    for (let turns = 0; !isRead && events.length === before && turns < 20; ) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += events.some(({ frame }) => frame.frame === "caught_up") ? 1 : 0;
    }
  };
  while (!isEnough(events)) {
    const chunk = await Promise.race([reader?.read(), idle()]);
    if (chunk === undefined || chunk.done) break;
    const texts = (rest + decoder.decode(chunk.value, { stream: true })).split("\n\n");
    rest = texts.pop() ?? "";
    for (const text of texts) if (!isEnough(events)) events.push(parsed(text));
  }
  isRead = true;
  await reader?.cancel();
  return events;
}

function parsed(text: string): RawEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const frame = StreamFrame.parse(JSON.parse(field("data") ?? ""));
  return { id: field("id"), frame, bytes: Buffer.byteLength(text) + 2 };
}
