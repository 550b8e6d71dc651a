import assert from "node:assert/strict";
import { test } from "node:test";
import { numbered } from "../../test/world/any-log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { foldHistory } from "./history.ts";
import { readersOf } from "./reaches.ts";

type Change = EventBody<"file.changed">;

const state = (hash: string) => ({ hash, bytes: 1, mode: 0o644 });
const changed = (path: string, by: Change["by"], more: Partial<Change> = {}): NewEvent => ({
  ...{ type: "file.changed", path, by, after: state("h"), ...more },
});

test("what was done to a file of the conversation is kept by its kind and where it was done last [Z3]", () => {
  const { deeds } = foldHistory(
    numbered([
      changed("made", "tool"),
      changed("made", "tool", { before: state("g") }),
      changed("by hand", "person"),
      changed("given back", "undo"),
      changed("removed", "tool", { before: state("g"), after: undefined }),
      changed("sent", "upload"),
      changed("sent", "upload"),
      { type: "file.known", path: "sent", hash: "h" },
      // Those of tasks and of other agents, and whole folders, are none of these.
      changed("of a task", "tool", { workspace: "task" }),
      { type: "file.known", path: "seen by another", hash: "h", agent: "worker" },
      { type: "file.known", path: "seen in a task", hash: "h", workspace: "task" },
      { type: "file.changed", path: "outputs", by: "person" },
    ]),
  );
  assert.deepEqual(Object.fromEntries(deeds), {
    made: { made: 1, changed: 2 },
    "by hand": { changed: 3 },
    "given back": { changed: 4 },
    removed: { removed: 5 },
    sent: { uploaded: 7, read: 8 },
  });
});

test("what a person decided is kept with what it was about and why; what a caller's function answered is a result [Z3][H2]", () => {
  const asked = (id: string, more: Partial<EventBody<"decision.asked">>): NewEvent => ({
    ...{ type: "decision.asked", turn: 1, id, call: id, kind: "approval", tool: "pay", ...more },
  });
  const made = (id: string, more: Partial<EventBody<"decision.made">>): NewEvent => ({
    ...{ type: "decision.made", id, verdict: "approve", by: "me", argumentsHash: "", previous: "", ...more },
  });
  const { decided } = foldHistory(
    numbered([
      asked("a", { arguments: "5 euros" }),
      asked("b", { arguments: "6 euros" }),
      asked("c", { kind: "question", question: "Which?" }),
      asked("d", { kind: "function", arguments: "{}" }),
      made("a", { verdict: "reject", reason: "too much" }),
      made("b", { verdict: "edit", arguments: "4 euros" }),
      made("c", { verdict: "answer", answer: "both" }),
      made("d", { verdict: "answer", answer: "42" }),
      made("a", { verdict: "approve" }),
      made("unknown", {}),
    ]),
  );
  assert.deepEqual(decided, [
    { seq: 5, tool: "pay", verdict: "reject", about: "5 euros", word: "too much" },
    { seq: 6, tool: "pay", verdict: "edit", about: "4 euros", word: undefined },
    { seq: 7, tool: "pay", verdict: "answer", about: "Which?", word: "both" },
  ]);
});

test("only a file that the user put there is a standing instruction, and only they take it back [Z3][R1]", () => {
  const guidesAfter = (...events: readonly NewEvent[]) => [...foldHistory(numbered(events)).guides.keys()];
  for (const path of ["uploads/AGENTS.md", "uploads/temparea/claude.MD", "uploads/Agents.md"])
    assert.deepEqual(guidesAfter(changed(path, "upload")), [path]);
  for (const path of ["AGENTS.md", "uploads/a/AGENTS.md", "uploads/MY-AGENTS.md", "uploads/AGENTS.md.txt"])
    assert.deepEqual(guidesAfter(changed(path, "upload")), [], path);
  const path = "uploads/AGENTS.md";
  for (const more of [{ program: true }, { server: "crm" }, { workspace: "task" }] as const)
    assert.deepEqual(guidesAfter(changed(path, "upload", more)), [], JSON.stringify(more));
  for (const by of ["tool", "person", "undo"] as const) assert.deepEqual(guidesAfter(changed(path, by)), [], by);
  const mine = changed(path, "upload");
  const gone = { before: state("h"), after: undefined };
  for (const [event, left] of [
    [changed(path, "tool", gone), [path]],
    [changed(path, "person", { ...gone, program: true }), [path]],
    [changed(path, "person", gone), []],
    [{ type: "file.changed", path: "uploads", by: "person" }, []],
    [{ type: "file.changed", path: "upl", by: "person" }, [path]],
    [{ type: "file.changed", path: "uploads", by: "tool" }, [path]],
    // Going back leaves what a person put there.
    [{ type: "rewound", to: 0, cause: "reset" }, [path]],
  ] as const satisfies readonly (readonly [NewEvent, readonly string[]])[])
    assert.deepEqual(guidesAfter(mine, event), left, JSON.stringify(event));
});

test("an event is for its own agent; what people do to files, and who decided, is for all [A1][H2]", () => {
  const readers = (event: NewEvent) => [...readersOf(event, ["a", "b"])];
  const all = ["root", "a", "b"];
  const mailed = { type: "agent.mailed", id: "m", text: "" } as const;
  const ended = { type: "agent.ended", outcome: "done" } as const;
  const cases: readonly (readonly [NewEvent, readonly string[]])[] = [
    [{ type: "todo.set", todos: [] }, ["root"]],
    [{ type: "todo.set", todos: [], agent: "a" }, ["a"]],
    [{ type: "agent.spawned", agent: "a", id: "b", mode: "task", role: "r", brief: "" }, ["a"]],
    [{ ...mailed, to: "a" }, ["root", "a"]],
    [{ ...mailed, agent: "a", to: "b" }, ["a", "b"]],
    [{ ...mailed, agent: "a", to: "a" }, ["a"]],
    [{ ...ended, id: "a" }, ["root", "a"]],
    [{ ...ended, agent: "a", id: "b" }, ["a", "b"]],
    [{ type: "decision.made", agent: "a", id: "d", verdict: "approve", by: "", argumentsHash: "", previous: "" }, all],
    [changed("f", "upload", { agent: "a" }), all],
    [changed("f", "person"), all],
    [changed("f", "tool"), ["root"]],
    [changed("f", "tool", { agent: "a" }), ["a", "root"]],
    [changed("f", "tool", { agent: "a", workspace: "w" }), ["a"]],
    [changed("f", "undo", { agent: "a" }), ["a", "root"]],
  ];
  for (const [event, who] of cases) assert.deepEqual(readers(event), who, JSON.stringify(event));
});
