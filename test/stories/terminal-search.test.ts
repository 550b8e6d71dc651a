import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createClient, type Fetch } from "../../src/client/client.ts";
import { modelServer, says } from "../world/model-server.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard } from "../world/yard.ts";

const texts = {
  en: {
    noSearch: "✗ There is nothing to open: /search comes first.",
    what: "✗ What for? /search WORDS",
    option: "✗ /search has no option --mail. Use --files or --messages",
    nothing: "Nothing was found. Try other words",
    missing: "! nowhere: zeppelin",
    found: "3 found · /open N opens one",
    two: "2 found · /open N opens one",
    one: "1 found · /open N opens one",
    page: "uploads/manual.pdf · page 1",
    repaired: "“walris” is nowhere: “walrus” was looked for",
    you: "you · 20",
    noSuch: "✗ There is no hit 9; the last search has 1 to 1.",
    line: "uploads/notes.txt · lines 1–3",
    readOn: "To read on: ask the agent about uploads/notes.txt",
    unread: "! uploads/large.txt was not searched (document_too_large): docs/api/failures.md says what to do about it",
  },
  zh: {
    noSearch: "✗ 没有可打开的结果：请先用 /search 搜索。",
    what: "✗ 要找什么？/search 词语",
    option: "✗ /search 没有选项 --mail。请用 --files 或 --messages",
    nothing: "没有找到。请换别的词语",
    missing: "! 没有出现：zeppelin",
    found: "找到 3 处 · 用 /open N 打开一处",
    two: "找到 2 处 · 用 /open N 打开一处",
    one: "找到 1 处 · 用 /open N 打开一处",
    page: "uploads/manual.pdf · 第 1 页",
    repaired: "“walris”没有出现，改为查找“walrus”",
    you: "您 · 20",
    noSuch: "✗ 没有第 9 处；上次搜索有 1 到 1。",
    line: "uploads/notes.txt · 第 1–3 行",
    readOn: "想继续看：请向智能体询问 uploads/notes.txt",
    unread: "! 没有搜索 uploads/large.txt（document_too_large）：处理方法见 docs/api/failures.md",
  },
} as const;

const manual = pdf([{ content: printed(paragraph(700, ["A walrus needs a filter."])) }]);

for (const language of ["en", "zh"] as const) {
  test(`/search finds files and messages of all conversations, and /open goes there (${language}) [U1][D3]`, async () => {
    const words = texts[language];
    await using model = await modelServer(() => says("It swims."));
    await using yard = await startYard({ model });
    const { client } = yard;
    const { conversation } = await yard.ask("Where is the walrus\nof the north?");
    await yard.start("papers");
    await must(client.upload("papers", "manual.pdf", manual));
    await must(client.upload("papers", "notes.txt", Buffer.from("first\n\u001b[31mred walrus\nlast")));
    const chat = startChat({ client, language });
    const say = async (line: string, expected: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(expected);
    };
    await chat.waitFor("You> ");
    await say("/open 1", words.noSearch);
    await say("/search", words.what);
    await say("/search --mail walrus", words.option);
    await say("/search zeppelin", words.nothing);
    await chat.waitFor(words.missing);
    await say("/search walrus", words.found);
    assert.ok((await say("/search --files walrus", words.two)).includes(words.page));
    await say("/search --messages walris", words.one);
    await chat.waitFor(words.repaired);
    await say("/open 9", words.noSuch);
    await say("/open 1", words.you);
    await chat.waitFor("of the north?");
    await say("/current", conversation);
    await say("/search --files first last red", words.one);
    const opened = await say("/open 1", words.readOn);
    assert.ok(opened.includes(words.line) && opened.includes("␛[31mred walrus"), opened);
    await say("/current", "papers");
    await must(client.upload("papers", "large.txt", Buffer.from("x".repeat(6_000_000))));
    await say("/search --files walrus", words.unread);
    chat.leave();
    await chat.ended;
  });
}

const gone = { en: "✗ It is no longer there: search again.", zh: "✗ 它已经不在了：请重新搜索。" } as const;
const away = {
  en: "✗ AgentYard cannot be reached: fetch failed. Check that it runs",
  zh: "✗ 连接不上 AgentYard：fetch failed。请确认它正在运行",
} as const;

for (const language of ["en", "zh"] as const) {
  test(`/open N says that a file is gone only where it is; otherwise why it could not be read (${language}) [U1][P4]`, async () => {
    await using yard = await startYard();
    await yard.start("papers");
    await must(yard.client.upload("papers", "notes.txt", Buffer.from("a red walrus")));
    let isCut = false;
    const fetch: Fetch = (url, init) =>
      isCut && url.includes("/files/content") ? Promise.reject(new TypeError("fetch failed")) : yard.fetch(url, init);
    const chat = startChat({
      client: createClient({ fetch, language }),
      language,
      command: { going: { id: "papers" } },
    });
    const say = async (line: string, expected: string) => {
      chat.type(line + keys.enter);
      return chat.waitFor(expected);
    };
    await chat.waitFor("You> ");
    await say("/search --files walrus", texts[language].one);
    isCut = true;
    await say("/open 1", away[language]);
    isCut = false;
    await say("/open 1", texts[language].readOn);
    await rm(join(yard.data, "workspace", "papers", "uploads", "notes.txt"));
    await say("/open 1", gone[language]);
    assert.equal(chat.text().split(gone[language]).length, 2);
    chat.leave();
    await chat.ended;
  });
}
