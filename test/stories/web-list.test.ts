import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import type { Conversation } from "../../src/protocol/resources.ts";
import { inPlace } from "../../web/src/conversations/groups.ts";
import { ConversationList, undoMs } from "../../web/src/conversations/list.ts";
import { until } from "../world/events.ts";

// What the browser's list makes of the server's answers, in whatever order they come.

const row = (id: string, more: Partial<Conversation> = {}): Conversation => ({
  ...{ id, title: id, lastMessage: "", turns: 1, pinned: false, seenAt: null, createdAt: 1, updatedAt: 1, ...more },
});

type Fetch = Parameters<typeof createClient>[0]["fetch"];

function listOver(fetch: Fetch): ConversationList {
  const client = createClient({ fetch, baseUrl: "http://yard.invalid", language: "en", newKey: () => "k" });
  return new ConversationList(
    () => client,
    () => {},
  );
}

/** A list whose requests are answered by the test, one by one. */
function heldList() {
  const asked: ((body: unknown, status?: number) => void)[] = [];
  const deleted: string[] = [];
  const list = listOver((url, { method }) => {
    if (method === "DELETE") deleted.push(new URL(url).pathname);
    return new Promise((resolve) => asked.push((body, status = 200) => resolve(Response.json(body, { status }))));
  });
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
  return { list, asked, deleted, next, held, load, shown };
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
  assert.equal(await pinned, true);
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

test("what the server does not take is taken back [B1]", async () => {
  const { list, asked, next, held, load, shown } = heldList();
  await load()(row("a"));
  const renamed = list.rename("a", "another");
  assert.deepEqual(shown(), ["another"]);
  next()({}, 500);
  assert.equal(await renamed, false);
  assert.equal(asked.length, 2);
  held()(row("a"));
  await until("it has its name again", () => shown().join() === "a");
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
