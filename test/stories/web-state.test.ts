import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createClient } from "../../src/client/client.ts";
import type { AgentInfo } from "../../src/protocol/agent-routes.ts";
import type { LogEvent, NewEvent } from "../../src/protocol/events.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import type { Conversation } from "../../src/protocol/resources.ts";
import { foldEvents } from "../../web/src/chat/fold.ts";
import { readBefore } from "../../web/src/chat/read-before.ts";
import { stateOf } from "../../web/src/chat/team.ts";
import { inPlace } from "../../web/src/conversations/groups.ts";
import { ConversationList, type ListHearers, undoMs } from "../../web/src/conversations/list.ts";
import { blocksOf } from "../../web/src/markdown/parse.ts";
import { GrowingText, type Parsed, parseWhole } from "../../web/src/markdown/stream.ts";
import { rowsOfTree } from "../../web/src/tasks/tree-rows.ts";
import { readTurns } from "../../web/src/timeline/read-turns.ts";
import { type Before, timeTurns } from "../../web/src/timeline/turns.ts";
import { until } from "../world/events.ts";
import { problemFor } from "../world/problem.ts";
import { must, startYard } from "../world/yard.ts";

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

// What the browser makes of the events of agents that others made.

const usage = { input: 10, output: 1 };
const answer = (agent: string | undefined, calls: [id: string, name: string][], text = ""): NewEvent => ({
  ...{ type: "message.assistant", ...(agent !== undefined && { agent }), turn: 1, step: 1, text, usage },
  ...{ calls: calls.map(([id, name]) => ({ id, name, arguments: "{}" })), finish: "tool_calls", durationMs: 1 },
});
const begins: NewEvent[] = [
  { type: "message.user", id: "m", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "m", epoch: 1 },
  answer(undefined, [
    ["one", "spawn_agent"],
    ["two", "now"],
  ]),
  { type: "agent.spawned", id: "task-a", mode: "task", call: "one", role: "r", name: "amber", brief: "look" },
  { type: "turn.started", agent: "task-a", turn: 1, message: "task-a-brief", epoch: 1 },
];
const asks: NewEvent = {
  ...{ type: "decision.asked", agent: "task-a", turn: 1, id: "d", call: "one", path: ["root", "task-a"] },
  ...{ kind: "approval", tool: "pay", arguments: "{}" },
};
const ends: NewEvent = { type: "agent.ended", id: "task-a", outcome: "terminated" };

const logged = (...events: NewEvent[]): LogEvent[] =>
  // Tests give whole bodies.
  events.map((event, at) => ({ ...event, seq: at + 1, at: at + 1 }) as LogEvent);

function shown(events: readonly LogEvent[]) {
  const { items, decisions, team } = foldEvents(events);
  return {
    calls: items.flatMap((item) => (item.kind === "call" ? [[item.call, item.state, item.agents.join()]] : [])),
    cards: items.flatMap((item) =>
      item.kind === "decision" ? [item.isGone ? "gone" : (item.made?.verdict ?? "open")] : [],
    ),
    waiting: decisions.length,
    team: [...team.values()].map((member) => [
      ...[member.name, stateOf(member, team), member.steps, member.tokens],
      ...member.folded.items.map((item) => (item.kind === "call" ? `${item.name} ${item.state}` : item.kind)),
    ]),
  };
}

test("calls of several agents with one id are kept apart, and what a nested one asks stands among the main agent's messages [B1][H4]", () => {
  const works = [...begins, answer("task-a", [["one", "pay"]])];
  const started: NewEvent = { type: "call.started", agent: "task-a", call: "one", class: "pure", attempt: 1 };
  const calls = [
    ["one", "asked", "task-a"],
    ["two", "asked", ""],
  ];
  assert.deepEqual(shown(logged(...works, started)), {
    ...{ calls, cards: [], waiting: 0 },
    team: [["amber", "working", 1, 11, "pay running"]],
  });
  assert.deepEqual(shown(logged(...works, asks)), {
    ...{ calls, cards: ["open"], waiting: 1 },
    team: [["amber", "waiting_person", 1, 11, "pay waiting", "decision"]],
  });
  const made: NewEvent = {
    ...{ type: "decision.made", agent: "task-a", id: "d", verdict: "approve", by: "local" },
    ...{ argumentsHash: "h", previous: "" },
  };
  assert.deepEqual(shown(logged(...works, asks, made)), {
    ...{ calls, cards: ["approve"], waiting: 0 },
    team: [["amber", "working", 1, 11, "pay asked", "decision"]],
  });
  assert.deepEqual(shown(logged(...works, asks, ends)), {
    ...{ calls, cards: ["gone"], waiting: 0 },
    team: [["amber", "terminated", 1, 11, "pay cancelled", "decision"]],
  });
});

test("mail stands with both, an agent from before what was read goes by its id, and going back takes agents along [B1]", () => {
  const mail: NewEvent = { type: "agent.mailed", agent: "task-a", to: "task-b", id: "l", text: "hi" };
  const { team } = foldEvents(logged(mail, { ...mail, agent: "task-b", to: "root", id: "l2" }));
  assert.deepEqual(
    [...team.values()].map(({ name, mode, folded }) => [name, mode, folded.items.length]),
    [
      ["task-a", "task", 1],
      ["task-b", "task", 2],
    ],
  );
  assert.equal(foldEvents(logged(mail, { ...mail, to: "root" })).items.length, 1);
  assert.equal(foldEvents(logged(mail, { ...mail, to: "root", kind: "result" })).items.length, 0);
  assert.equal(foldEvents(logged(...begins, { type: "rewound", to: 1, cause: "undo" })).team.size, 0);
  const handed: NewEvent = { type: "agent.spawned", id: "handoff-1", mode: "handoff", role: "r", brief: "b" };
  assert.equal(foldEvents(logged(handed, { type: "agent.ended", id: "handoff-1", outcome: "done" })).team.size, 0);
});

test("the tree closes and opens, and more than 50 below one stand together by their state [B1][A1]", () => {
  const agents = [
    ...[["root", null, "working"] as const, ["a", "root", "done"] as const, ["b", "a", "done"] as const],
    ...Array.from({ length: 51 }, (_, at) => [`w${at}`, "b", at < 50 ? "done" : "failed"] as const),
  ].map(([id, parent, state]) => ({ id, parent, state }) as AgentInfo);
  const keys = (...turned: string[]) => rowsOfTree(agents, new Set(turned)).map(({ key, level }) => `${level} ${key}`);
  assert.deepEqual(keys(), ["1 root", "2 a", "3 b", "4 b/done", "4 b/failed"]);
  assert.deepEqual(keys("b/failed"), ["1 root", "2 a", "3 b", "4 b/done", "4 b/failed", "5 w50"]);
  assert.equal(keys("b/done").length, 55);
  assert.deepEqual(keys("a"), ["1 root", "2 a"]);
});

// What the browser's timeline and its chat make of a part of the log.

const starts = (turn: number, agent?: string): NewEvent => ({
  ...{ type: "turn.started", turn, message: `m${turn}`, epoch: 1 },
  ...(agent !== undefined && { agent }),
});
const step = (turn: number, number: number, agent?: string): NewEvent => ({
  ...{ type: "step.started", turn, step: number, attempt: 1, slot: "base", model: "m", reason: "" },
  ...{ hash: "", bytes: 0, reused: 0, ...(agent !== undefined && { agent }) },
});
const spawned = (id: string, name: string): NewEvent => ({
  ...{ type: "agent.spawned", id, mode: "task", role: "r", name, brief: "look" },
});
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });
const said: NewEvent = { type: "message.user", id: "m", text: "go", mode: "queue" };

function shownTurns(events: readonly NewEvent[], before?: Before) {
  // Tests give whole bodies.
  const logged = events.map((event, at) => ({ ...event, seq: at + 1, at: at + 1 }) as LogEvent);
  return timeTurns(logged, before).map(({ turn, outcome, startedAt, entries }) => [
    ...[turn, outcome, startedAt],
    ...entries.map(({ agent }) => agent ?? "main"),
  ]);
}

test("a turn that began before what was read is there with what is seen of it, and with its number [B1]", () => {
  const names = new Map([["task-a", "amber"]]);
  assert.deepEqual(shownTurns([said, step(1, 7, "task-a"), step(1, 8, "task-b")], { names, turn: 4 }), [
    [4, "running", 2, "amber", "task-b"],
  ]);
  assert.deepEqual(shownTurns([step(1, 7, "task-a"), step(3, 2), finished(3), said, starts(4), step(4, 1)]), [
    [3, "done", 1, "task-a", "main"],
    [4, "running", 5, "main"],
  ]);
  assert.deepEqual(shownTurns([step(1, 7, "task-a"), starts(4), step(4, 1)], { names }), [
    [3, "running", 1, "amber"],
    [4, "running", 2, "main"],
  ]);
});

test("what happens between turns is none [B1]", () => {
  const renamed: NewEvent = { type: "conversation.renamed", title: "t" };
  assert.deepEqual(shownTurns([said, renamed]), []);
  assert.deepEqual(shownTurns([renamed, said, starts(2), step(2, 1)]), [[2, "running", 3, "main"]]);
});

test("a turn with more events than are read at once is shown while it runs, its agents under their names [B1][H4]", async () => {
  await using yard = await startYard();
  const { number } = await yard.start("busy");
  const steps = Array.from({ length: 1_100 }, (_, at) => step(1, at + 1, "task-a"));
  await yard.log.append(number, [said, starts(1), spawned("task-a", "amber"), starts(1, "task-a"), ...steps]);
  const [turn, ...others] = await must(readTurns(yard.client, "busy", steps.length + 4));
  assert.deepEqual([turn?.turn, turn?.outcome, turn?.steps, others], [1, "running", 1_000, []]);
  assert.deepEqual(new Set(turn?.entries.map(({ agent }) => agent)), new Set(["amber"]));
});

test("scrolling back to the beginning of a long conversation shows each message once, in order [B1]", async () => {
  await using yard = await startYard();
  const { number } = await yard.start("long");
  const ids = Array.from({ length: 150 }, (_, at) => `m${at + 1}`);
  const turns = ids.flatMap((id, at) => [{ ...said, id }, starts(at + 1), finished(at + 1)]);
  await must(yard.log.append(number, turns));
  const newest = await readBefore(yard.client, "long", turns.length + 1, 300);
  assert.deepEqual(
    newest.map(({ seq }) => seq),
    turns.map((_, at) => at + 1).slice(-300),
  );
  const older = await readBefore(yard.client, "long", newest[0]?.seq ?? 0, 300);
  const { items } = foldEvents([...older, ...newest]);
  assert.deepEqual(
    items.flatMap((item) => (item.kind === "user" ? item.id : [])),
    ids,
  );
});

// Answers come in pieces; what was finished once is not read again.

const pieces = [
  ...["# Heading\n\n", "Some *words*, `code`\n", "and 中文。\n\n", "- one\n- two\n\n", "1. first\n", "   more\n\n"],
  ...[
    "```ts\nconst a = 1;\n\n",
    "```\n\n",
    "| a | b |\n| - | - |\n| 1 | 2 |\n\n",
    "> quoted\n\n",
    "$$x^2$$\n\n",
    "---\n\n",
  ],
  ...["    indented\n\n", "<b>markup</b>\n\n", "***\n", "\n", "text", " $y$ "],
];

const rawOf = ({ groups, tail }: Parsed) =>
  [...groups.flatMap(({ blocks }) => blocks), ...tail].map(({ raw }) => raw).join("");

test("a text that grows piece by piece ends as the same blocks as the whole, and nothing of it is lost [B1]", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (parts) => {
      const growing = new GrowingText();
      let text = "";
      let last: Parsed = { groups: [], tail: [] };
      for (const part of parts) {
        text += part;
        last = growing.grow(text);
        assert.equal(rawOf(last).trimEnd(), text.trimEnd());
      }
      const whole = parseWhole(text).groups.flatMap(({ blocks }) => blocks);
      const kinds = (blocks: readonly { type: string }[]) =>
        blocks.map(({ type }) => type).filter((type) => type !== "space");
      const grown = [...last.groups.flatMap(({ blocks }) => blocks), ...last.tail];
      assert.deepEqual(kinds(grown), kinds(whole));
    }),
    { numRuns: 300 },
  );
});

test("a line that looks like the head of a table and is none stays in its paragraph, whatever follows [B1]", () => {
  const text = "Some *words*\ntext| a | b |\n| - | - |\n| 1 | [two] |\n\n[two]: https://example.com\n\n";
  for (const whole of [text, `${text}$$x^2$$\n\n`]) {
    const [paragraph, next] = blocksOf(whole);
    assert.deepEqual([paragraph?.type, next?.type], ["paragraph", "space"]);
    assert.equal(`${paragraph?.raw}${next?.raw}`, whole.slice(0, whole.indexOf("[two]:")));
    assert.match(JSON.stringify(paragraph), /"href":"https:\/\/example\.com"/);
    assert.match(JSON.stringify(paragraph), /"type":"em"/);
  }
});

test("a link that is explained at the end of a text is one when the text is finished [B1]", () => {
  const { groups } = parseWhole("See [the page][1].\n\n[1]: https://example.com\n");
  assert.match(JSON.stringify(groups), /"href":"https:\/\/example\.com"/);
});

test("maths is told from money, and what nests thousands deep is text [B1]", () => {
  const inlineOf = (text: string) => JSON.stringify(blocksOf(text));
  for (const text of ["$x^2$", "\\(x\\)", "a $$y$$ b", "$$\nz\n$$", "\\[z\\]"])
    assert.match(inlineOf(text), /"type":"math"/, text);
  for (const text of ["$5 and $6", "costs $ 5 $", "`$x$`", "\\$x\\$"])
    assert.doesNotMatch(inlineOf(text), /"type":"math"/, text);
  const deep = `${"> ".repeat(20_000)}x`;
  assert.equal(
    blocksOf(deep)
      .map(({ raw }) => raw)
      .join(""),
    deep,
  );
});
