import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspectCatches, mouths } from "./world/mouths.ts";

const root = join(import.meta.dirname, "..");

test("every catch is a mouth, stands around calls of others alone, or throws on what it does not know", () => {
  const files = ["src", "bin", "scripts"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) => `${folder}/${name}`),
    )
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  assert.deepEqual(inspectCatches(files), []);
});

test("ARCHITECTURE.md names every mouth of the product", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const [, invariant = ""] = /\n## Invariants\n.*?\n8\. (.*?)\n9\. /s.exec(page) ?? [];
  const missing = Object.keys(mouths)
    .filter((path) => path.startsWith("src/"))
    .filter((path) => !invariant.includes(`\`${path.replace(/^src\/(?=.*\/)/, "")}\``));
  assert.deepEqual(missing, []);
});

const planted: [what: string, text: string, isFit: boolean][] = [
  ["one call of the system", "try { readFileSync(path); } catch { return undefined; }", true],
  ["JSON", "try { return JSON.parse(text); } catch { return undefined; }", true],
  ["a call of ours", "try { return look(path); } catch { return undefined; }", false],
  ["a call of ours beside one of the system", "try { look(readFileSync(path)); } catch { return undefined; }", false],
  ["a function that was handed in", "try { work(); } catch { return undefined; }", false],
  ["a promise that was handed in", "try { await promise; } catch { return undefined; }", false],
  ["a method of ours", "try { await storage.append(1); } catch { return undefined; }", false],
  ["a log line in place of a throw", "try { look(path); } catch (error) { logger.error(error); }", false],
  ["the rest is thrown on", "try { look(path); } catch (error) { if (!known(error)) throw error; }", true],
  ["what the system did not say is thrown on", "try { look(path); } catch (error) { codeOf(error); }", true],
  ["an assertion about something else", "try { look(path); } catch (error) { assert(path); }", false],
  ["`.catch` around a call of the system", "await rm(path).catch(() => {});", true],
  ["`.catch` around a call of ours", "await look(path).catch(() => {});", false],
  ["`.catch` on a promise that was handed in", "promise.catch(() => {});", false],
  ["`.then` with a second function", "look(path).then(() => {}, () => {});", false],
  ["`.catch` that throws on", "look(path).catch(codeOf);", true],
];
for (const [what, text, isFit] of planted) {
  test(`a catch is ${isFit ? "fit" : "found"}: ${what}`, () => {
    const parts = `import { readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { codeOf } from "../base/fault.ts";
import { assert } from "../base/assert.ts";
import { look } from "./look.ts";
export async function begin(path, text, work, promise, storage, logger, known) {
  ${text}
}`;
    const fault = "export function codeOf(error) {\n  if (error.syscall === undefined) throw error;\n}";
    const files = [
      { path: "src/loop/step.ts", text: parts },
      { path: "src/base/fault.ts", text: fault },
      { path: "src/base/assert.ts", text: "export function assert(value) {\n  if (!value) throw new Error();\n}" },
    ];
    const sentence = "a catch around our own code that throws nothing on (mouths in test/world/mouths.ts)";
    assert.deepEqual(inspectCatches(files, {}), isFit ? [] : [`src/loop/step.ts:7: ${sentence}`]);
    assert.deepEqual(inspectCatches(files, { "src/loop/step.ts": "a mouth" }), []);
  });
}

test("a mouth that catches nothing any more is found", () => {
  const files = ["src/loop/step.ts", "src/loop/turn.ts"].map((path) => ({ path, text: "export const step = 1;\n" }));
  assert.deepEqual(inspectCatches(files, { "src/loop/step.ts": "a mouth" }), [
    "src/loop/step.ts: a mouth that catches nothing (test/world/mouths.ts)",
  ]);
});
