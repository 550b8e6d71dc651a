import assert from "node:assert/strict";
import { test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** The model searches for what the message says after "find", and answers everything else with a yes. */
const seeker = (request: AskedRequest) => {
  const said = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
  const query = /^find (.*)$/m.exec(said)?.[1];
  return query === undefined || stepOf(request) > 0 ? says("Yes, noted.") : calls(["search_history", { query }]);
};

async function find(yard: TestYard, query: string, conversation?: string): Promise<string> {
  const { events } = await yard.ask(`find ${query}`, conversation === undefined ? {} : { conversation });
  return all(events, "call.finished").at(-1)?.text ?? "";
}

test("what was said earlier is found with its date and who said it, marked as data [Z3][R1]", async () => {
  await using model = await modelServer(seeker);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask(
    "line one\nline two\nThe Budget is 4,200 euros for MAY\nline four\nline five\nline six",
  );
  const result = await find(yard, "budget may", conversation);
  const day = new Date().toISOString().slice(0, 10);
  assert.match(result, /^\d match(es)?, newest first; shown: \d\n<data source="search_history" mark="\w+">\n/);
  const plain = withoutMarks(result);
  assert.ok(
    plain.includes(`--- this conversation, ${day}`) &&
      plain.endsWith(", the user:\nline one\nline two\nThe Budget is 4,200 euros for MAY\nline four\nline five"),
    plain,
  );
});

test("what was left out to make room is found, also in Chinese and by phrases; what was taken back is not [Z3]", async () => {
  await using model = await modelServer(seeker);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("我们的预算是四千二百欧元，五月之前用完。");
  for (let n = 0; n < 12; n += 1) await yard.ask(`next ${n}`, { conversation });
  const report = await must(
    yard.client.call("compactConversation", { params: { id: conversation }, body: { strategy: "auto" } }),
  );
  assert.ok(report.seq === null || report.messagesAfter < report.messagesBefore);
  assert.match(await find(yard, "预算", conversation), /the user:\n我们的预算是四千二百欧元/);
  assert.match(await find(yard, '"next 3"', conversation), /the user:\nnext 3\n/);
  await yard.ask("the secret plan is a zeppelin", { conversation });
  await must(yard.client.call("undoTurn", { params: { id: conversation } }));
  assert.match(await find(yard, "a zeppelin", conversation), /^1 match|^2 matches/);
  assert.doesNotMatch(await find(yard, "secret plan", conversation), /secret plan is/);
});

test("the user's other conversations are searched, the newest first, and nobody else's [Z3][Q1]", async () => {
  await using model = await modelServer(seeker);
  await using yard = await startYard({ model });
  const older = await yard.ask("The walrus came first.");
  const newer = await yard.ask("The walrus came second.");
  await must(yard.client.call("changeConversation", { params: { id: newer.conversation }, body: { title: "Zoo" } }));
  const other = OwnerId.parse("somebody");
  const theirs = await must(yard.engine.create(other, { id: systemIds.uuid() }));
  await must(
    yard.log.append(theirs.number, [{ type: "message.user", id: "m", text: "A walrus of mine.", mode: "queue" }]),
  );
  const plain = withoutMarks(await find(yard, "walrus came"));
  const places = [`conversation ${newer.conversation} (Zoo)`, `conversation ${older.conversation} (`].map((place) =>
    plain.indexOf(place),
  );
  assert.ok(places.every((place) => place > 0) && (places[0] ?? 0) < (places[1] ?? 0), plain);
  assert.doesNotMatch(withoutMarks(await find(yard, "walrus")), /of mine/);
});

test("where nothing is found the words that were tried are told [Z3][R1]", async () => {
  await using model = await modelServer(seeker);
  await using yard = await startYard({ model });
  // The question itself stands in the log: it is asked in other words than it looks for.
  model.answerWith([calls(["search_history", { query: 'quokka "two words"', max_results: 50 }]), says("no")]);
  const { events } = await yard.ask("hello");
  assert.equal(
    all(events, "call.finished")[0]?.text,
    'Nothing was said with "quokka" and "two words", in 1 conversation. Call search_history again with fewer or other words.',
  );
  assert.equal(all(events, "call.finished")[0]?.untrusted, undefined);
});
