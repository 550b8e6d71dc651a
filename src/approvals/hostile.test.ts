import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostileTexts } from "../../test/world/hostile-texts.ts";
import { judgedFacts, kindsOf } from "../../test/world/judged-commands.ts";
import { countSteps } from "../../test/world/steps.ts";
import type { Finding } from "../protocol/approval.ts";
import { codeFindings } from "./code.ts";
import { commandBytesMax } from "./commands.ts";

/** Twice what the hardest takes; without a limit each takes thousands of millions. */
const stepsMax = 40_000_000;
/** How long the texts are; in `npm run torture` they are as long as may be, in a process with little memory. */
const charactersMax = process.env.AGENTYARD_HOSTILE_CHARACTERS;
const module = new URL("./code.ts", import.meta.url);

for (const language of ["python", "javascript", "bash"] as const)
  test(`whatever a text of ${language} is made of, it is judged, and what is told of it can be shown [H1][Q1]`, () => {
    if (charactersMax !== undefined) return judgeInLittleMemory(language);
    for (const [what, text] of Object.entries(hostileTexts[language]))
      for (const finding of codeFindings(text().slice(0, 600), language, judgedFacts))
        assert.ok(finding.what.length <= 300 && finding.what.isWellFormed(), what);
  });

function judgeInLittleMemory(language: string): void {
  const child = fileURLToPath(new URL("../../test/world/judge-hostile.ts", import.meta.url));
  const { stderr, stdout, status } = spawnSync(process.execPath, ["--max-old-space-size=100", child, language], {
    encoding: "utf8",
  });
  assert.equal(status, 0, `it ended after ${stdout.trimEnd().split("\n").at(-1)}: ${stderr.slice(-500)}`);
}

test("what is too long or too deep to be read asks [H1]", async () => {
  const many = 2_000;
  const texts: Record<string, string> = {
    "a megabyte": `echo ${"a".repeat(1024 * 1024)}`,
    "just too long": `#${"a".repeat(commandBytesMax)}`,
    parentheses: `${"(".repeat(many)}ls${")".repeat(many)}`,
    substitutions: `${"$(".repeat(many)}ls${")".repeat(many)}`,
    "too many commands": "true;".repeat(20_000),
    "open quotes": `echo ${`"$(`.repeat(many)}`,
    "a zero byte": "ls \0",
  };
  const calls = Object.values(texts).map((text) => ({ name: "codeFindings", with: [text, "bash", judgedFacts] }));
  const counted = await countSteps<Finding[]>(module, calls);
  assert.deepEqual([Object.keys(texts).filter((_, at) => kindsOf(counted[at]?.value ?? []) !== "unreadable")], [[]]);
  assert.ok(counted.every(({ steps }) => steps < stepsMax));
});
