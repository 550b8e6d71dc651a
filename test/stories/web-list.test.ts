import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { Conversation } from "../../src/protocol/resources.ts";
import { inPlace } from "../../web/src/conversations/groups.ts";
import { handOverPins } from "../../web/src/conversations/kept-pins.ts";
import { ConversationList, type ListHearers, undoMs } from "../../web/src/conversations/list.ts";
import { until } from "../world/events.ts";
import { problemFor } from "../world/problem.ts";

// What the browser's list makes of the server's answers, in whatever order they come.

const row = (id: string, more: Partial<Conversation> = {}): Conversation => ({
  ...{ id, title: id, lastMessage: "", turns: 1, pinned: false, seenAt: null, createdAt: 1, updatedAt: 1, ...more },
});

type Fetch = Parameters<typeof createClient>[0]["fetch"];

function listOver(fetch: Fetch, failed: ListHearers["failed"] = ({ detail }) => assert.fail(detail)): ConversationList {
  const client = createClient({ fetch, baseUrl: "http://yard.invalid", language: "en", newKey: () => "k" });
  return new ConversationList(() => client, { changed: () => {}, failed });
}

/** What the server answers where its disk is full. */
const full = problemFor(makeFailure("storage_full", {}), 507);
/** And where there is no such conversation. */
const gone = (id: string) => problemFor(makeFailure("conversation_not_found", { id }), 404);

/** A list whose requests are answered by the test, one by one. */
function heldList() {
  const asked: ((body: unknown, status?: number) => void)[] = [];
  const deleted: string[] = [];
  const told: string[] = [];
  const list = listOver(
    (url, { method }) => {
      if (method === "DELETE") deleted.push(new URL(url).pathname);
      return new Promise((resolve) => asked.push((body, status = 200) => resolve(Response.json(body, { status }))));
    },
    ({ detail }) => told.push(detail),
  );
  const next = () => asked.shift() ?? assert.fail("nothing is asked for");
  /** Answers both requests of a load. */
  const held = () => {
    const [newest, pinned] = [next(), next()];
    return (...items: Conversation[]) => {
      newest({ items, next: null });
      pinned({ items: items.filter((item) => item.pinned), next: null });
    };
  };
  const load = () => {
    const loaded = list.load();
    const answer = held();
    return async (...items: Conversation[]) => {
      answer(...items);
      await loaded;
    };
  };
  const shown = () => list.view.get().items.map(({ title, pinned }) => `${title}${pinned ? " pinned" : ""}`);
  return { list, asked, deleted, told, next, held, load, shown };
}

test("a list that was asked for before a change was answered takes nothing of it back [B1]", async () => {
  const { list, asked, next, held, load, shown } = heldList();
  await load()(row("a"));
  assert.deepEqual(shown(), ["a"]);

  const before = load();
  const pinned = list.pin("a", true);
  const change = next();
  assert.deepEqual(shown(), ["a pinned"], "shown at once");
  const meanwhile = load();
  const late = load();
  await before(row("a"));
  assert.deepEqual(shown(), ["a pinned"], "asked for before it");
  await meanwhile(row("a"));
  assert.deepEqual(shown(), ["a pinned"], "asked for meanwhile");
  change(row("a", { pinned: true, title: "as it is there" }));
  assert.equal(await pinned, undefined);
  assert.deepEqual(shown(), ["as it is there pinned"]);
  const lateLoaded = late(row("a"));
  await until("it is asked for once more", () => asked.length === 2);
  assert.deepEqual(shown(), ["as it is there pinned"], "asked for before the answer, and answered after it");
  held()(row("b"), row("a", { pinned: true }));
  await lateLoaded;
  assert.deepEqual(shown(), ["b", "a pinned"]);
  assert.deepEqual(asked, []);
});

test("a conversation that has come stays, also when an answer from before it is the slower one [B1]", async () => {
  const { load, shown } = heldList();
  const [before, after] = [load(), load()];
  await after(row("new"), row("old"));
  assert.deepEqual(shown(), ["new", "old"]);
  await before(row("old"));
  assert.deepEqual(shown(), ["new", "old"]);
  await load()(row("old"));
  assert.deepEqual(shown(), ["old"], "what is asked for later counts again");
});

test("while a row is in use, rows stay; new ones come above them, and what is loaded further below [B1]", () => {
  const placed = (standing: string, now: string) =>
    inPlace(
      [...now].map((id) => row(id)),
      [...standing],
    )
      .map(({ id }) => id)
      .join("");
  assert.equal(placed("abc", "cab"), "abc");
  assert.equal(placed("abc", "xcyab"), "xyabc");
  assert.equal(placed("abc", "bacde"), "abcde");
  assert.equal(placed("abc", "ca"), "ac");
  assert.equal(placed("", "ba"), "ba");
});

test("what the server does not take is taken back, and answered with the server's words [B1][P4]", async () => {
  const { list, asked, next, held, load, shown } = heldList();
  await load()(row("a"));
  const renamed = list.rename("a", "another");
  assert.deepEqual(shown(), ["another"]);
  next()(full, full.status);
  assert.equal((await renamed)?.detail, full.detail);
  assert.deepEqual(shown(), ["a"]);
  assert.equal(asked.length, 2, "it may be otherwise there than it was here");
  held()(row("a", { title: "as it is there" }));
  await until("it is as it is there", () => shown().join() === "as it is there");
});

test("a deletion that was undone stays undone; any other is done once its moment is over [B1]", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { list, deleted, held, load, shown } = heldList();
  await load()(row("a"), row("b"));
  const undo = list.remove("a");
  list.remove("b");
  assert.deepEqual(shown(), []);
  undo();
  held()(row("a"), row("b"));
  await load()(row("a"), row("b"));
  assert.deepEqual(shown(), ["a"]);
  t.mock.timers.tick(undoMs - 1);
  assert.deepEqual(deleted, [], "until then it may be undone");
  t.mock.timers.tick(1);
  assert.deepEqual(deleted, ["/api/v1/conversations/b"]);
});

test("a deletion that the server refuses is told in its words, and the conversation is there again [B1][P4]", async () => {
  const { list, deleted, told, next, load, shown } = heldList();
  await load()(row("a"), row("b"), row("c"));
  list.remove("b");
  list.removeAllNow();
  const refused = next();
  await load()(row("a"), row("b"), row("c"));
  assert.deepEqual([shown(), deleted.length], [["a", "c"], 1], "on its way, it stays hidden");
  list.removeAllNow();
  assert.equal(deleted.length, 1, "and is asked for once");
  refused(full, full.status);
  await until("it is told", () => told.length > 0);
  assert.deepEqual([told, shown()], [[full.detail], ["a", "b", "c"]]);
});

test("a conversation that others have deleted already is deleted, and nothing is told [B1]", async () => {
  const { list, asked, told, next, held, load, shown } = heldList();
  await load()(row("a"), row("b"));
  const before = load();
  list.remove("b");
  list.removeAllNow();
  next()(gone("b"), 404);
  await until("it is gone", () => list.view.get().items.length === 1);
  const late = before(row("a"), row("b"));
  await until("it is asked for once more", () => asked.length === 2);
  held()(row("a"));
  await late;
  assert.deepEqual([told, shown()], [[], ["a"]]);
});

test("a pinned conversation stands in the list once, also where one has come to it by its age [B1]", async () => {
  const rows = Array.from({ length: 230 }, (_, at) => row(`c${at}`, { pinned: at === 220, updatedAt: 1_000 - at }));
  const list = listOver((url) => {
    const query = new URL(url).searchParams;
    const from = Number(query.get("before") ?? 0);
    const upTo = from + Number(query.get("limit"));
    if (query.has("pinned")) return Promise.resolve(Response.json({ items: [rows[220]], next: null }));
    return Promise.resolve(Response.json({ items: rows.slice(from, upTo), next: upTo < 230 ? String(upTo) : null }));
  });
  await list.load();
  for (let page = 0; page < 4; page += 1) await list.loadMore();
  const known = () => new Set(list.view.get().items.map(({ id }) => id)).size;
  const isWhole = () =>
    assert.deepEqual([known(), list.view.get().items.length, list.view.get().hasMore], [230, 230, false]);
  isWhole();
  await list.load();
  isWhole();
});

test("why the list cannot be loaded stands in it, and why older ones cannot be is told [B1][P4]", async () => {
  const rows = Array.from({ length: 300 }, (_, at) => row(`c${at}`));
  const told: string[] = [];
  let isFull = true;
  const list = listOver(
    async (url) => {
      if (isFull) return Response.json(full, { status: full.status });
      const query = new URL(url).searchParams;
      const from = Number(query.get("before") ?? 0);
      const upTo = from + Number(query.get("limit"));
      return Response.json(
        query.has("pinned") ? { items: [], next: null } : { items: rows.slice(from, upTo), next: String(upTo) },
      );
    },
    ({ detail }) => told.push(detail),
  );
  const shown = () => {
    const { phase, failure, items } = list.view.get();
    return [phase, failure?.detail, items.length];
  };
  await list.load();
  assert.deepEqual([shown(), told], [["failed", full.detail, 0], []]);
  isFull = false;
  await list.load();
  for (const [before, after] of [
    [50, 100],
    [100, 150],
    [150, 200],
    [200, 250],
  ]) {
    isFull = true;
    await list.loadMore();
    assert.deepEqual([shown(), told.splice(0)], [["ready", undefined, before], [full.detail]]);
    isFull = false;
    await list.loadMore();
    assert.deepEqual([shown(), told], [["ready", undefined, after], []]);
  }
});

test("pins that a browser kept for itself are kept until the server has them [B1]", async (t) => {
  const kept = new Map([["agentyard.pinned", '["a","b","gone",7]']]);
  const storage = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  };
  const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage") ?? { configurable: true };
  Object.defineProperty(globalThis, "localStorage", { configurable: true, value: storage });
  t.after(() => Object.defineProperty(globalThis, "localStorage", before));
  let refused = ["b"];
  const pinned = new Set<string>();
  const list = listOver(async (url, { method }) => {
    if (method === "GET") return Response.json({ items: [row("a"), row("b")], next: null });
    const id = new URL(url).pathname.split("/").at(-1) ?? "";
    const { status, ...rest } = id === "gone" ? gone("gone") : full;
    if (id === "gone" || refused.includes(id)) return Response.json({ ...rest, status }, { status });
    pinned.add(id);
    return Response.json(row(id, { pinned: true }));
  });
  await handOverPins(list);
  assert.equal(kept.get("agentyard.pinned"), '["a","b","gone",7]', "nothing is handed over before the list is there");
  await list.load();
  await handOverPins(list);
  assert.deepEqual([[...pinned], [...kept]], [["a"], [["agentyard.pinned", '["b"]']]]);
  refused = [];
  await handOverPins(list);
  assert.deepEqual([[...pinned], [...kept]], [["a", "b"], []]);
});
