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

test("ARCHITECTURE.md names the mouths of the product, and no other files", () => {
  const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const [, invariant = ""] = /\n## Invariants\n.*?\n8\. (.*?)\n9\. /s.exec(page) ?? [];
  const files = new Set(Object.keys(mouths).map((place) => place.replace(/#.*/, "")));
  const named = [...invariant.matchAll(/`((?:src\/)?[\w/-]+\.(?:ts|mjs))`/g)].map(([, name = ""]) => name);
  // What failures are, and hono's own mouth, which calls a function of ours.
  const others = ["protocol/failure.ts", "base/fault.ts", "http/http.ts", "test/mouths.test.ts"];
  const own = named.filter((name) => !others.includes(name));
  assert.deepEqual(
    own.map((name) => (name.startsWith("src/") ? name : `src/${name}`)).sort(),
    [...files].filter((path) => path.startsWith("src/")).sort(),
  );
});

const planted: [what: string, text: string, isFit: boolean][] = [
  ["one call of the system", "try { readFileSync(path); } catch { return undefined; }", true],
  ["JSON", "try { return JSON.parse(text); } catch { return undefined; }", true],
  ["a call of ours", "try { return look(path); } catch { return undefined; }", false],
  ["a call of ours beside one of the system", "try { look(readFileSync(path)); } catch { return undefined; }", false],
  ["a function that was handed in", "try { work(); } catch { return undefined; }", false],
  ["a promise that was handed in", "try { await promise; } catch { return undefined; }", false],
  ["a method of ours", "try { await storage.append(1); } catch { return undefined; }", false],
  ["a method of ours that Node has too", "try { await storage.read(1); } catch { return undefined; }", false],
  [
    "a method of ours that is called like one of a database",
    "try { storage.get(1); } catch { return undefined; }",
    false,
  ],
  ["a method of ours of a type of ours", "try { await log.run(); } catch { return undefined; }", false],
  ["a method of what we opened ourselves", "const own = look(path); try { own.close(); } catch { return 1; }", false],
  [
    "a method of what Node opened",
    "const file = await open(path); try { await file.read(); } catch { return 1; }",
    true,
  ],
  ["a method of a type of Node", "try { await file.read(); } catch { return undefined; }", true],
  ["a field of ours that is waited for", "try { await storage.promise; } catch { return undefined; }", false],
  ["pieces of ours", "try { for await (const _ of storage.chunks); } catch { return undefined; }", false],
  ["pieces that were handed in", "try { for await (const _ of chunks); } catch { return undefined; }", false],
  [
    "pieces of an answer",
    "const { body } = await globalThis.fetch(path); try { for await (const _ of body); } catch { return 1; }",
    true,
  ],
  ["a function of ours for each of a list", "try { text.split(path).map(mend); } catch { return undefined; }", false],
  ["all of ours, however they end", "await Promise.allSettled([look(path)]);", false],
  ["all of the system's, however they end", "await Promise.allSettled([rm(path)]);", true],
  ["a throw that never comes", "try { look(path); } catch (error) { if (path) throw error; }", false],
  [
    "a throw that comes for some errors",
    "try { look(path); } catch (error) { if (path && known(error)) throw error; }",
    true,
  ],
  [
    "a throw by what was read from the error",
    "try { look(path); } catch (e) { const c = known(e); if (!c) throw e; }",
    true,
  ],
  ["another error in its place", 'try { look(path); } catch { throw new Error("gone"); }', false],
  [
    "another error, after a look at it",
    'try { look(path); } catch (e) { if (known(e)) throw new Error("gone"); }',
    false,
  ],
  ["another error with its cause", 'try { look(path); } catch (cause) { throw new Error("gone", { cause }); }', true],
  ["a log line in place of a throw", "try { look(path); } catch (error) { logger.error(error); }", false],
  ["the rest is thrown on", "try { look(path); } catch (error) { if (!known(error)) throw error; }", true],
  ["what the system did not say is thrown on", "try { look(path); } catch (error) { codeOf(error); }", true],
  ["an assertion about something else", "try { look(path); } catch (error) { assert(path); }", false],
  ["`.catch` around a call of the system", "await rm(path).catch(() => {});", true],
  ["`.catch` around a call of ours", "await look(path).catch(() => {});", false],
  ["`.catch` on a promise that was handed in", "promise.catch(() => {});", false],
  ["`.then` with a second function", "look(path).then(() => {}, () => {});", false],
  ["`.catch` that throws on", "look(path).catch(codeOf);", true],
  ["a method of ours that texts have too", "try { storage.match(path); } catch { return undefined; }", false],
  ["a method of texts", "try { path.match(text); } catch { return undefined; }", true],
  ["a fetch that was handed in", "try { await fetch(path); } catch { return undefined; }", false],
  ["a method of ours called fetch", "try { await storage.fetch(path); } catch { return undefined; }", false],
  ["a way out before the throw", "try { look(path); } catch (error) { if (path) return; throw error; }", false],
  [
    "a way out before a stream is told",
    "try { look(path); } catch (error) { if (path) return; controller.error(error); }",
    false,
  ],
  ["a way out for some errors", "try { look(path); } catch (error) { if (known(error)) return; throw error; }", true],
  ["the first of ours that does not fail", "await Promise.any([look(path)]);", false],
  ["the first of the system's that does not fail", "await Promise.any([rm(path)]);", true],
  ["what nobody caught, passed over", 'process.on("unhandledRejection", () => {});', false],
  ["what nobody caught, thrown on", 'process.on("uncaughtException", codeOf);', true],
];
const place = "src/loop/step.ts#begin";
for (const [what, text, isFit] of planted) {
  test(`a catch is ${isFit ? "fit" : "found"}: ${what}`, () => {
    const parts = `import { readFileSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { codeOf } from "../base/fault.ts";
import { assert } from "../base/assert.ts";
import { look } from "./look.ts";
import type { Log } from "./log.ts";
const mend = (text: string) => look(text);
type Handed = { promise: Promise<void>; chunks: AsyncIterable<string>; log: Log; file: FileHandle; path: string };
export async function begin(text: string, path: string, work: () => void, promise: Handed["promise"],
  storage, logger, known, controller, fetch: typeof globalThis.fetch, chunks: AsyncIterable<string>, log: Log, file: FileHandle) {
  ${text}
}`;
    const fault = "export function codeOf(error) {\n  if (error.syscall === undefined) throw error;\n}";
    const files = [
      { path: "src/loop/step.ts", text: parts },
      { path: "src/base/fault.ts", text: fault },
      { path: "src/base/assert.ts", text: "export function assert(value) {\n  if (!value) throw new Error();\n}" },
    ];
    const sentence = `src/loop/step.ts:11: a catch around our own code that throws nothing on (${place} is no mouth in`;
    assert.deepEqual(inspectCatches(files, {}), isFit ? [] : [`${sentence} test/world/mouths.ts)`]);
    if (!isFit) assert.deepEqual(inspectCatches(files, { [place]: "a mouth" }), []);
  });
}

test("a mouth is one function: what else its file catches is found, and so is one where nothing ends any more", () => {
  const text = `function begin(work) {
  try { work(); } catch {}
}
const end = { close(work) {
  try { work(); } catch {}
} };`;
  const files = [
    { path: "src/loop/step.ts", text },
    { path: "src/loop/turn.ts", text: "export const turn = 1;\n" },
  ];
  assert.deepEqual(inspectCatches(files, { [place]: "a mouth", "src/loop/turn.ts#turn": "another" }), [
    "src/loop/step.ts:5: a catch around our own code that throws nothing on (src/loop/step.ts#close is no mouth in test/world/mouths.ts)",
    "src/loop/turn.ts#turn: a mouth where nothing ends (test/world/mouths.ts)",
  ]);
});
