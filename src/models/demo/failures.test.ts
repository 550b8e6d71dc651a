import assert from "node:assert/strict";
import { test } from "node:test";
import { failedResult, startDemoTalk, type TalkFiles, type TalkOptions } from "../../../test/world/demo-talk.ts";
import { systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { makeFailure } from "../../protocol/failure.ts";
import { forModels } from "../../words/words.ts";
import { replyTo } from "./reply.ts";
import type { ChatRequest } from "./wire.ts";

const reply = (chat: ChatRequest) => replyTo(chat, { clock: systemClock, ids: systemIds, findServers: async () => [] });
const startTalk = (present: TalkFiles, options?: TalkOptions) => startDemoTalk(reply, present, options);

const files = { "uploads/a.txt": "red\n" };
const path = "uploads/a.txt";
const missing = failedResult(makeFailure("file_not_found", { path, near: "outputs/a.txt, outputs/b.txt" }));
const setting = "AGENTYARD_SETTING";

const cases: [result: string, prompt: "read" | "write" | "change", english: string, chinese: string][] = [
  [
    missing,
    "read",
    "There is no file `uploads/a.txt`; did you mean outputs/a.txt, outputs/b.txt?",
    "没有找到文件 `uploads/a.txt`，您要找的是不是 outputs/a.txt, outputs/b.txt？",
  ],
  [
    failedResult(makeFailure("file_not_found", { path, near: "" })),
    "read",
    "There is no file `uploads/a.txt`; “list my files” shows what is there, and `#` before a name sends one of yours along.",
    "没有找到文件 `uploads/a.txt`；说“列出文件”可以看到现有的文件，在名字前加 `#` 可以把您的文件一起发来。",
  ],
  [
    failedResult(makeFailure("path_traversal_blocked", { path })),
    "read",
    "`uploads/a.txt` is not one of the files of this conversation, and I reach no others; `#` before a name sends one of yours along.",
    "`uploads/a.txt` 不在这个对话的文件里，别处的文件我够不到；在名字前加 `#` 可以把您的文件一起发来。",
  ],
  [
    failedResult(makeFailure("permission_denied", { path, folder: "", why: "link" })),
    "read",
    "I am not allowed to use `uploads/a.txt`: it is protected, a link, or no ordinary file.",
    "我不能使用 `uploads/a.txt`：它受保护，或者是链接，或者不是普通文件。",
  ],
  [
    failedResult(makeFailure("not_a_file", { path })),
    "read",
    "`uploads/a.txt` is not a file; name one that lies in it.",
    "`uploads/a.txt` 不是文件，请说出其中一个文件的名字。",
  ],
  [
    failedResult(makeFailure("unsupported_type", { path, type: "unknown", allowed: "text", setting })),
    "read",
    "`uploads/a.txt` is of a kind that I can neither read nor change; a text or a table would do.",
    "`uploads/a.txt` 这类文件我既不能读也不能改，请换成文本或表格。",
  ],
  [
    failedResult(makeFailure("too_large", { path, sizeBytes: 9, limitBytes: 8, setting })),
    "read",
    "`uploads/a.txt` is too large for that; a smaller file would do.",
    "`uploads/a.txt` 太大了，请换成小一些的文件。",
  ],
  [
    `${forModels.files.notFound(path)} ${forModels.files.nothingNear(path)}`,
    "change",
    "“red” does not stand in `uploads/a.txt`, so I changed nothing.",
    "`uploads/a.txt` 里没有“red”，所以什么都没有改。",
  ],
  [
    `${forModels.files.unseen(path, "write_file")}\n=== ${path} ===\nred`,
    "change",
    "`uploads/a.txt` has content that I have not seen, so I left it as it is; let me read it first, then ask again.",
    "`uploads/a.txt` 里有我还没看过的内容，所以我没有动它；请先让我读一遍，再试一次。",
  ],
  [
    failedResult(makeFailure("quota_exceeded", { path, what: "bytes", limit: 9, setting })),
    "write",
    "There is no room left for `outputs/a.txt`; delete files that are no longer needed, then ask again.",
    "放不下 `outputs/a.txt` 了；请删除不再需要的文件，再试一次。",
  ],
  [
    failedResult(makeFailure("read_failed", { path, why: "io" })),
    "read",
    "`read_file` did not work (read_failed).",
    "`read_file` 没有成功（read_failed）。",
  ],
];

const prompts = {
  read: { tool: "read_file", english: "read uploads/a.txt", chinese: "读取 uploads/a.txt" },
  write: { tool: "write_file", english: "write hello to a.txt", chinese: "把你好保存到 a.txt" },
  change: {
    tool: "edit_file",
    english: "change red to blue in uploads/a.txt",
    chinese: "把 uploads/a.txt 里的 red 改成蓝色的车",
  },
};

for (const [result, kind, english, chinese] of cases) {
  test(`a failed call is told in one sentence: ${english} [M5][W7]`, async () => {
    const { tool, ...prompt } = prompts[kind];
    const talk = startTalk(files, { results: { [tool]: result } });
    assert.equal((await talk.say(prompt.english)).text.split("\n\n").at(-1), english);
    assert.equal((await talk.say(prompt.chinese)).text, chinese);
  });
}

test("a place that cannot be written is told with those that can [M5][W6]", async () => {
  const refusal = failedResult(
    makeFailure("permission_denied", { path: "skills/a.txt", folder: "skills", why: "not_writable" }),
  );
  const talk = startTalk(files, { results: { write_file: refusal } });
  assert.match(
    (await talk.say("write hello to skills/a.txt")).text,
    /\n\nI can only write into `outputs\/`, `temp\/` and `uploads\/`, so nothing was put at `skills\/a\.txt`\.$/,
  );
  assert.equal(
    (await talk.say("把你好保存到 skills/a.txt")).text,
    "我只能写入 `outputs/`、`temp/` 和 `uploads/`，所以 `skills/a.txt` 没有写入。",
  );
});

test("a long text that was not found is quoted by its beginning [M5]", async () => {
  const long = "x".repeat(500);
  const results = { edit_file: forModels.files.notFound(path) };
  const { text } = await startTalk(files, { results }).say(`change ${long} to y in uploads/a.txt`);
  assert.ok(text.endsWith(`“${"x".repeat(100)}…” does not stand in \`uploads/a.txt\`, so I changed nothing.`), text);
});

test("of a file that was looked for in vain only the end is told, not every look [M5]", async () => {
  const { text } = await startTalk(files).say("读取 b.txt");
  assert.match(text, /\n\n没有找到文件 `uploads\/b\.txt`；[^\n]*$/);
  assert.doesNotMatch(text, /Error|list_files/);
});
