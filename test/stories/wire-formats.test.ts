import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool, type Tool } from "../../src/tools/tools.ts";
import { say, waitingIn } from "../world/decisions.ts";
import { all, until } from "../world/events.ts";
import { calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { newConversation } from "../world/undo.ts";
import type { Answer, Seen, SeenMessage, Wire } from "../world/wire.ts";
import { wires } from "../world/wires.ts";
import { must, startYard, type TestYard, type TestYardOptions } from "../world/yard.ts";

// The same stories in every wire format. Their servers are strict: what is not sent as the vendor demands, or does not come
// back as it left, is refused, and the turn fails.

type World = { readonly model: ModelServer; readonly yard: TestYard };
type Story = (world: World, wire: Wire) => Promise<void>;

/** One test for each format, with a yard of its own and this script. */
function story(says: string, script: readonly Answer[], tells: Story, options: Omit<TestYardOptions, "model"> = {}) {
  for (const wire of wires) {
    test(`${wire.api}: ${says}`, async () => {
      await using model = await modelServer(script, wire);
      await using yard = await startYard({ model, ...options });
      await tells({ model, yard }, wire);
    });
  }
}

const thinking = (reasoning: string, answer: Answer): Answer => ({ ...answer, reasoning });
const twoCalls = calls(["now", { timezone: "UTC" }], ["todo_read", {}]);

/** What the model was told since the newest message of the user, which stands first. */
function newestTurn(seen: Seen | undefined): readonly SeenMessage[] {
  const { messages = [] } = seen ?? {};
  return messages.slice(messages.findLastIndex(({ role }) => role === "user"));
}

function sealedIn(seen: Seen | undefined): (readonly string[])[] {
  return (seen?.messages ?? []).flatMap((message) => (message.role === "assistant" ? [message.sealed] : []));
}

/** What was sealed by the server went back to it, answer by answer. Chat completions seal nothing. */
function wentBack({ wire, seen }: ModelServer, request: number, sealed: readonly (readonly string[])[]): void {
  const expected = wire.api === "chat" ? sealed.map(() => []) : sealed;
  assert.deepEqual(sealedIn(seen()[request]), expected);
}

async function isReplayedAlike(yard: TestYard, id: string): Promise<void> {
  const { steps, differences } = await must(yard.client.call("replay", { params: { id } }));
  assert.ok(steps > 0);
  assert.deepEqual(differences, []);
}

story(
  "a question gets the model's answer, its thoughts are shown, and what it cost is in the log [M6][L1]",
  [
    {
      ...{ text: "Hello to you.", reasoning: "They greet me." },
      usage: { prompt_tokens: 70, completion_tokens: 30, total_tokens: 100, cached: 50, reasoning: 20 },
    },
  ],
  async ({ model, yard }) => {
    const shown = { text: "", reasoning: "" };
    const id = await newConversation(yard);
    const stop = new AbortController();
    const watching = (async () => {
      for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal }))
        if (frame.frame === "delta") shown[frame.kind] += frame.text;
    })();
    const { answer, outcome, events } = await yard.ask("hello", { conversation: id });
    await until("all was shown", () => shown.text === answer);
    stop.abort();
    await watching;
    assert.deepEqual([answer, outcome, shown.reasoning], ["Hello to you.", "done", "They greet me."]);
    const [said] = all(events, "message.assistant");
    assert.deepEqual([said?.reasoning, said?.usageEstimated], ["They greet me.", undefined]);
    assert.deepEqual(said?.usage, { input: 70, output: 30, cachedInput: 50, reasoning: 20 });
    const [seen] = model.seen();
    assert.deepEqual(seen?.messages, [{ role: "user", text: "hello", images: 0 }]);
    assert.match(seen?.system ?? "", /<current_datetime>/);
    assert.ok(seen?.tools.includes("read_file"));
  },
);

story(
  "two calls of one answer run, their results go back in order, and so do the thoughts behind them [M6][L5]",
  [thinking("Two at once.", twoCalls), thinking("One more.", calls(["now", { timezone: "Mars/Base" }])), says("Done.")],
  async ({ model, yard }) => {
    const { conversation, answer, outcome } = await yard.ask("go");
    assert.deepEqual([answer, outcome], ["Done.", "done"]);
    const told = newestTurn(model.seen()[2]);
    assert.deepEqual(
      told.map((message) => (message.role === "assistant" ? message.calls : message.role)),
      ["user", ['now {"timezone":"UTC"}', "todo_read {}"], "tool", "tool", ['now {"timezone":"Mars/Base"}'], "tool"],
    );
    assert.match(told[2]?.text ?? "", /UTC/);
    assert.match(told[5]?.text ?? "", /timezone_unknown/);
    wentBack(model, 2, [["sealed 1: Two at once."], ["sealed 2: One more."]]);
    await isReplayedAlike(yard, conversation);
  },
);

story(
  "thoughts and text of earlier turns are told again as they were, byte for byte, also in a branch [M6][L3][L9]",
  [
    thinking("First.", { ...twoCalls, text: "I look." }),
    thinking("I know.", says("One.")),
    ...[says("Two."), says("In the branch.")],
  ],
  async ({ model, yard }) => {
    const { conversation: id } = await yard.ask("first");
    await yard.ask("second", { conversation: id });
    const branch = await must(yard.client.call("branchConversation", { params: { id }, body: {} }));
    const { answer } = await yard.ask("third", { conversation: branch.id });
    assert.equal(answer, "In the branch.");
    const requests = model.messageBytes();
    for (const [n, request] of requests.entries()) assert.ok(request.startsWith(requests[n - 1] ?? ""), `${n + 1}`);
    const texts = model.seen()[3]?.messages.flatMap((message) => (message.role === "assistant" ? [message.text] : []));
    assert.deepEqual(texts, ["I look.", "One.", "Two."]);
    wentBack(model, 3, [["sealed 1: First."], ["sealed 2: I know."], []]);
    await isReplayedAlike(yard, branch.id);
  },
);

/** A person is asked before each call. */
const pay = defineTool({
  ...{ name: "pay", description: "Pay. For tests.", input: z.object({ amount: z.number() }) },
  ask: () => ({ kind: "approval", reason: "it costs money", risk: "medium" }),
  run: async ({ amount }) => ok({ text: `paid ${amount}` }),
});

/** The yard stops in the middle, another one goes on with its data. */
function storyOfTwo(
  says: string,
  script: readonly Answer[],
  tools: readonly Tool[],
  tells: (worlds: TwoWorlds) => Promise<void>,
) {
  for (const wire of wires) {
    test(`${wire.api}: ${says}`, async () => {
      await using model = await modelServer(script, wire);
      const first = await startYard({ model, tools });
      const opened: TestYard[] = [];
      const restart = async () => {
        await first.close();
        const yard = await startYard({ model, tools, data: first.data });
        opened.push(yard);
        return yard;
      };
      try {
        await tells({ model, first, restart });
      } finally {
        await opened[0]?.[Symbol.asyncDispose]();
        await rm(first.data, { recursive: true, force: true });
      }
    });
  }
}

type TwoWorlds = { readonly model: ModelServer; readonly first: TestYard; readonly restart: () => Promise<TestYard> };

storyOfTwo(
  "a decision in the tool loop is made after a restart, and the thoughts before it go back unchanged [M6][H4][L2]",
  [thinking("I must ask.", { ...calls(["pay", { amount: 7 }], ["now", {}]), text: "May I?" }), says("Paid.")],
  [pay],
  async ({ model, first, restart }) => {
    const { conversation: id, status } = await first.ask("pay");
    assert.equal(status, "waiting");
    const yard = await restart();
    const [decision] = await waitingIn(yard, id);
    assert.deepEqual(await say(yard, decision, { verdict: "approve" }), []);
    const { answer, outcome } = await yard.whenAtRest(id);
    assert.deepEqual([answer, outcome], ["Paid.", "done"]);
    assert.deepEqual(newestTurn(model.seen()[1]).at(-2), { role: "tool", text: "paid 7" });
    wentBack(model, 1, [["sealed 1: I must ask."]]);
    await isReplayedAlike(yard, id);
  },
);

storyOfTwo(
  "a model call that the process did not live to hear is made again, with the same bytes [M6][L2][L3]",
  [thinking("Look.", twoCalls), { text: "never heard", fault: { after: 2, kind: "stall" } }, says("Here.")],
  [],
  async ({ model, first, restart }) => {
    const id = await newConversation(first);
    await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
    await until("the second answer hangs", () => model.asked.length === 2);
    const yard = await restart();
    const { answer, outcome } = await yard.whenAtRest(id);
    assert.deepEqual([answer, outcome], ["Here.", "done"]);
    const [, before, after] = model.messageBytes();
    assert.equal(after, before);
    wentBack(model, 2, [["sealed 1: Look."]]);
  },
);

story(
  "a turn is stopped in the middle of an answer: what was said stays, and the next turn works [M6][L6]",
  [
    { text: "one two three", reasoning: "count", fault: { after: 4, kind: "stall" } },
    { text: "four", reasoning: "go on" },
  ],
  async ({ model, yard }) => {
    const id = await newConversation(yard);
    let shown = "";
    const stop = new AbortController();
    const watching = (async () => {
      for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal }))
        if (frame.frame === "delta" && frame.kind === "text") shown += frame.text;
    })();
    await must(yard.client.call("sendMessage", { params: { id }, body: { text: "count", mode: "queue" } }));
    await until("two words were shown", () => shown === "one two ");
    await must(yard.client.call("cancelTurn", { params: { id } }));
    await yard.whenAtRest(id);
    stop.abort();
    await watching;
    const { answer, outcome } = await yard.ask("go on", { conversation: id });
    assert.deepEqual([answer, outcome], ["four", "done"]);
    const told = model.seen()[1]?.messages[1];
    assert.deepEqual(told, { role: "assistant", text: "one two ", calls: [], sealed: [] });
  },
);

for (const wire of wires) {
  test(`${wire.api}: a conversation that is too long for the model is summed up, and the turn goes on [M6][Z2]`, async () => {
    const summary = says(Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- all of it`).join("\n"));
    const answerTo = (seen: Seen, length: number): Answer => {
      if (seen.system.startsWith("You sum up")) return summary;
      return length > 28_000 ? { refuses: "overflow" } : says("I see.");
    };
    await using model = await modelServer(
      (request, seen) => ({ usage: null, ...answerTo(seen(), request.text.length) }),
      wire,
    );
    await using yard = await startYard({ model });
    const id = await newConversation(yard);
    const compactions = async () => all(await yard.events(id), "compacted");
    for (let n = 0; n < 30 && (await compactions()).length === 0; n += 1) {
      const { outcome } = await yard.ask(`part ${n}: ${"tell me more about it ".repeat(150)}`, { conversation: id });
      assert.equal(outcome, "done");
    }
    assert.equal((await compactions())[0]?.by, "overflow");
    assert.equal((await yard.ask("and now?", { conversation: id })).answer, "I see.");
    const told = model.seen().at(-1)?.messages ?? [];
    assert.ok(told.some(({ text }) => text.startsWith("# Conversation summary")));
  });
}

const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

story(
  "an image of the user and one that a tool found are shown to the model [M6][L5]",
  [
    says("A dot."),
    thinking("Look again.", calls(["read_file", { path: "uploads/dot.png" }], ["now", {}])),
    says("Still a dot."),
  ],
  async ({ model, yard }) => {
    const id = await newConversation(yard);
    await must(yard.client.upload(id, "dot.png", onePixel));
    const body = { text: "what is it?", mode: "queue" as const, files: ["uploads/dot.png"] };
    await must(yard.client.call("sendMessage", { params: { id }, body }));
    assert.equal((await yard.whenAtRest(id)).answer, "A dot.");
    const { answer } = await yard.ask("look again", { conversation: id });
    assert.equal(answer, "Still a dot.");
    const images = model.seen()[2]?.messages.flatMap((message) => (message.role === "user" ? [message.images] : []));
    assert.deepEqual(images, [1, 0, 1]);
  },
);

for (const [index, wire] of wires.entries()) {
  const other = wires[(index + 1) % wires.length] ?? wire;
  test(`${wire.api} → ${other.api}: a conversation goes on with a model of another format, which is told what was said and done, and nothing sealed [M6][L2]`, async () => {
    await using before = await modelServer(
      [thinking("Look.", { ...twoCalls, text: "I look." }), thinking("So.", says("One."))],
      wire,
    );
    await using after = await modelServer([thinking("Mine.", calls(["now", {}])), says("Two.")], other);
    const first = await startYard({ model: before });
    const { conversation: id } = await first.ask("first");
    await first.close();
    await using yard = await startYard({ model: after, data: first.data });
    const { answer, outcome } = await yard.ask("second", { conversation: id });
    assert.deepEqual([answer, outcome], ["Two.", "done"]);
    await rm(first.data, { recursive: true, force: true });
    const told = after.seen()[0]?.messages ?? [];
    assert.deepEqual(
      told.map((message) => (message.role === "assistant" ? message.calls.length : message.role)),
      ["user", 2, "tool", "tool", 0, "user"],
    );
    const foreign = sealedIn(after.seen()[0])
      .flat()
      .filter((seal) => seal.startsWith("sealed"));
    assert.deepEqual(foreign, []);
  });
}
