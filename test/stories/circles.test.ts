import assert from "node:assert/strict";
import { test } from "node:test";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { type Bounce, bouncingAnswer, bouncingOrder } from "../world/bouncing.ts";
import { isRoots } from "../world/company.ts";
import { all } from "../world/events.ts";
import { modelServer } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

// Agents that only write to each other are ended by a rule that nobody can switch off.

for (const [bounce, how, delivered] of [
  ["same", "the same words again and again", 5],
  ["other", "other words each time", 12],
] as const satisfies readonly [Bounce, string, number][])
  test(`two agents that write to each other without end, ${how}, are ended with what they have, and their siblings go on [A1][A4]`, async () => {
    await using model = await modelServer(bouncingAnswer(bounce));
    // Whatever is asked is approved: the rule asks nobody.
    await using yard = await startYard({ model, approves: true });
    const { answer, outcome, events } = await yard.ask(bouncingOrder);
    assert.deepEqual([answer, outcome], ["pair, quiet are done", "done"]);
    const names = new Map(all(events, "agent.spawned").map(({ id, name = "" }) => [id, name]));
    const named = (id: string | undefined) => names.get(id ?? "") ?? "root";
    const between = all(events, "agent.mailed").filter(({ agent, to }) => /p[io]ng/.test(named(agent) + named(to)));
    assert.equal(between.filter(({ kind }) => kind === undefined).length, delivered);
    assert.equal(between.filter(({ kind }) => kind === "circle").length, 1);
    const ends = Object.fromEntries(all(events, "agent.ended").map((ended) => [named(ended.id), ended]));
    assert.deepEqual(
      Object.entries(ends).map(([name, { outcome, failure }]) => `${name} ${outcome} ${failure?.code ?? ""}`.trim()),
      Object.keys(ends).map((name) => (/^p[io]ng$/.test(name) ? `${name} limit mail_in_circles` : `${name} done`)),
    );
    assert.deepEqual(
      ["ping", "pong"].map((name) => ends[name]?.result),
      ["ping came so far", "pong came so far"],
    );
    assert.equal(ends.quiet?.steps, 2, "who is no part of it does its work to the end");
    // Their parent is told why, and people read it in their language.
    const told = all(events, "agent.mailed").filter(
      ({ kind, text }) => kind === "result" && text.includes("came so far"),
    );
    assert.ok(told.length === 2 && told.every(({ text }) => text.includes("mail_in_circles")));
    const failure = ends.ping?.failure ?? assert.fail();
    assert.match(failureWords(wordsFor("en"), failure)[0], /^p[io]ng and p[io]ng only write to each other/);
    assert.match(failureWords(wordsFor("zh"), failure)[0], /^p[io]ng 和 p[io]ng 只是在互相写消息/);
  });

test("a main agent that asks the same again and again loses that agent and goes on; the second time its turn ends [A1][A4]", async () => {
  await using model = await modelServer(bouncingAnswer("root"));
  await using yard = await startYard({ model });
  const { answer, outcome, events } = await yard.ask(bouncingOrder);
  assert.deepEqual([answer, outcome], ["root came so far", "limit"]);
  const names = new Map(all(events, "agent.spawned").map(({ id, name }) => [id, name]));
  const ends = new Map(all(events, "agent.ended").map(({ id, outcome }) => [names.get(id), outcome]));
  assert.deepEqual([ends.get("ping"), ends.get("quiet"), ends.get("pong")], ["limit", "done", "limit"]);
  assert.equal(all(events, "turn.finished").findLast(isRoots)?.failure?.code, "mail_in_circles");
  assert.deepEqual(
    all(events, "call.finished").flatMap(({ agent = "root", failure }) => (failure ? [[agent, failure.code]] : [])),
    [
      ["root", "mail_in_circles"],
      ["root", "mail_in_circles"],
    ],
  );
});
