import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { hostileTexts } from "../../test/world/hostile-texts.ts";

/** The slowest take less than a second alone; a machine with much else to do counts more for the same. */
const cpuMsMax = 2_500;

for (const language of ["python", "javascript", "bash"] as const)
  test(`whatever a text of ${language} is made of, judging it takes about a second at the most and 100 MB [H1][Q1]`, () => {
    const child = fileURLToPath(new URL("../../test/world/judge-hostile.ts", import.meta.url));
    const options = ["--max-old-space-size=100", child, language];
    const { stdout, stderr, status } = spawnSync(process.execPath, options, { encoding: "utf8" });
    const told = stdout.split("\n").filter((line) => line !== "");
    assert.equal(status, 0, `it ended after ${told.at(-1)}: ${stderr.slice(-500)}`);
    const slow = told.filter((line) => Number(/"cpuMs":(\d+)/.exec(line)?.[1]) > cpuMsMax);
    assert.deepEqual([told.length, slow], [Object.keys(hostileTexts[language]).length, []]);
  });
