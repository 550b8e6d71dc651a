import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const summary = Array.from({ length: 7 }, (_, n) => `## ${n + 1}. Part\n- tea`).join("\n");

/** A model that answers, and sums up when it is asked to. */
const model = () =>
  modelServer(({ body }) => {
    const isSummary = String(body.messages[0]?.content).startsWith("You sum up");
    return { usage: null, ...says(isSummary ? summary : "I see.") };
  });

async function longTalk(yard: TestYard): Promise<string> {
  const { conversation } = await yard.ask("Always drink tea.");
  for (let n = 0; n < 9; n += 1) await yard.ask(`question ${n}`, { conversation });
  return conversation;
}

const texts = {
  en: {
    nothing: "Nothing to do: 0 messages",
    done: /✂ Context compacted: 20 → 11 messages, about \d+ → \d+ tokens\n {2}kept word for word: 1 instruction, 4 messages of yours/,
    undone: "✓ The older messages are sent again",
    notYet: "Nothing is left out of this conversation.",
    head: "# Conversation summary",
  },
  zh: {
    nothing: "无需压缩：共 0 条消息",
    done: /✂ 上下文已压缩：20 → 11 条消息，约 \d+ → \d+ 个 token\n {2}原文保留：1 条长期指示、4 条您的消息/,
    undone: "✓ 较早的消息将重新发送",
    notYet: "本对话没有省略任何内容。",
    head: "# Conversation summary",
  },
} as const;

for (const language of ["en", "zh"] as const) {
  test(`/compact makes room and tells what was kept, show prints it, undo sends all again (${language}) [U1][Z2][Z3]`, async () => {
    const { nothing, done, undone, notYet, head } = texts[language];
    await using server = await model();
    await using yard = await startYard({ model: server });
    const id = await longTalk(yard);
    const chat = startChat({ client: yard.client, language });
    const say = async (line: string, expected: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(expected);
    };
    await chat.waitFor("You> ");
    await say("/compact", nothing);
    await say(`/load ${id}`, "You> ");
    assert.match(await say("/compact the prices of tea", "/compact undo"), /\/compact show/);
    const [compacted] = (await yard.events(id)).filter((event) => event.type === "compacted");
    assert.deepEqual([compacted?.by, compacted?.focus], ["person", "the prices of tea"]);
    // Shown is what was told instead.
    await until("what was done is told", () => done.test(chat.text()), 20_000).catch(() =>
      assert.match(chat.text(), done),
    );
    await say("/compact show", head);
    await say("/compact undo", undone);
    await say("/compact show", notYet);
    await say("/compact undo", "✗");
    chat.leave();
    await chat.ended;
  });
}

test("a turn that makes room says so while the summary is made, and what it came to [U1][Z1]", async () => {
  await using server = await model();
  await using yard = await startYard({ model: server, env: { MODEL_BASIC_CONTEXT_WINDOW: "8192" } });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  for (let n = 0; !chat.text().includes("✂"); n += 1) {
    assert.ok(n < 60, "room is made in the end");
    chat.type(`part ${n} ${"tell me more about it ".repeat(100)}${keys.enter}`);
    await chat.waitFor("I see.");
    await chat.waitFor("You> ");
  }
  assert.match(
    chat.text(),
    /making room: older messages are being summed up …\n[\s\S]*✂ Context compacted: \d+ → \d+ messages/,
  );
  const [conversation] = (await must(yard.client.call("listConversations"))).items;
  const { tokens } = await must(yard.client.call("getState", { params: { id: conversation?.id ?? "" } }));
  assert.ok(tokens.used < tokens.window);
  chat.leave();
  await chat.ended;
});
