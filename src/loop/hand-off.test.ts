import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyHistory } from "../log/log.ts";
import type { AgentRole } from "../protocol/agent.ts";
import { agentCatalogue, handBackEvents } from "./hand-off.ts";

const role = (id: string, description: string): AgentRole => ({
  ...{ id, name: id, description, prompt: undefined, tools: undefined, slot: undefined },
});
const catalogueOf = (roles: readonly AgentRole[], isOffered: (tool: string) => boolean = () => true) =>
  agentCatalogue(emptyHistory(), { agents: () => [role("general", "The main one."), ...roles] }, isOffered);

test("an agent is told of twenty others at the most, each with a line of 160 characters, and of nobody it cannot hand over to [A3]", () => {
  const many = Array.from({ length: 21 }, (_, n) => role(`a${n}`, `Knows\n ${n}.`));
  const told: readonly string[] = catalogueOf(many)?.match(/\ba\d+\b/g) ?? [];
  assert.deepEqual([new Set(told).size, told.includes("a19"), told.includes("a20")], [20, true, false]);
  assert.match(catalogueOf(many) ?? "", /Knows 7\./);
  assert.equal(catalogueOf([role("a", "x".repeat(400))])?.match(/x{9,}/)?.[0].length, 160);
  const some = catalogueOf(many, (tool) => tool === "transfer_to_a3") ?? "";
  assert.deepEqual([...new Set(some.match(/\ba\d+\b/g))], ["a3"]);
  assert.deepEqual([catalogueOf([]), catalogueOf(many, () => false)], [undefined, undefined]);
});

test("with the end of a turn whoever was handed over to is back, the last one first, and the log says how that was [A3]", () => {
  const history = emptyHistory();
  for (const id of ["one", "two"]) history.stack.push({ id, role: id, brief: "", isActing: true });
  const ends = (["done", "limit", "failed", "crashed", "cancelled"] as const).map((outcome) =>
    handBackEvents(history, outcome).map((event) => event.type === "agent.ended" && [event.id, event.outcome]),
  );
  const both = (how: string) => [
    ["two", how],
    ["one", how],
  ];
  assert.deepEqual(ends, [both("done"), both("limit"), both("failed"), both("failed"), both("terminated")]);
  assert.deepEqual(handBackEvents(emptyHistory(), "done"), []);
});
