import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient } from "../../src/client/client.ts";
import { modelServer, says } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { skillFolder } from "../world/skill-folder.ts";
import { startYard } from "../world/yard.ts";

const texts = {
  en: {
    entry: "@pdf-forms  offered · user: ~/.agents/skills/pdf-forms",
    broken: "✗ SKILL.md:5: A tab stands at the beginning of the line. YAML wants blanks there.",
    inUse: "@pdf-forms  offered · user: ~/.agents/skills/pdf-forms · in use here",
    why: "Linked in turn 1: it was named in the message.",
    missing: "Did you mean pdf-forms?",
    usage: "/skills does not know “sing”.",
    unknown: "! There is no tool, skill or agent called @pdf-from; it was sent as text. Did you mean @pdf-forms?",
    broken2: "! The skill @tabs is not used (cannot be used)",
    nothing: "It names no packages that could be installed.",
  },
  zh: {
    entry: "@pdf-forms  可用 · 用户: ~/.agents/skills/pdf-forms",
    broken: "✗ SKILL.md:5: 行首有制表符。",
    inUse: "@pdf-forms  可用 · 用户: ~/.agents/skills/pdf-forms · 本对话正在使用",
    why: "在第 1 个回合链接：消息里写了它的名称。",
    missing: "是否指 pdf-forms？",
    usage: "/skills 不认识“sing”。",
    unknown: "! 没有名为 @pdf-from 的工具、技能或智能体，已按文字发送。是否指 @pdf-forms？",
    broken2: "! 没有使用技能 @tabs（无法使用）",
    nothing: "它没有可以安装的软件包。",
  },
} as const;

for (const language of ["en", "zh"] as const) {
  test(`/skills lists what was found and tells why one is used; Tab completes @names (${language}) [U1][K1][L4]`, async (t) => {
    const words = texts[language];
    const { data } = skillFolder(t, "pdf-forms", "tabs");
    await using model = await modelServer(() => says("yes, done"));
    await using yard = await startYard({ model, data });
    const chat = startChat({ client: createClient({ fetch: yard.fetch, language }), language });
    const say = async (line: string, expected: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(expected);
    };
    await chat.waitFor("You> ");
    assert.ok((await say("/skills", words.broken)).includes(words.entry));
    chat.type(`use @pdf-fo\t`);
    await chat.waitFor("use @pdf-forms");
    assert.ok((await say(" and @pdf-from and @tabs", words.broken2)).includes(words.unknown));
    await chat.waitFor("yes, done");
    await say("/skills", words.inUse);
    await say("/skills why @pdf-forms", words.why);
    await say("/skills why pdf-form", words.missing);
    await say("/skills install pdf-forms", words.nothing);
    await say("/skills sing", words.usage);
    chat.leave();
    await chat.ended;
  });
}
