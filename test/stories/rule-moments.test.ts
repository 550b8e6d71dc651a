import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { lastOf } from "../world/company.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

test("what somebody says in the moment in which a rule answers costs nothing: the model is not asked again, the call runs once, and the message has its turn [H2][L2][L7]", async (t) => {
  const marks = join(folderWith(t, {}), "marks");
  let speak: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isRules = batch.epoch !== undefined && batch.events.some(({ type }) => type === "decision.made");
      const said = isRules ? speak?.() : undefined;
      if (isRules) speak = undefined;
      await said;
      return storage.append(batch);
    },
  });
  await using model = await modelServer((request) => {
    const { role, text } = lastOf(request);
    return role === "user" && text.startsWith("pay") ? calls(["pay", { mark: "a" }]) : says("fine");
  });
  const tools = [effectTool("pay", "unsafe", marks, { asks: true })];
  await using yard = await startYard({ model, tools, wrapStorage });
  const { conversation: id } = await yard.ask("pay for it");
  const [open] = await waitingIn(yard, id);
  await say(yard, open, { verdict: "approve", always: { scope: "conversation" } });
  await yard.whenAtRest(id);
  const body = { text: "and this", mode: "queue" } as const;
  speak = () => must(yard.client.call("sendMessage", { params: { id }, body }));
  await yard.ask("pay for it again", { conversation: id });
  await until("all are answered", async () => all(await yard.events(id), "turn.finished").length === 3);
  const events = await yard.events(id);
  assert.deepEqual([all(events, "decision.made").map(({ by }) => by), model.asked.length], [["local", "rule"], 5]);
  assert.equal(readFileSync(marks, "utf8").trim().split("\n").length, 2);
});

test("an answer that comes in the moment in which a call looks for it is found, and the call goes on [H3][L7]", async () => {
  let answer: (() => Promise<unknown>) | undefined;
  let isAsked = false;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      isAsked ||= batch.events.some(({ type }) => type === "decision.asked");
      return stored;
    },
    async read(number, range) {
      const events = await storage.read(number, range);
      // Others read along: a stream so many at a time, and the whole log from its beginning.
      const isTheCall = isAsked && range.after > 0 && range.upTo === undefined;
      const answering = isTheCall ? answer : undefined;
      if (isTheCall) answer = undefined;
      await answering?.();
      return events;
    },
  });
  const asking = defineTool({
    ...{ name: "book", description: "Books a table.", class: "unsafe", input: z.strictObject({}) },
    async run(_, { askForm }) {
      const { action } = await askForm({ question: "For how many?", fields: [] });
      return ok({ text: action });
    },
  });
  await using model = await modelServer([calls(["book", {}]), says("booked")]);
  await using yard = await startYard({ model, tools: [asking], wrapStorage, isOneProcess: true });
  answer = async () => say(yard, (await waitingIn(yard, "c"))[0], { verdict: "answer", answer: "" });
  await yard.start("c");
  const { events } = await yard.ask("a table", { conversation: "c" });
  assert.deepEqual(
    all(events, "call.finished").map(({ text }) => text),
    ["accept"],
  );
});
