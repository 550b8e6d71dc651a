import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, NewEvent } from "../protocol/events.ts";
import { wordsFor } from "../words/words.ts";
import { AgentLines } from "./agent-lines.ts";
import { styleFor } from "./style.ts";

test("what each agent does stands in lines with its name before them, and nothing of it acts on the terminal [U1][A1][A2]", () => {
  const lines = new AgentLines({ words: wordsFor("en"), style: styleFor({ color: false }) });
  let seq = 0;
  const show = (event: NewEvent) => lines.linesOf({ ...event, seq: ++seq, at: 0 } as LogEvent);
  const spawned = { type: "agent.spawned", mode: "task", role: "painter", brief: "paint\nit" } as const;
  assert.deepEqual(show({ ...spawned, id: "task-1", name: "painter" }), ["[painter] begins: paint it"]);
  assert.deepEqual(
    show({ ...spawned, agent: "task-1", id: "worker-2", mode: "worker", context: "subagent-1a2b3c4d" }),
    ["[subagent-1a2b3c4d] begins: paint it"],
  );
  const said = {
    type: "message.assistant",
    turn: 1,
    step: 1,
    finish: "stop",
    usage: { input: 1, output: 1 },
    durationMs: 1,
  } as const;
  assert.deepEqual(
    show({
      ...said,
      agent: "task-1",
      text: "one\n\n\u001B]0;evil\u0007two",
      calls: [{ id: "1", name: "now", arguments: "{}" }],
    }),
    ["[painter] one", "[painter] ␛]0;evil␇two", "[painter] ⚙ now {}"],
  );
  const long = Array.from({ length: 20 }, (_, line) => `line ${line}`).join("\n");
  assert.deepEqual(show({ ...said, agent: "worker-2", text: long })?.slice(-2), [
    "[subagent-1a2b3c4d] line 11",
    "[subagent-1a2b3c4d] …",
  ]);
  assert.deepEqual(show({ type: "agent.mailed", to: "task-1", id: "m", text: "blue\u001B[2J" }), [
    "[root] → painter: blue␛[2J",
  ]);
  assert.deepEqual(
    show({ type: "agent.mailed", agent: "task-1", to: "root", id: "m", text: "done", kind: "result" }),
    [],
  );
  const failure = { code: "mail_in_circles", params: { from: "a", to: "b", because: "same_mail", times: 3 } };
  assert.deepEqual(show({ type: "agent.ended", agent: "task-1", id: "worker-2", outcome: "done", steps: 3 }), [
    "[subagent-1a2b3c4d] ✓ done · 3 steps",
  ]);
  assert.match(
    show({ type: "agent.ended", id: "task-1", outcome: "limit", steps: 1, failure, folder: "outputs/painter" })?.[0] ??
      "",
    /^\[painter\] ✗ .* 1 step: a and b only write to each other.* → outputs\/painter\/$/,
  );
});

test("an agent that was made before the conversation was opened here goes by its name [U1][A1]", () => {
  const lines = new AgentLines({ words: wordsFor("en"), style: styleFor({ color: false }) });
  const made = { type: "agent.spawned", id: "task-1", mode: "task", role: "painter", name: "painter", brief: "x" };
  lines.learn({ ...made, seq: 1, at: 0 } as LogEvent);
  const ended = { type: "agent.ended", id: "task-1", outcome: "done", steps: 2, seq: 2, at: 0 };
  assert.deepEqual(lines.linesOf(ended as LogEvent), ["[painter] ✓ done · 2 steps"]);
});

test("a hand-off of the main agent is its own; that of another agent stands with that agent's name [U1][A3]", () => {
  const lines = new AgentLines({ words: wordsFor("en"), style: styleFor({ color: false }) });
  const show = (event: NewEvent) => lines.linesOf({ ...event, seq: 1, at: 0 } as LogEvent);
  const handed = { type: "agent.spawned", id: "handoff-1", mode: "handoff", role: "a", name: "A", brief: "x" } as const;
  assert.equal(show(handed), undefined);
  assert.equal(show({ type: "agent.ended", id: "handoff-1", outcome: "done" }), undefined);
  show({ type: "agent.spawned", id: "task-1", mode: "task", role: "painter", name: "painter", brief: "x" });
  assert.deepEqual(
    show({ ...handed, agent: "task-1" })?.map((line) => line.startsWith("[painter] ")),
    [true],
  );
  assert.deepEqual(show({ type: "agent.ended", agent: "task-1", id: "handoff-1", outcome: "done" }), []);
  assert.equal(show({ type: "turn.recovered", turn: 1, epoch: 2 }), undefined, "the main agent's own");
});
