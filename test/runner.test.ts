import assert from "node:assert/strict";
import { globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { subjects, testsReachedBy } from "../scripts/test/changed.ts";
import { type FileResult, runInLanes } from "../scripts/test/lanes.ts";
import { resetLane, stateOfLane } from "../scripts/test/reset.ts";

// How `npm test` runs test files (scripts/test/).

test("each test of each file is reported, with why it failed", async (t) => {
  const results = await run(t, {
    "a.test.mjs": `test("good", () => {}); test("bad", () => { throw new Error("no such row"); }); test.skip("later", () => {});`,
    "b.test.mjs": `test("steps", async (t) => { await t.test("one", () => {}); await t.test("two", () => { throw new Error("second"); }); });`,
    "c.test.mjs": `import "./nowhere.mjs";`,
  });
  assert.deepEqual(told(results), {
    "a.test.mjs": ["good passed", "bad failed", "later skipped"],
    "b.test.mjs": ["one passed", "two failed"],
    "c.test.mjs": ["c.test.mjs failed"],
  });
  const [a, , c] = results.toSorted((one, other) => one.file.localeCompare(other.file));
  assert.match(a?.outcomes[1]?.why ?? "", /no such row/);
  assert.match(c?.outcomes[0]?.why ?? "", /nowhere\.mjs/);
});

test("a file whose process ends is reported as failed, with the test that ran, and the files after it run all the same", async (t) => {
  const results = await run(t, {
    "a.test.mjs": `test("good", () => {}); test("ends all", () => process.exit(0)); test("after it", () => {});`,
    "b.test.mjs": `test("good", () => {});`,
  });
  assert.deepEqual(told(results), { "a.test.mjs": ["ends all failed"], "b.test.mjs": ["good passed"] });
});

test("a process that hangs is killed, and its file is reported as failed", async (t) => {
  const results = await run(
    t,
    { "a.test.mjs": `test("hangs", () => { for (;;); });`, "b.test.mjs": `test("good", () => {});` },
    { silentMsMax: 3_000 },
  );
  assert.deepEqual(told(results), { "a.test.mjs": ["hangs failed"], "b.test.mjs": ["good passed"] });
});

test("an error that no test waits for makes the run fail", async (t) => {
  const results = await run(t, {
    "a.test.mjs": `test("good", () => { setTimeout(() => { throw new Error("late"); }, 50); });`,
  });
  assert.ok(results.some(({ outcomes }) => outcomes.some(({ state }) => state === "failed")));
});

test("hooks belong to their file: they run around its tests, and end before the next file begins", async (t) => {
  const results = await run(t, {
    "a.test.mjs": `
      globalThis.log = [];
      before(() => log.push("before")); beforeEach(() => log.push("each")); after(() => log.push("after"));
      test("one", () => log.push("one"));`,
    "b.test.mjs": `test("two", () => { if (log.join() !== "before,each,one,after") throw new Error(log.join()); });`,
  });
  assert.deepEqual(told(results), { "a.test.mjs": ["one passed"], "b.test.mjs": ["two passed"] });
});

test("a file that has to be alone gets a process of its own, the others share one", async (t) => {
  const alone = `test("alone", () => { if (globalThis.seen) throw new Error("not alone"); globalThis.seen = true; });`;
  const results = await run(
    t,
    {
      "a.test.mjs": `globalThis.seen = true; test("a", () => {});`,
      "alone.test.mjs": alone,
      "b.test.mjs": `test("b", () => { if (globalThis.seen) throw new Error("as before"); });`,
      "c.test.mjs": `globalThis.shared = true; test("c", () => {});`,
      "d.test.mjs": `test("d", () => { if (!globalThis.shared) throw new Error("alone"); });`,
    },
    { alone: "alone.test.mjs" },
  );
  assert.deepEqual(
    Object.values(told(results)).flat(),
    ["a", "alone", "b", "c", "d"].map((name) => `${name} passed`),
  );
});

test("only tests whose name fits are run", async (t) => {
  const files = { "a.test.mjs": `test("a chat", () => {}); test("a file", () => { throw new Error(); });` };
  assert.deepEqual(told(await run(t, files, { namePatterns: ["ch.t"] })), { "a.test.mjs": ["a chat passed"] });
});

test("what a file changed in its process is put back and named", () => {
  const state = stateOfLane();
  const { fetch } = globalThis;
  const listener = () => {};
  process.env.AGENTYARD_LEFT = "1";
  const home = process.env.HOME;
  delete process.env.HOME;
  process.chdir(tmpdir());
  globalThis.fetch = () => Promise.reject(new Error());
  process.on("SIGHUP", listener);
  assert.deepEqual(resetLane(state).sort(), [
    "a listener of SIGHUP",
    "the environment variable AGENTYARD_LEFT",
    "the environment variable HOME",
    "the global fetch",
    "the working directory",
  ]);
  assert.deepEqual(
    [process.env.AGENTYARD_LEFT, process.env.HOME, process.cwd(), globalThis.fetch, process.listeners("SIGHUP").length],
    [undefined, home, state.folder, fetch, 0],
  );
  assert.deepEqual(resetLane(state), []);
});

test("a change runs the tests that can see it: unit tests by their imports, others by their subject, all at a change of the wiring", () => {
  const root = join(import.meta.dirname, "..");
  const files = globSync("{src,test/{stories,contracts,crashes,attacks}}/**/*.test.ts", { cwd: root });
  const reached = (...changed: string[]) => testsReachedBy(root, files, changed);
  assert.deepEqual(reached("src/main.ts"), files);
  assert.deepEqual(reached("README.md"), []);
  assert.deepEqual(reached("test/stories/docs.test.ts"), ["test/stories/docs.test.ts"]);
  const ofUndo = reached("src/workspace/undo.ts").filter((file) => file.startsWith("test/"));
  assert.ok(ofUndo.includes("test/stories/undo.test.ts") && !ofUndo.includes("test/stories/docs.test.ts"));

  const folders = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = folders
    .map(({ name }) => `src/${name}/`)
    .filter((folder) => reached(`${folder}x.ts`).length < files.length);
  assert.deepEqual(
    listed.filter((folder) => subjects[folder] === undefined),
    [],
  );
  const unused = Object.entries(subjects).filter(([, pattern]) => !files.some((file) => pattern.test(file)));
  assert.deepEqual(unused, []);
});

test("a change runs the unit tests that import it, directly or through others", (t) => {
  const root = mkdtempSync(join(tmpdir(), "changed-"));
  t.after(() => rmSync(root, { recursive: true }));
  const texts = {
    "src/search/fold.ts": "",
    "src/search/rank.ts": 'import { fold } from "./fold.ts";',
    "src/search/rank.test.ts": 'import { rank } from "./rank.ts";',
    "src/search/fold.test.ts": 'import { fold } from "./fold.ts";',
    "src/search/other.test.ts": 'import { z } from "zod";',
  };
  mkdirSync(join(root, "src/search"), { recursive: true });
  for (const [path, text] of Object.entries(texts)) writeFileSync(join(root, path), text);
  const files = Object.keys(texts).filter((path) => path.endsWith(".test.ts"));
  assert.deepEqual(testsReachedBy(root, files, ["src/search/fold.ts"]), [
    "src/search/rank.test.ts",
    "src/search/fold.test.ts",
  ]);
});

type Wanted = { readonly alone?: string; readonly namePatterns?: string[]; readonly silentMsMax?: number };

async function run(t: TestContext, files: Record<string, string>, { alone, ...wanted }: Wanted = {}) {
  const root = mkdtempSync(join(tmpdir(), "runner-"));
  t.after(() => rmSync(root, { recursive: true }));
  const head = 'import { after, before, beforeEach, test } from "node:test";\n';
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), head + text);
  const chosen = Object.keys(files).map((file) => ({ file, isAlone: file === alone }));
  const { PATH } = process.env;
  return runInLanes(chosen, { root, env: { PATH }, lanes: 1, namePatterns: [], onFile: () => {}, ...wanted });
}

function told(results: readonly FileResult[]): Record<string, string[]> {
  return Object.fromEntries(
    results.map(({ file, outcomes }) => [file, outcomes.map(({ name, state }) => `${name} ${state}`)]),
  );
}
