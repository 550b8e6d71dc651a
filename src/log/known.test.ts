import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { foldHistory } from "./history.ts";

test("an agent knows what it has read, written or got with a message, and nothing that others put there [F2]", () => {
  const attached = { path: "uploads/a.csv", name: "a.csv", type: "csv", bytes: 3 };
  const known = knownAfter(
    { type: "message.user", id: "a", text: "look", mode: "queue", files: [{ ...attached, hash: "h1" }] },
    { type: "message.user", id: "b", text: "too", mode: "queue", files: [{ ...attached, path: "b", hash: "h2" }] },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    { type: "file.known", path: "outputs/read.md", hash: "h3" },
    { type: "file.known", agent: "worker", path: "outputs/read.md", hash: "h4" },
    changed("outputs/written.md", "tool", "h5"),
    changed("outputs/written.md", "tool", "h6"),
    changed("outputs/read.md", "person", "h7"),
    changed("uploads/new.csv", "upload", "h8"),
    step(1),
  );
  assert.deepEqual(known, {
    ":uploads/a.csv": "h1 whole",
    ":outputs/read.md": "h3 whole",
    ":outputs/written.md": "h6 whole",
  });
});

test("what a result shows is known when the model has read it, with the next step, and not before [F2]", () => {
  const shown: NewEvent[] = [
    ...started,
    step(1),
    { type: "file.known", path: "read", hash: "h1" },
    { type: "file.known", path: "read and written", hash: "h1" },
    changed("read and written", "tool", "h2"),
    changed("written and read", "tool", "h2"),
    { type: "file.known", path: "written and read", hash: "h2", part: true },
  ];
  const own = { ":read and written": "h2 whole", ":written and read": "h2 whole" };
  assert.deepEqual(knownAfter(...shown), own);
  assert.deepEqual(knownAfter(...shown, { type: "turn.finished", turn: 1, outcome: "cancelled" }), own);
  assert.deepEqual(knownAfter(...shown, step(2)), { ":read": "h1 whole", ...own });
});

test("what a program did to a file is not known to who ran it, unless the program made the file [F2][X1]", () => {
  const program = (path: string, hash: string, before?: string): NewEvent => ({
    ...changed(path, "tool", hash, before),
    ...{ type: "file.changed", path, by: "tool", program: true },
  });
  const known = knownAfter(
    ...started,
    { type: "file.known", path: "read", hash: "h1" },
    { type: "file.known", path: "old", hash: "h1" },
    { type: "file.known", path: "touched", hash: "h1" },
    { type: "file.known", path: "removed", hash: "h1" },
    { type: "file.known", path: "grown", hash: "h1" },
    step(1),
    program("never seen", "h2", "h1"),
    program("made", "h1"),
    program("made and changed", "h1"),
    program("made and changed", "h2", "h1"),
    program("read", "h2", "h1"),
    program("old", "h3", "h2"),
    program("touched", "h1", "h1"),
    { type: "file.changed", path: "removed", by: "tool", program: true, before: { hash: "h1", bytes: 1, mode: 0o644 } },
    { ...program("grown", "", "h1"), after: { bytes: 9, mode: 0o644 } } as NewEvent,
    { type: "file.changed", path: "too large", by: "tool", program: true, after: { bytes: 9, mode: 0o644 } },
    step(2),
  );
  assert.deepEqual(known, {
    ":made": "h1 whole",
    ":made and changed": "h2",
    ":read": "h2",
    ":touched": "h1 whole",
    ":removed": "h1 whole",
  });
});

test("what was left out of the messages to make room is not known any more [F2][Z2]", () => {
  const events: NewEvent[] = [
    ...started,
    { type: "file.known", path: "old", hash: "h1" },
    { type: "file.known", path: "edited", hash: "h1" },
    { type: "file.known", path: "read again in part", hash: "h1" },
    step(1),
    { type: "file.known", path: "read again in part", hash: "h1", part: true },
    changed("edited", "tool", "h2", "h1"),
    { type: "file.known", path: "new", hash: "h1" },
  ];
  const compacted = { type: "compacted", turn: 1, strategy: "fallback", summary: "…", messagesBefore: 9 } as const;
  const leftOut: NewEvent = { ...compacted, upTo: started.length + 4, messagesAfter: 1 };
  const left = { ":read again in part": "h1", ":edited": "h2", ":new": "h1 whole" };
  assert.deepEqual(knownAfter(...events, leftOut, step(2)), left);
  assert.deepEqual(knownAfter(...events, step(2), leftOut), left);
  const newest = events.length;
  assert.deepEqual(knownAfter(...events, { ...leftOut, upTo: newest }, step(2)), {}, "up to the last one, it as well");
});

test("after undo nobody knows what the turn wrote, and what was known and is there again stays known [W12][F2]", () => {
  const known = knownAfter(
    ...started,
    changed("outputs/a.md", "tool", "h1"),
    { type: "file.known", agent: "worker", path: "outputs/a.md", hash: "h0" },
    changed("outputs/b.md", "tool", "h1"),
    changed("outputs/removed.md", "tool", "h1"),
    step(1),
    { type: "turn.finished", turn: 1, outcome: "done" },
    { type: "message.user", id: "b", text: "more", mode: "queue" },
    { type: "turn.started", turn: 2, message: "b", epoch: 1 },
    changed("outputs/a.md", "tool", "h2"),
    changed("outputs/c.md", "tool", "h2"),
    { type: "turn.finished", turn: 2, outcome: "done" },
    { type: "rewound", to: started.length + 6, cause: "undo" },
    changed("outputs/a.md", "undo", "h1"),
    { type: "file.changed", path: "outputs/removed.md", by: "undo" },
  );
  assert.deepEqual(known, { ":outputs/a.md": "h1 whole", ":outputs/b.md": "h1 whole" });
});

test("who writes a file anew over what others made of it knows all of it, whatever was known of it before [F2]", () => {
  const known = knownAfter(
    ...started,
    { type: "file.known", path: "a:b", hash: "h1", part: true },
    { type: "file.known", path: "built on", hash: "h1", part: true },
    step(1),
    changed("a:b", "person", "h2", "h1"),
    changed("a:b", "tool", "h3", "h2"),
    changed("built on", "tool", "h3", "h1"),
  );
  assert.deepEqual(known, { ":a:b": "h3 whole", ":built on": "h3" });
  const back = [changed("a:b", "tool", "h3"), changed("b", "tool", "h3"), changed("a:b", "undo", "h2")];
  assert.deepEqual(knownAfter(...started, ...back), { ":b": "h3 whole" }, "undo is about that file alone");
});

const started: readonly NewEvent[] = [
  { type: "message.user", id: "a", text: "go", mode: "queue" },
  { type: "turn.started", turn: 1, message: "a", epoch: 1 },
];

function step(number: number): NewEvent {
  const place = { turn: 1, step: number, attempt: 1, slot: "base", model: "m", reason: "r" } as const;
  return { type: "step.started", ...place, hash: "", bytes: 0, reused: 0 };
}

function changed(path: string, by: "tool" | "upload" | "person" | "undo", hash: string, before?: string): NewEvent {
  const state = (content: string) => ({ hash: content, bytes: 1, mode: 0o644 });
  return {
    ...{ type: "file.changed", path, by, after: state(hash) },
    ...(before === undefined ? {} : { before: state(before) }),
  };
}

function numbered(events: readonly NewEvent[]): LogEvent[] {
  return events.map((event, index) => ({ ...event, seq: index + 1, at: 0 }));
}

/** The content by agent and path, and whether all of it is known. */
function knownAfter(...events: readonly NewEvent[]): object {
  const { known } = foldHistory(numbered(events));
  const entries = [...known].map(([key, { hash, wholeSeq }]) => [key, wholeSeq === undefined ? hash : `${hash} whole`]);
  return Object.fromEntries(entries);
}
