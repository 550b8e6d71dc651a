import assert from "node:assert/strict";
import { test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { forModels } from "../../src/words/words.ts";
import { all, until } from "../world/events.ts";
import { endlessClock } from "../world/manual-clock.ts";
import {
  type Answer,
  type AskedRequest,
  calls,
  modelServer,
  type Script,
  says,
  stepOf,
} from "../world/model-server.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const small = { MODEL_BASIC_CONTEXT_WINDOW: "8192" };

const order = "Always write dates as 2026-11-15, and never touch uploads/ledger.csv.";

const chatter = (n: number) => `part ${n}: ${"tell me more about it ".repeat(150)}`;

/** The seven parts, as a model that does its job writes them. */
const goodSummary = (note: string) =>
  says(Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- ${note}`).join("\n"));

const isSummaryRequest = ({ body }: AskedRequest) => String(body.messages[0]?.content).startsWith("You sum up");

/** Answers the conversation one way and requests for a summary another way. */
function twoVoices(summary: (request: AskedRequest) => Answer, talk: (request: AskedRequest) => Answer): Script {
  return (request) => ({ usage: null, ...(isSummaryRequest(request) ? summary(request) : talk(request)) });
}

/** Messages until room was made so many times. */
async function talkUntilCompacted(yard: TestYard, conversation: string, times: number): Promise<void> {
  for (let n = 0; n < 200; n += 1) {
    const { outcome, events } = await yard.ask(chatter(n), { conversation });
    assert.equal(outcome, "done");
    if (all(events, "compacted").length >= times) return;
  }
  assert.fail(`room was not made ${times} times`);
}

const sentTexts = (request: AskedRequest | undefined) =>
  (request?.body.messages ?? []).map(({ content }) => String(content));

for (const times of [3]) {
  test(`after room was made ${times} times, what the user wants for good is there byte for byte, in one summary [Z2][Z3]`, async () => {
    let made = 0;
    await using model = await modelServer(
      twoVoices(
        () => {
          made += 1;
          return goodSummary(`made ${made}`);
        },
        () => says("I see."),
      ),
    );
    await using yard = await startYard({ model, env: small });
    const { conversation } = await yard.ask(order);
    await talkUntilCompacted(yard, conversation, times);
    const sent = sentTexts(model.asked.findLast((request) => !isSummaryRequest(request)));
    const summaries = sent.filter((text) => text.startsWith("# Conversation summary"));
    const [summary = ""] = summaries;
    assert.equal(summaries.length, 1, "earlier ones are brought up to date, not piled up");
    assert.ok(summary.includes(forModels.compact.words(order)));
    assert.equal(summary.split(`- made ${made}\n`).length, 8, "the newest words of the summariser");
    assert.ok(!summary.includes(`- made ${made - 1}\n`), "and not the earlier ones");
    const asked = model.asked.filter(isSummaryRequest).at(-1);
    assert.deepEqual(asked?.body.tools ?? [], [], "the summariser has no tools");
    if (made > 1)
      assert.match(sentTexts(asked)[1] ?? "", new RegExp(`<previous_summary mark="\\w+">[^<]*made ${made - 1}\\n`));
  });
}

const failures: readonly [what: string, because: string, answer: Answer][] = [
  ["is refused by its server", "error", { status: 500, body: '{"error":{"message":"down"}}' }],
  ["calls a tool", "empty", calls(["list_files", {}])],
  ["never ends", "error", { ...goodSummary("half"), fault: { after: 3, kind: "stall" } }],
];

for (const [what, because, answer] of failures) {
  test(`a summariser that ${what} is not waited for: the latest messages stay, with what is never lost [Z2][Z3]`, async () => {
    await using model = await modelServer(
      twoVoices(
        () => answer,
        () => says("I see."),
      ),
    );
    // Only where nothing else ends it: on a busy machine the others would be ended by it as well.
    const limit = answer.fault?.kind === "stall" ? { CONTEXT_SUMMARY_TIMEOUT_SECONDS: "1" } : {};
    await using yard = await startYard({ model, env: { ...small, ...limit } });
    const { conversation } = await yard.ask(order);
    await talkUntilCompacted(yard, conversation, 1);
    const [compacted] = all(await yard.events(conversation), "compacted");
    assert.deepEqual([compacted?.strategy, compacted?.because], ["fallback", because]);
    assert.equal(model.asked.filter(isSummaryRequest).length, 1, "it is asked once");
    const sent = sentTexts(model.asked.at(-1));
    assert.ok(sent.some((text) => text.includes(forModels.compact.words(order))));
  });
}

test("a provider that refuses what should have fitted: room is made, its window is taken for smaller, and the turn goes on [Z2][M3]", async () => {
  await using model = await modelServer(
    twoVoices(
      () => goodSummary("x"),
      (request) => (request.text.length > 28_000 ? overflow : says("I see.")),
    ),
  );
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask(order);
  await talkUntilCompacted(yard, conversation, 1);
  const events = await yard.events(conversation);
  const [compacted] = all(events, "compacted");
  assert.equal(compacted?.by, "overflow");
  const { tokens } = await must(yard.client.call("getState", { params: { id: conversation } }));
  assert.equal(tokens.window, compacted.window?.tokens);
  assert.ok(tokens.window < 8_000, `${tokens.window} tokens`);
  assert.equal(all(events, "step.failed").length, 1);
});

test("a provider that refuses whatever is sent: after two tries it is said, and the next message is tried anew [Z2]", async () => {
  let isBroken = true;
  await using model = await modelServer(
    twoVoices(
      () => goodSummary("x"),
      () => (isBroken ? overflow : says("I see.")),
    ),
  );
  await using yard = await startYard({ model });
  const { conversation, outcome, events } = await yard.ask(chatter(1).repeat(8));
  assert.equal(outcome, "failed");
  assert.equal(all(events, "turn.finished")[0]?.failure?.code, "context_exhausted");
  assert.ok(all(events, "compacted").length <= 2);
  isBroken = false;
  const next = await yard.ask("short", { conversation });
  assert.deepEqual([next.outcome, next.answer], ["done", "I see."]);
});

test("a window that the prompt alone fills is said to be too small, with what to do [Z2]", async () => {
  await using model = await modelServer(() => says("never asked"));
  await using yard = await startYard({ model, env: { MODEL_BASIC_CONTEXT_WINDOW: "1000" } });
  const { outcome, events } = await yard.ask("hello");
  const { code, params } = all(events, "turn.finished")[0]?.failure ?? {};
  assert.deepEqual([outcome, code, params?.window], ["failed", "context_exhausted", 1_000]);
  assert.equal(model.asked.length, 0);
});

test("a message longer than the whole window is read in part, and the conversation goes on [Z2][Z3]", async () => {
  await using model = await modelServer(
    twoVoices(
      () => goodSummary("x"),
      () => says("I see."),
    ),
  );
  await using yard = await startYard({ model, env: { MODEL_BASIC_CONTEXT_WINDOW: "4096" } });
  const first = await yard.ask(`Read this. ${"word ".repeat(20_000)} The end.`);
  assert.equal(first.outcome, "done");
  const sent = sentTexts(model.asked.at(-1)).at(-1) ?? "";
  assert.match(sent, /^Read this\. word [^[]*\[\.\.\. shortened to make room[^\]]*\]\n[^[]*The end\.$/);
  const { outcome } = await yard.ask("and now?", { conversation: first.conversation });
  assert.equal(outcome, "done");
});

test("the agent's own tool makes room in the middle of its turn, and reads what came of it [Z1][Z2]", async () => {
  await using model = await modelServer(
    twoVoices(
      () => goodSummary("the tool's"),
      (request) => {
        const isAsked = sentTexts(request).at(-1)?.startsWith("make room") === true;
        return isAsked && stepOf(request) === 0 ? calls(["compact_context", { strategy: "compact" }]) : says("I see.");
      },
    ),
  );
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask(order);
  for (let n = 0; n < 10; n += 1) await yard.ask(chatter(n), { conversation });
  const { outcome, events } = await yard.ask("make room", { conversation });
  assert.equal(outcome, "done");
  const [compacted] = all(events, "compacted");
  assert.deepEqual([compacted?.by, compacted?.strategy], ["tool", "compact"]);
  assert.match(
    all(events, "call.finished")[0]?.text ?? "",
    /^Room was made \(compact\): 24 messages, about \d+ tokens before; 1\d messages/,
  );
  const roles = model.asked
    .at(-1)
    ?.body.messages.slice(-2)
    .map(({ role }) => role);
  assert.deepEqual(roles, ["assistant", "tool"], "its own call and result stay");
  const { differences } = await replayed(yard, conversation);
  assert.deepEqual(differences, []);
});

test("where making room is switched off, the tool and the door say so [Z2]", async () => {
  await using model = await modelServer([calls(["compact_context", {}]), says("well then")]);
  await using yard = await startYard({ model, env: { CONTEXT_MANAGEMENT_ENABLED: "false" } });
  const { conversation: id, events } = await yard.ask("make room");
  assert.match(all(events, "call.finished")[0]?.text ?? "", /^Error: compaction_off: Making room is switched off\./);
  const asked = await yard.client.call("compactConversation", { params: { id }, body: {} });
  assert.equal(!asked.ok && asked.failure.code, "compaction_off");
});

test("a person makes room with a focus, and undoes that: everything is sent again [Z2][Z3]", async () => {
  await using model = await modelServer(
    twoVoices(
      () => goodSummary("a person's"),
      () => says("I see."),
    ),
  );
  await using yard = await startYard({ model });
  const { conversation: id } = await yard.ask(order);
  const short = await must(yard.client.call("compactConversation", { params: { id }, body: {} }));
  assert.equal(short.seq, null, "there is nothing to do yet");
  for (let n = 0; n < 10; n += 1) await yard.ask(chatter(n), { conversation: id });
  const before = model.messageBytes().at(-1) ?? "";
  const body = { focus: "the tea prices" };
  const report = await must(yard.client.call("compactConversation", { params: { id }, body }));
  assert.deepEqual([report.strategy, report.messagesBefore, report.messagesAfter], ["compact", 22, 11]);
  assert.ok(report.tokensAfter < report.tokensBefore);
  assert.match(sentTexts(model.asked.at(-1))[1] ?? "", /Tell most about this: the tea prices/);
  await yard.ask("and now?", { conversation: id });
  assert.ok(!model.messageBytes().at(-1)?.startsWith(before));
  await must(yard.client.call("undoCompaction", { params: { id } }));
  await yard.ask("and now again?", { conversation: id });
  assert.ok(model.messageBytes().at(-1)?.startsWith(before), "byte for byte as before");
  const again = await yard.client.call("undoCompaction", { params: { id } });
  assert.equal(!again.ok && again.failure.code, "compaction_not_found");
  assert.deepEqual((await replayed(yard, id)).differences, []);
});

test("stopping ends a summary at once, and nothing was left out [Z2][L6]", async () => {
  await using model = await modelServer(
    twoVoices(
      () => ({ ...goodSummary("x"), fault: { after: 2, kind: "stall" } }),
      () => says("I see."),
    ),
  );
  await using yard = await startYard({ model, env: small, clock: endlessClock });
  const { conversation: id } = await yard.ask(order);
  for (let n = 0; !model.asked.some(isSummaryRequest); n += 1) {
    const asked = model.asked.length;
    await must(yard.client.call("sendMessage", { params: { id }, body: { text: chatter(n), mode: "queue" } }));
    await until("the model is asked again", () => model.asked.length > asked);
    if (!model.asked.some(isSummaryRequest)) await yard.whenAtRest(id);
  }
  await must(yard.client.call("cancelTurn", { params: { id } }));
  const { outcome, events } = await yard.whenAtRest(id);
  assert.deepEqual([outcome, all(events, "compacted").length], ["cancelled", 0]);
});

test("a process that ends in the middle of a summary: the next one makes it, once [Z2][L2]", async () => {
  let isSlow = true;
  await using model = await modelServer(
    twoVoices(
      () => (isSlow ? { ...goodSummary("x"), fault: { after: 2, kind: "stall" } } : goodSummary("y")),
      () => says("I see."),
    ),
  );
  const first = await startYard({ model, env: small });
  const { data } = first;
  const { conversation: id } = await first.ask(order);
  for (let n = 0; !model.asked.some(isSummaryRequest); n += 1) {
    const asked = model.asked.length;
    await must(first.client.call("sendMessage", { params: { id }, body: { text: chatter(n), mode: "queue" } }));
    await until("the model is asked again", () => model.asked.length > asked);
    if (!model.asked.some(isSummaryRequest)) await first.whenAtRest(id);
  }
  await first.close();
  isSlow = false;
  await using second = await startYard({ model, env: small, data });
  const { outcome, events } = await second.whenAtRest(id);
  assert.equal(outcome, "done");
  assert.deepEqual(
    all(events, "compacted").map(({ strategy }) => strategy),
    ["compact"],
  );
  assert.deepEqual((await replayed(second, id)).differences, []);
});

const overflow: Answer = {
  status: 400,
  body: '{"error":{"message":"This model\'s maximum context length is 7000 tokens.","code":"context_length_exceeded"}}',
};

async function replayed(yard: TestYard, id: string) {
  const found = await yard.log.find(localOwner, id);
  assert.ok(found.ok);
  return yard.engine.replay(found.value);
}
