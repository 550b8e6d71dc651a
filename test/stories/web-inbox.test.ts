import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { DecisionInbox } from "../../web/src/decisions/inbox.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { startYard, type TestYard } from "../world/yard.ts";

// What the browser's inbox shows when answers of the server come in another order than they were asked for.

/** A client of the browser whose lists of decisions the test lets through, in the order that it likes. */
function heldClient(yard: TestYard) {
  const held: (() => void)[] = [];
  const client = createClient({
    async fetch(url, init) {
      const answer = await yard.fetch(url, init);
      if (new URL(url).pathname.endsWith("/decisions")) await new Promise<void>((resolve) => held.push(resolve));
      return answer;
    },
    ...{ baseUrl: "http://127.0.0.1", language: "en" as const, newKey: () => crypto.randomUUID() },
  });
  return { client: () => client, held };
}

test("what was decided does not wait again when an older list is the slower answer [H4][B1]", async () => {
  await using model = await modelServer([calls(["ask_human", { question: "Which one?" }]), says("done")]);
  await using yard = await startYard({ model });
  const { status } = await yard.ask("ask me");
  assert.equal(status, "waiting");
  const { client, held } = heldClient(yard);
  const inbox = new DecisionInbox(client, () => {});
  const news: string[] = [];
  inbox.onNew(({ id }) => news.push(id));
  const waiting = () => inbox.view.get().items.length;

  const first = inbox.load();
  await until("the list has come", () => held.length === 1);
  held.shift()?.();
  await first;
  assert.equal(waiting(), 1);

  const before = inbox.load();
  await until("an older list is on its way", () => held.length === 1);
  const [decision = assert.fail("nothing waits")] = inbox.view.get().items;
  assert.equal(await inbox.decide(decision, { verdict: "answer", answer: "this one" }), undefined);
  assert.equal(waiting(), 0);
  await until("it is asked for anew", () => held.length === 2);
  held.shift()?.();
  await before;
  assert.equal(waiting(), 0);
  held.shift()?.();
  assert.deepEqual(news, []);
});
