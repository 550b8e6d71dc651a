import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { all, until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { heldTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

test("the greeting names product, conversation, log file and model; an answer streams; tools show their time [U1]", async () => {
  await using model = await modelServer([calls(["now", {}]), { ...says("It is late. Go to bed."), paceMs: 5 }]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  const greeting = await chat.waitFor("You> ");
  assert.match(greeting, /^AgentYard 0\.0\.0 · .+\nConversation: [0-9a-f-]{36}\nLog file: {5}logs\/today\.log\n/);
  assert.match(greeting, /Model: {8}test-model \(127\.0\.0\.1:\d+\)\n\/help .+\n\nYou> $/);
  chat.type(`what time is it?${keys.enter}`);
  const turn = await chat.waitFor("You> ");
  assert.match(turn, /^what time is it\?\n⚙ now \{\}\n✓ now [\d.]+ m?s\nIt is late\. Go to bed\.\n\nYou> $/);
  chat.type(`/quit${keys.enter}`);
  assert.equal(await chat.ended, 0);
});

test("the demo model is named as what it is [M5]", async () => {
  await using yard = await startYard();
  const chat = startChat({ client: yard.client, language: "zh" });
  assert.match(await chat.waitFor("You> "), /演示模型，并不是 AI；输入 \/connect 接入真正的模型/);
  chat.type(`/model${keys.enter}`);
  assert.match(await chat.waitFor("You> "), /base .*演示，不是 AI[\s\S]*MODEL_BASIC_API_KEY/);
  chat.type(keys.end);
  assert.equal(await chat.ended, 0);
});

const lines = {
  en: {
    fixed: [
      "✓ Session reset",
      "✗ Session not found: zzz\n  /sessions lists those that there are; /load takes the beginning of an id.\n",
      "✓ Loaded session: ",
      "Current session: ",
    ],
    row: /^ {2}[0-9a-f]{8} - \d{4}-\d\d-\d\d \d\d:\d\d {2}1 turn {2}hello$/m,
  },
  zh: {
    fixed: [
      "✓ 对话已重置",
      "✗ 未找到对话：zzz\n  用 /sessions 列出现有的对话；/load 后面写 id 的开头即可。\n",
      "✓ 已加载对话：",
      "当前对话：",
    ],
    row: /^ {2}[0-9a-f]{8} - \d{4}-\d\d-\d\d \d\d:\d\d {2}1 个回合 {2}hello$/m,
  },
};
for (const language of ["en", "zh"] as const) {
  test(`the commands answer with their fixed lines (${language}) [U1] [P4]`, async () => {
    await using model = await modelServer([says("Hi."), says("Again.")]);
    await using yard = await startYard({ model });
    const { fixed, row } = lines[language];
    const [reset = "", missing = "", loaded = "", current = ""] = fixed;
    const chat = startChat({ client: yard.client, language });
    const id = /[0-9a-f-]{36}/.exec(await chat.waitFor("You> "))?.[0] ?? "";
    const say = async (line: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor("\nYou> ");
    };
    await say("hello");
    assert.match(await say("/sessions"), row);
    assert.ok((await say("/load zzz")).includes(missing));
    assert.ok(!(await say("/new")).includes(id));
    chat.type(`/load ${id.slice(0, 8)}${keys.enter}`);
    await chat.waitFor(`${loaded}${id}\nYou> hello\nHi.\nYou> `);
    assert.ok((await say("/current")).includes(`${current}${id}`));
    assert.ok((await say("/reset")).includes(reset));
    await say("hello again");
    const asked = model.asked.at(-1)?.body.messages.map(({ role }) => role);
    assert.deepEqual(asked, ["system", "user"], "what was said before the reset is not sent");
    chat.type(`/exit${keys.enter}`);
    assert.equal(await chat.ended, 0);
  });
}

test("chat --continue opens the newest conversation; where there is none, the exit code is 2 [U1]", async () => {
  await using model = await modelServer([says("Hi."), says("Still here.")]);
  await using yard = await startYard({ model });
  const early = startChat({ client: yard.client, command: { going: "newest" } });
  assert.equal(await early.ended, 2);
  const { conversation } = await yard.ask("hello");
  const chat = startChat({ client: yard.client, command: { going: "newest" } });
  await chat.waitFor(`Conversation: ${conversation}`);
  await chat.waitFor("You> hello\nHi.\nYou> ");
  chat.type(`and now?${keys.enter}`);
  await chat.waitFor("Still here.");
  assert.equal(model.asked[1]?.body.messages.length, 4);
  chat.leave();
  await chat.ended;
});

test("a window that fills up is said after the turn [Z1]", async () => {
  const usage = { prompt_tokens: 104_000, completion_tokens: 10, total_tokens: 104_010 };
  await using model = await modelServer([{ ...says("Much."), usage }]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`read all${keys.enter}`);
  await chat.waitFor(/Context: 8\d % of the model's window used \(warning\)\n/);
  chat.leave();
  await chat.ended;
});

test("a mistyped command names the nearest one; a path is a message [U1]", async () => {
  await using model = await modelServer([says("A file.")]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`/sesions${keys.enter}`);
  assert.match(await chat.waitFor("You> "), /no command \/sesions \(did you mean \/sessions\?\)/);
  chat.type(`/etc/hosts is what?${keys.enter}`);
  await chat.waitFor("A file.");
  chat.leave();
  assert.equal(await chat.ended, 130);
});

test("an unknown slot is refused by name, a known one is preferred for what follows [M1] [M2]", async () => {
  await using model = await modelServer([says("Thought.")]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`/model turbo${keys.enter}`);
  assert.match(await chat.waitFor("You> "), /There is no model slot turbo\. Use one of: base, reasoning/);
  chat.type(`/model reasoning${keys.enter}`);
  await chat.waitFor("✓ Following messages prefer reasoning");
  await chat.waitFor("You> ");
  chat.type(`think${keys.enter}`);
  await chat.waitFor("Thought.");
  const { items } = await must(yard.client.call("listConversations"));
  const [message] = await yard.events(items[0]?.id ?? "");
  assert.equal(message?.type === "message.user" && message.slot, "reasoning");
  chat.leave();
  await chat.ended;
});

test("Ctrl+C and Esc stop a running turn, what is typed stays, and the next turn works [L6]", async () => {
  await using model = await modelServer([
    { text: "one two three", fault: { after: 3, kind: "stall" } },
    { text: "four five six", fault: { after: 3, kind: "stall" } },
    says("Fine."),
  ]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`count${keys.enter}`);
  await chat.waitFor("two ");
  chat.type(keys.interrupt);
  await chat.waitFor("■ Stopped");
  await chat.waitFor("You> ");
  chat.type(`again${keys.enter}`);
  await chat.waitFor("five ");
  chat.type("well?");
  chat.type(keys.escape);
  await chat.waitFor("■ Stopped");
  await chat.waitFor("You> well?");
  chat.type(keys.enter);
  await chat.waitFor("Fine.");
  chat.leave();
  await chat.ended;
});

test("at rest Ctrl+C clears the line, and a second one leaves with 130 [U1]", async () => {
  await using yard = await startYard();
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type("half a li");
  await chat.waitFor("half a li");
  chat.type(keys.interrupt);
  await chat.waitFor("(Ctrl+C again to leave)");
  await chat.waitFor(/You> $/);
  chat.type(keys.interrupt);
  assert.equal(await chat.ended, 130);
  assert.deepEqual((await must(yard.client.call("listConversations"))).items, [], "looking in leaves nothing behind");
});

test("what is typed while a turn runs is read at its next step [L7]", async () => {
  await using model = await modelServer([calls(["slow", {}]), says("In French then.")]);
  const slow = heldTool("slow");
  await using yard = await startYard({ model, tools: [slow.tool] });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`write a poem${keys.enter}`);
  await chat.waitFor("⚙ slow");
  chat.type(`in French${keys.enter}`);
  await chat.waitFor("↳ will be read at the next step");
  const [row] = (await must(yard.client.call("listConversations"))).items;
  const said = async () => all(await yard.events(row?.id ?? ""), "message.user").length;
  await until("it is stored", async () => (await said()) === 2);
  slow.release();
  await chat.waitFor("↳ read");
  await chat.waitFor("In French then.");
  assert.match(JSON.stringify(model.asked[1]?.body.messages.at(-1)), /in French/);
  chat.leave();
  await chat.ended;
});

test("what is queued waits for the next turn, is listed, and can be withdrawn [L7]", async () => {
  await using model = await modelServer([calls(["slow", {}]), says("First."), says("Second.")]);
  const slow = heldTool("slow");
  await using yard = await startYard({ model, tools: [slow.tool] });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`go${keys.enter}`);
  await chat.waitFor("⚙ slow");
  chat.type(`/queue second thing${keys.enter}`);
  await chat.waitFor("↳ waits for the end of this turn");
  chat.type(`/queue third thing${keys.enter}`);
  await chat.waitFor("↳ waits for the end of this turn");
  chat.type(`/queue${keys.enter}`);
  await chat.waitFor("  1. second thing (next turn)\n  2. third thing (next turn)\n");
  chat.type(`/unqueue 3${keys.enter}`);
  await chat.waitFor("✗ There is no entry 3. /queue lists those that there are.");
  chat.type(`/lang zh${keys.enter}/unqueue 3${keys.enter}`);
  await chat.waitFor("✗ 没有第 3 项。用 /queue 列出现有的各项。");
  chat.type(`/lang en${keys.enter}/unqueue 2${keys.enter}`);
  await chat.waitFor("✓ Withdrawn: third thing");
  slow.release();
  await chat.waitFor("First.");
  await chat.waitFor("Second.");
  await chat.waitFor("You> ");
  chat.leave();
  await chat.ended;
  assert.equal(model.asked.length, 3);
});

const unreached = {
  en: "✗ AgentYard cannot be reached: fetch failed. Check that it runs",
  zh: "✗ 连接不上 AgentYard：fetch failed。请确认它正在运行",
} as const;
const nothingWaits = { en: "Nothing waits.", zh: "没有等待的消息。" } as const;

for (const language of ["en", "zh"] as const) {
  test(`where nobody can tell what waits, /queue and /unqueue say why, and not that nothing does (${language}) [L7][P4]`, async () => {
    await using yard = await startYard();
    await yard.start("here");
    let isCut = true;
    const fetch: typeof yard.fetch = (url, init) =>
      isCut && url.endsWith("/state") ? Promise.reject(new TypeError("fetch failed")) : yard.fetch(url, init);
    const chat = startChat({ client: createClient({ fetch, language }), language });
    await chat.waitFor("You> ");
    chat.type(`/queue${keys.enter}`);
    await chat.waitFor(nothingWaits[language]);
    isCut = false;
    chat.type(`/load here${keys.enter}`);
    await chat.waitFor("here");
    await chat.waitFor("You> ");
    isCut = true;
    for (const command of ["/queue", "/unqueue", "/unqueue 1"]) {
      chat.type(command + keys.enter);
      await chat.waitFor(unreached[language]);
    }
    assert.equal(chat.text().split(nothingWaits[language]).length, 2);
    chat.leave();
    await chat.ended;
  });
}

test("an answer that breaks off is tried again on a new line, and only the second is final [M3]", async () => {
  await using model = await modelServer([
    { text: "Half an ans", fault: { after: 3, kind: "break" } },
    says("The whole answer."),
  ]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  chat.type(`hi${keys.enter}`);
  const turn = await chat.waitFor("The whole answer.\n\nYou> ");
  assert.match(turn, /^hi\n(Half an ?)?\n?! .+\n↻ Trying again \(attempt 2\)\nThe whole answer\.\n\nYou> $/);
  chat.leave();
  await chat.ended;
});

test("several lines are one message: pasted, ended by a backslash, or by Ctrl+J [U1]", async () => {
  await using model = await modelServer(() => says("Read."));
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  const said = () => model.asked.at(-1)?.body.messages.at(-1)?.content;
  await chat.waitFor("You> ");
  chat.type(`see: ${keys.paste("rm -rf /\r\nls\r\n")}`);
  await chat.waitFor("see: [paste 1: 2 lines]");
  assert.equal(model.asked.length, 0, "a pasted line break sends nothing");
  chat.type(keys.enter);
  await chat.waitFor("Read.\n\nYou> ");
  assert.match(String(said()), /^see: rm -rf \/\nls/);
  chat.type(`one\\${keys.enter}`);
  await chat.waitFor("...> ");
  chat.type(`two${keys.newline}`);
  await chat.waitFor("...> ");
  chat.type(`三${keys.enter}`);
  await chat.waitFor("Read.\n\nYou> ");
  assert.match(String(said()), /^one\ntwo\n三/);
  chat.leave();
  await chat.ended;
});

test("escape sequences of a model and of a tool's arguments do not reach the terminal [Q1]", async () => {
  await using model = await modelServer([
    calls(["now", '{"timezone":"\\u001b]0;owned\\u0007\u001b[2J"}']),
    says("\u001b[31mred\u001b[0m \u202egnp.exe\u009b2J done"),
  ]);
  await using yard = await startYard({ model });
  const chat = startChat(yard);
  await chat.waitFor("You> ");
  const before = chat.raw().length;
  chat.type(`hi${keys.enter}`);
  await chat.waitFor("done\n");
  const raw = chat.raw().slice(before);
  assert.ok(raw.includes("␛[31mred␛[0m �gnp.exe�2J done"), raw);
  assert.ok(!raw.includes("\u001b[2J") && !raw.includes("\u001b[31m") && !raw.includes("\u202e"));
  chat.leave();
  await chat.ended;
});

test("a turn that goes on after a crash is shown, and Ctrl+C stops it [L2] [L6]", async () => {
  await using model = await modelServer([{ text: "still at it", fault: { after: 3, kind: "stall" } }]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "work" } }));
  const chat = startChat({ client: yard.client, recovery: { resumed: 1, older: [] } });
  await chat.waitFor(id);
  await chat.waitFor("An interrupted turn goes on; Ctrl+C stops it.");
  await chat.waitFor("still ");
  chat.type(keys.interrupt);
  await chat.waitFor("■ Stopped");
  chat.leave();
  await chat.ended;
});

test("a turn that was interrupted long ago goes on only when the person says so [L2]", async () => {
  await using model = await modelServer([{ text: "still at it", fault: { after: 3, kind: "stall" } }]);
  await using yard = await startYard({ model });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "work" } }));
  await until("the turn has started", () => model.asked.length > 0);
  const older = [{ id, title: "work", updatedAt: Date.now() }];
  const chat = startChat({ client: yard.client, recovery: { resumed: 0, older } });
  await chat.waitFor(
    /A turn of “work” was interrupted at .+ Go on with it\?\n\[y\] go on {2}\[n\] stop it {2}\[l\] later /,
  );
  chat.type("n");
  await chat.waitFor("You> ");
  assert.equal((await yard.whenAtRest(id)).outcome, "cancelled");
  chat.leave();
  await chat.ended;
});

test("a lost connection is said once, and what was typed arrives when it is back [L7]", async () => {
  await using model = await modelServer([says("Here I am.")]);
  await using yard = await startYard({ model });
  let isCut = false;
  const fetch: typeof yard.fetch = (url, init) =>
    isCut ? Promise.reject(new TypeError("fetch failed")) : yard.fetch(url, init);
  const chat = startChat({ client: createClient({ fetch }) });
  await chat.waitFor("You> ");
  isCut = true;
  chat.type(`are you there?${keys.enter}`);
  await chat.waitFor("! Connection lost; trying again. Nothing typed is lost.");
  isCut = false;
  await chat.waitFor("Here I am.");
  assert.equal(chat.text().split("Connection lost").length, 2);
  chat.leave();
  await chat.ended;
});
