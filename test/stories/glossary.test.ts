import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

// One word, one meaning: what the glossary says not to say is not said to people.

const root = join(import.meta.dirname, "..", "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** Where such a word is the right one: it means something else there, or is the name that others gave. */
const right: Readonly<Record<string, RegExp>> = {
  session:
    /sandbox session|✓ Session reset|Loaded session: |✗ Session not found: |Current session: |No active session|sticky sessions/i,
  thread: /processes and threads/,
  account: /on this machine|accounts here|has no credit|service ?account/i,
  box: /tool box/,
  // Those of a database.
  replica: /backups, replicas and|128 GB, a replica/,
  "whoever runs": /whoever runs (it|them|the call)\b/,
  interrupt: /can interrupt|hold up interrupts/,
  // Those of a browser.
  notification: /show notifications/,
  // A lock by the kernel, files by their owner.
  "take back": /the kernel takes it back|nobody to give them to, and nothing to take back/,
  abort: /with aborts and back pressure/,
  // What HTTP calls a file that is to be saved.
  attachment: /attachment; filename|"attachment"/,
};

/**
 * A page that is about sandbox sessions need not say so in each line, and one page names the old word. Pages for who
 * builds this speak of threads of the processor, and of what others call a snapshot, as does the page that compares us with them.
 */
const free: Readonly<Record<string, readonly string[]>> = {
  session: ["docs/run/sandbox.md", "docs/use/terminal.md", "docs/decisions/", "ARCHITECTURE.md"],
  thread: ["docs/decisions/", "ARCHITECTURE.md"],
  snapshot: ["docs/decisions/", "docs/compare.md"],
  "take back": ["docs/decisions/"],
};

/** Code about the accounts of a machine, of a cloud, or of a model's server. */
const ofOthers = /doctor|delete-intent|shell\/credentials|models\/wire\/error|words\/zh/;

test("what the glossary avoids is said nowhere: not by the product, not in its documents [P4]", () => {
  const avoided = glossary().flatMap(({ avoid }) => avoid);
  assert.ok(avoided.length > 25, `only ${avoided.length} words were found`);
  const lines = texts().flatMap(({ file, text }) => text.split("\n").map((line) => ({ file, line })));
  assert.ok(lines.length > 2_000, `only ${lines.length} lines were found`);
  const said = avoided.flatMap((word) =>
    lines.filter(
      ({ file, line }) =>
        saying(word).test(line) && !right[word]?.test(line) && !free[word]?.some((place) => file.startsWith(place)),
    ),
  );
  assert.deepEqual(said, []);
});

/** One of them or several: *retry*, *retries*; *replica*, *replicas*. And *take back*, *takes the last one back*. */
function saying(word: string): RegExp {
  const [, object] = /^take (\w+)$/.exec(word) ?? [];
  if (object !== undefined) return new RegExp(`\\b(?:tak(?:e|es|en|ing)|took)(?: \\w+){0,4} ${object}\\b`, "i");
  return new RegExp(/[^aeiou]y$/.test(word) ? `\\b${word.slice(0, -1)}(?:y|ies)\\b` : `\\b${word}s?\\b`, "i");
}

test("a word is known again where there are several of it, and in each of its forms", () => {
  assert.ok(["a retry", "Retries", "two retries"].every((text) => saying("retry").test(text)));
  assert.ok(["a replica", "Replicas"].every((text) => saying("replica").test(text)));
  const back = ["Take back", "is taken back", "takes the last one back", "took it back"];
  assert.ok(back.every((text) => saying("take back").test(text)));
  assert.ok(["takes a backup", "goes back"].every((text) => !saying("take back").test(text)));
  assert.ok(["retrying", "retryable"].every((text) => !saying("retry").test(text)));
});

test("nor is it said in code, where a word has no other meaning there [P4]", () => {
  const words = glossary().flatMap(({ avoid }) =>
    avoid.filter((word) => /\s|^(account|administrator|flaw|attachment|snapshot|plugin)$/.test(word)),
  );
  assert.ok(words.length > 8, `only ${words.length} words were found`);
  const lines = globSync("src/**/*.ts", { cwd: root })
    .filter((file) => !ofOthers.test(file))
    .flatMap((file) =>
      read(file)
        .split("\n")
        .map((line) => ({ file, line: withoutNames(line) })),
    );
  const said = words.flatMap((word) =>
    lines.filter(({ line }) => new RegExp(word, "i").test(line) && !right[word]?.test(line)),
  );
  assert.deepEqual(said, []);
});

test("a tool box is what somebody registered: all tools of an agent are its toolkit [P4]", () => {
  const rooms = globSync("src/{tools,loop,context}/**/*.ts", { cwd: root });
  assert.ok(rooms.length > 100, `only ${rooms.length} files were found`);
  assert.deepEqual(
    rooms.filter((file) => /toolbox/i.test(file) || /toolbox/i.test(read(file))),
    [],
  );
});

test("a file is deleted, and an API key revoked, on every screen [P4]", () => {
  const other = {
    "{src/words/{en,zh}-terminal-files.ts,web/src/words/{en,zh}-files.ts}": /\bremoved?\b(?! from the list)|已移除/i,
    "src/words/{en,zh}-serve.ts": /key .*(?:removed|deleted)|删除 API 密钥/,
  };
  for (const [screens, word] of Object.entries(other)) {
    const files = globSync(screens, { cwd: root });
    assert.ok(files.length > 1, screens);
    const said = files.flatMap((file) => literalsOf(read(file)));
    assert.deepEqual(
      said.filter((text) => word.test(text)),
      [],
    );
  }
});

test("nor is a file removed, or an API key taken away, in what an answer, a list or a page says [P4]", () => {
  const english =
    /\bremov\w* (?:it, |the |a |those |these )?(?:files?|folders?)\b|\b(?:remov\w*|delet\w*) (?:an? |the |those )?(?:API )?keys?\b|\b(?:tak\w*|took) (?:an? |the )?(?:API )?keys? away\b|\bkeys? .{0,12}\b(?:removed|deleted|taken away)\b/i;
  const chinese = /移除文件|(?:删除|移除)(?!该?用户)[^。；：，`]{0,8}密钥|密钥[^。；，]{0,4}(?:删除|移除)/;
  const inChinese = globSync("{src,web/src}/words/zh*.ts", { cwd: root }).map((file) => ({
    file,
    text: literalsOf(read(file)).join("\n"),
  }));
  const inEnglish = texts().filter(({ file }) => file !== "CHANGELOG.md" && !file.startsWith("docs/decisions/"));
  const said = [...inChinese, ...inEnglish].flatMap(({ file, text }) =>
    text.split("\n").map((line) => `${file}: ${line}`),
  );
  assert.ok(said.length > 2_000, `only ${said.length} lines were found`);
  assert.deepEqual(
    said.filter((line) => english.test(line) || chinese.test(line)),
    [],
  );
});

test("the glossary has one row for each word", () => {
  const words = glossary().map(({ word }) => word);
  assert.deepEqual(words, [...new Set(words)]);
});

test("what a person says to a call has one name on every screen: approve and reject, 批准 and 拒绝 [P4][H2]", () => {
  const screens = ["src/words/{}-decisions.ts", "src/words/{}-mcp-server.ts", "web/src/words/{}-decisions.ts"];
  for (const [language, ...pair] of [["en", "approve", "reject"] as const, ["zh", "批准", "拒绝"] as const])
    for (const screen of screens) {
      const said = literalsOf(read(screen.replace("{}", language)))
        .join("\n")
        .toLowerCase();
      for (const word of pair) assert.ok(said.includes(word), `${screen} ${word}`);
    }
  const other =
    /\bdeclin|\byou (?:have )?(?:refused|allowed|denied)\b(?! always)|(?:refused|allowed|denied) by (?:you|\$\{p\.who)|^refuses?…?$|\ballow(?:s|ed)? (?:once|now|this)\b|[，、]refuse|同意|准许|允许一次|由\$\{p\.who\}(?:修改并)?允许/i;
  const found = globSync("{src,web/src}/words/{en,zh}*.ts", { cwd: root }).flatMap((file) =>
    literalsOf(read(file))
      .filter((text) => other.test(text))
      .map((text) => `${file}: ${text}`),
  );
  assert.deepEqual(found, []);
  const pages = globSync("{*.zh-CN.md,docs/**/*.zh-CN.md}", { cwd: root });
  assert.deepEqual(
    pages.filter((file) => /同意/.test(read(file))),
    [],
  );
});

test("in Chinese each word has one meaning, too: 会话 is the sandbox's alone, 回合 is no 轮, 服务器 no 服务, 管理员 no 运维人员, 收件箱 no 待办, 您 no 你 [P4]", () => {
  const files = globSync("{*.zh-CN.md,docs/**/*.zh-CN.md,{src,web/src}/words/zh*.ts,config/*.yaml}", { cwd: root });
  const found = files.flatMap((file) =>
    read(file)
      .split("\n")
      .filter((line) =>
        /(?<!沙箱)会话|确认项|这次处理|单次处理|[一各上这每] ?轮|第 .{1,12} 轮|请(联系)?管理员|管理员可以|取回(?!结果)|上传任务|\/undo.*撤回|撤回[^。]*(回合|规则|密钥)(?!开始)|撤销.*(规则|密钥|再次询问)|代理(?:继续|正在|询问)|助手|(?<!个)待办(?!清单)|你(?!好)|服务进程|(?:[个台本]|其他|所有|结束|启动|运行)服务(?!器|商|地址)/.test(
          line,
        ),
      )
      .map((line) => `${file}: ${line}`),
  );
  assert.deepEqual(found, []);
});

function glossary(): { word: string; avoid: string[] }[] {
  const [, page = ""] = read("ARCHITECTURE.md").split("## Glossary");
  return [...page.matchAll(/^\| (?!word|---)(.+?) \| .+ \| (.*?) ?\|$/gm)].map(([, word = "", avoid = ""]) => ({
    word,
    avoid: avoid.split(", ").filter((other) => other !== ""),
  }));
}

/** What people and models read, without what stands in backquotes or code blocks: those are names. */
function texts(): { file: string; text: string }[] {
  const filesOf = (pattern: string) =>
    globSync(pattern, { cwd: root }).filter((file) => !/zh[-.]|\.test\.ts$/.test(file));
  const pages = filesOf("{*.md,web/README.md,docs/*.md,docs/{use,run,api,decisions}/*.md}").filter(
    (file) => !/^docs\/(?:requirements|api\/failures)\.md$/.test(file),
  );
  const settings = filesOf("{config/*.yaml,.env.example}");
  const words = filesOf("{src,web/src}/words/*.ts");
  const summaries = filesOf("src/protocol/*.ts");
  const tools = filesOf("src/tools/builtin/*.ts");
  return [
    ...pages.map((file) => ({ file, text: withoutNames(pageOf(read(file))) })),
    ...settings.map((file) => ({ file, text: withoutNames(read(file).replace(/^[^#\n].*$|^# {3}.*$/gm, "")) })),
    ...words.map((file) => ({ file, text: literalsOf(read(file)).map(withoutNames).join("\n") })),
    ...[...summaries, ...tools].map((file) => ({ file, text: describedIn(read(file)).map(withoutNames).join("\n") })),
  ];
}

/** A page without its code, and without the glossary itself. */
function pageOf(text: string): string {
  return (text.split("## Glossary")[0] ?? "").replace(/^```.*?^```$/gms, "");
}

/** What routes and tools say of themselves. */
function describedIn(source: string): string[] {
  return [...source.matchAll(/(?:summary|description):\s*"((?:[^"\\]|\\.)*)"|describe\("((?:[^"\\]|\\.)*)"\)/g)].map(
    ([, of = "", other = ""]) => of + other,
  );
}

function literalsOf(source: string): string[] {
  const code = source.replace(/\/\*.*?\*\//gs, "");
  return [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)].map(([, plain, template = ""]) =>
    (plain ?? template).replaceAll("\\`", "`"),
  );
}

function withoutNames(text: string): string {
  return text.replace(/`[^`\n]*`|[\w./-]*[/_][\w./{}-]+|\bsessions\.db\b|\b\w+(?:-\w+)+\b/g, "");
}
