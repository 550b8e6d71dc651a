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
    /sandbox session|✓ Session reset|Loaded session: |✗ Session not found: |Current session: |No active session/i,
  thread: /processes and threads/,
  account: /on this machine|accounts here|has no credit/,
  box: /tool box/,
  "whoever runs": /whoever runs (it|them|the call)\b/,
  interrupt: /can interrupt|hold up interrupts/,
  abort: /with aborts and back pressure/,
};

/**
 * A page that is about sandbox sessions need not say so in each line, and one page names the old word. Pages for who
 * builds this speak of threads of the processor, and of what others call a snapshot.
 */
const free: Readonly<Record<string, readonly string[]>> = {
  session: ["docs/run/sandbox.md", "docs/use/terminal.md", "docs/decisions/", "ARCHITECTURE.md"],
  thread: ["docs/decisions/", "ARCHITECTURE.md"],
  snapshot: ["docs/decisions/"],
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
        new RegExp(`\\b${word}s?\\b`, "i").test(line) &&
        !right[word]?.test(line) &&
        !free[word]?.some((place) => file.startsWith(place)),
    ),
  );
  assert.deepEqual(said, []);
});

test("nor is it said in code, where a word has no other meaning there [P4]", () => {
  const words = glossary().flatMap(({ avoid }) =>
    avoid.filter((word) => /\s|^(account|administrator|flaw)$/.test(word)),
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

test("the glossary has one row for each word", () => {
  const words = glossary().map(({ word }) => word);
  assert.deepEqual(words, [...new Set(words)]);
});

test("in Chinese each word has one meaning, too: 会话 is the sandbox's alone, 管理员 is no 运维人员 [P4]", () => {
  const files = globSync("{README.zh-CN.md,docs/**/*.zh-CN.md,src/words/zh*.ts,config/*.yaml}", { cwd: root });
  const found = files.flatMap((file) =>
    read(file)
      .split("\n")
      .filter((line) =>
        /(?<!沙箱)会话|确认项|这次处理|单次处理|上一轮|请(联系)?管理员|管理员可以|取回第|已取回|\/undo.*撤回|撤回.*(回合|规则|密钥)(?!开始)/.test(
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
  const pages = filesOf("{README,CONTRIBUTING,ARCHITECTURE,CHANGELOG}.md").concat(
    filesOf("docs/{use,run,api,decisions}/*.md"),
  );
  const settings = filesOf("{config/*.yaml,.env.example}");
  const words = filesOf("src/words/*.ts");
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
