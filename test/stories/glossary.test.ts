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
};

/** A page that is about sandbox sessions need not say so in each line; one page names the old word. */
const free: Readonly<Record<string, readonly string[]>> = {
  session: ["docs/run/sandbox.md", "docs/use/terminal.md"],
};

test("what the glossary avoids is said nowhere: not by the product, not in its documents [P4]", () => {
  const avoided = glossary().flatMap(({ avoid }) => avoid);
  assert.ok(avoided.length > 25, `only ${avoided.length} words were found`);
  const lines = texts().flatMap(({ file, text }) => text.split("\n").map((line) => ({ file, line })));
  assert.ok(lines.length > 2_000, `only ${lines.length} lines were found`);
  const said = avoided.flatMap((word) =>
    lines.filter(
      ({ file, line }) =>
        new RegExp(`\\b${word}s?\\b`, "i").test(line) && !right[word]?.test(line) && !free[word]?.includes(file),
    ),
  );
  assert.deepEqual(said, []);
});

test("the glossary has one row for each word", () => {
  const words = glossary().map(({ word }) => word);
  assert.deepEqual(words, [...new Set(words)]);
});

test("in Chinese a conversation is 对话 and a turn 回合; 会话 is the sandbox's alone [P4]", () => {
  const files = globSync("{README.zh-CN.md,docs/**/*.zh-CN.md,src/words/zh*.ts,config/*.yaml}", { cwd: root });
  const found = files.flatMap((file) =>
    read(file)
      .split("\n")
      .filter((line) => /(?<!沙箱)会话|这次处理|单次处理|上一轮/.test(line))
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

/** What people read, without what stands in backquotes or code blocks: those are names. */
function texts(): { file: string; text: string }[] {
  const pages = globSync("{README.md,docs/{use,run,api}/*.md}", { cwd: root }).filter(
    (file) => !file.includes("zh-CN"),
  );
  const words = globSync("src/words/en*.ts", { cwd: root });
  return [
    ...pages.map((file) => ({ file, text: withoutNames(read(file).replace(/^```.*?^```$/gms, "")) })),
    ...words.map((file) => ({ file, text: literalsOf(read(file)).map(withoutNames).join("\n") })),
  ];
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
