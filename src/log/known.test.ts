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
  );
  assert.deepEqual(known, {
    ":uploads/a.csv": "h1",
    ":outputs/read.md": "h3",
    "worker:outputs/read.md": "h4",
    ":outputs/written.md": "h6",
  });
});

test("after undo nobody knows what the turn wrote, and what was given back is looked at again [W12][F2]", () => {
  const known = knownAfter(
    { type: "message.user", id: "a", text: "go", mode: "queue" },
    { type: "turn.started", turn: 1, message: "a", epoch: 1 },
    changed("outputs/a.md", "tool", "h1"),
    { type: "file.known", agent: "worker", path: "outputs/a.md", hash: "h1" },
    changed("outputs/b.md", "tool", "h1"),
    { type: "turn.finished", turn: 1, outcome: "done" },
    { type: "message.user", id: "b", text: "more", mode: "queue" },
    { type: "turn.started", turn: 2, message: "b", epoch: 1 },
    changed("outputs/a.md", "tool", "h2"),
    changed("outputs/c.md", "tool", "h2"),
    { type: "turn.finished", turn: 2, outcome: "done" },
    { type: "rewound", to: 6, cause: "undo" },
    changed("outputs/a.md", "undo", "h1"),
  );
  assert.deepEqual(known, { ":outputs/b.md": "h1" });
});

function changed(path: string, by: "tool" | "upload" | "person" | "undo", hash: string): NewEvent {
  return { type: "file.changed", path, by, after: { hash, bytes: 1, mode: 0o644 } };
}

function knownAfter(...events: NewEvent[]): object {
  const numbered: LogEvent[] = events.map((event, index) => ({ ...event, seq: index + 1, at: 0 }));
  return Object.fromEntries(foldHistory(numbered).known);
}
