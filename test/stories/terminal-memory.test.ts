import assert from "node:assert/strict";
import { test } from "node:test";
import { modelServer, says } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard } from "../world/yard.ts";

const texts = {
  en: {
    none: "Nothing is remembered.",
    added: "✓ Remembered (1 in all)",
    hint: "/memory edit N TEXT · /memory forget N",
    you: "1. Likes tea.  (you, ",
    changed: "✓ Memory 1 is changed",
    forgotten: "✓ Forgotten: Likes coffee.",
    secret: ".env",
    which: "✗ Which one? /memory forget and a number",
    usage: "✗ /memory cannot do “sing”",
    inForce: "§ uploads/AGENTS.md is in force as standing instructions",
    noLonger: "§ Standing instructions are no longer in force",
  },
  zh: {
    none: "还没有记住任何事。",
    added: "✓ 已记住（共 1 条）",
    hint: "/memory edit N 内容 · /memory forget N",
    you: "1. Likes tea.  （您，",
    changed: "✓ 第 1 条已修改",
    forgotten: "✓ 已忘记：Likes coffee.",
    secret: ".env",
    which: "✗ 哪一条？请写 /memory forget 加编号",
    usage: "✗ /memory 不能“sing”",
    inForce: "§ uploads/AGENTS.md 作为长期指示生效",
    noLonger: "§ 长期指示不再生效",
  },
} as const;

for (const language of ["en", "zh"] as const) {
  test(`/memory lists what agents are told, and adds, changes and forgets memories (${language}) [U1][Z4]`, async () => {
    const words = texts[language];
    await using model = await modelServer(() => says("yes"));
    await using yard = await startYard({ model });
    const chat = startChat({ client: yard.client, language });
    const say = async (line: string, expected: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(expected);
    };
    await chat.waitFor("You> ");
    await say("/memory", words.none);
    await say("/memory add Likes tea.", words.added);
    assert.ok((await say("/memory", words.hint)).includes(words.you));
    await say("/memory edit 1 Likes coffee.", words.changed);
    await say("/memory forget 2", words.which);
    await say("/memory forget 1", words.forgotten);
    await say("/memory add password=hunter2hunter2", words.secret);
    await say("/memory sing", words.usage);
    assert.deepEqual((await must(yard.client.call("listMemory"))).items, []);
    chat.leave();
    await chat.ended;
  });

  test(`the user is told once that a file of theirs is in force, and when it no longer is (${language}) [U1][Z3]`, async () => {
    const words = texts[language];
    await using model = await modelServer(() => says("yes"));
    await using yard = await startYard({ model });
    const { conversation: id } = await yard.ask("hello");
    const chat = startChat({ client: yard.client, language });
    const say = async (line: string, expected: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(expected);
    };
    await chat.waitFor("You> ");
    await say(`/load ${id}`, "You> ");
    await must(yard.client.upload(id, "AGENTS.md", Buffer.from("Answer in verse.")));
    await say("one", words.inForce);
    await yard.whenAtRest(id);
    await yard.ask("two", { conversation: id });
    await must(yard.client.call("removeFile", { params: { id }, query: { path: "uploads/AGENTS.md" } }));
    await say("three", words.noLonger);
    assert.equal(chat.text().split(words.inForce).length, 2, "once");
    chat.leave();
    await chat.ended;
  });
}
