import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, matchesGlob } from "node:path";
import { test } from "node:test";
import { checks, countRead } from "../scripts/check.ts";
import { findForbiddenLicences } from "../scripts/licences.ts";
import { findTests, idsWithoutTest, writePage } from "../scripts/requirements.ts";
import { inspectHouse, type SourceFile } from "./world/house.ts";
import { plantedFaults } from "./world/planted-faults.ts";

const root = join(import.meta.dirname, "..");

test("this house keeps its own rules", () => {
  assert.equal(inspectHouse(readTree()).join("\n"), "");
});

test("a tree without sources is not a good house", () => {
  assert.deepEqual(inspectHouse([]), ["src/: no TypeScript file was found"]);
});

const good = {
  "package.json": '{"dependencies":{"zod":"1","hono":"1"}}',
  "src/main.ts": 'import { openStorage } from "./storage/sqlite/sqlite.ts";\nimport { loop } from "./loop/loop.ts";\n',
  "src/loop/loop.ts": 'import type { Storage } from "../storage/storage.ts";\nimport { step } from "./step.ts";\n',
  "src/loop/step.ts": 'import { z } from "zod";\nimport { ok } from "../base/result.ts";\n',
  "src/loop/step.test.ts":
    'import fc from "fast-check";\nimport { modelServer } from "../../test/world/model-server.ts";\n',
  "src/documents/documents.ts": "export const documents = 1;\n",
  "src/extract/extract.ts": "export const extract = 1;\n",
  "src/sandbox/sandbox.ts": "export const sandbox = 1;\n",
  "src/client/client.ts": 'import { hc } from "hono/client";\n',
  "src/http/http.ts": 'import { messages } from "./routes/messages.ts";\n',
  "src/http/routes/messages.ts": 'import type { App } from "../http.ts";\nexport const messages = 1;\n',
  "src/storage/storage.ts": 'import { z } from "zod";\n',
  "src/storage/sqlite/sqlite.ts":
    'import { DatabaseSync } from "node:sqlite";\nimport type { Storage } from "../storage.ts";\n',
  "test/contracts/storage.test.ts": 'import { openStorage } from "../../src/storage/sqlite/sqlite.ts";\n',
};

test("a small house that follows the rules has no problems", () => {
  assert.deepEqual(inspectPlanted({}), []);
});

for (const [what, path, text, problem] of plantedFaults) {
  test(`the house speaks up at ${what}`, () => {
    assert.equal(inspectPlanted({ [path]: text }).join("\n"), problem);
  });
}

test("the house speaks up where many files are long, though none is too long", () => {
  const long = "//\n".repeat(301);
  assert.deepEqual(inspectPlanted({ "src/loop/a.ts": long, "src/loop/b.ts": long }), [
    "src/: 2 of 14 files have more than 300 lines",
  ]);
  for (const tree of ["web/", "scripts/", "bench/"])
    assert.deepEqual(inspectPlanted({ [`${tree}a.ts`]: long, [`${tree}b.ts`]: long }), [
      `${tree}: 2 of 2 files have more than 300 lines`,
      `${tree}: half of the files have more than 150 lines`,
    ]);
});

test("the house speaks up where half of the files of a tree are longer than one reads at once", () => {
  for (const tree of ["test/world/", "scripts/", "bench/"]) {
    const files = (lines: number) =>
      Object.fromEntries(["a", "b", "c"].map((name) => [`${tree}${name}.ts`, "//\n".repeat(lines)]));
    assert.deepEqual(inspectPlanted(files(150)), []);
    assert.deepEqual(inspectPlanted(files(151)), [
      `${tree.split("/")[0]}/: half of the files have more than 150 lines`,
    ]);
  }
});

test("the linter holds time, chance, ids, the network and the environment to their places, promises, switches and long functions", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "house-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of [".oxlintrc.json", "tsconfig.json"]) cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const loose = `import { randomBytes } from "node:crypto";
export async function turn(kind: "a" | "b"): Promise<string> {
  turn(kind);
  [kind].forEach(async () => turn("a"));
  setTimeout(randomBytes, 1);
  await fetch("http://elsewhere");
  await globalThis.fetch("http://elsewhere");
  for (const way of [WebSocket, EventSource, XMLHttpRequest]) new way("http://elsewhere");
  switch (kind) { case "a": return \`\${Date.now()} \${performance.now()} \${Math.random()} \${process.env["KEY"]}\`; }
  return "";
}
`;
  const long = `export function long(): void {\n${'  console.log("line");\n'.repeat(69)}}\n`;
  writeTree(folder, { "src/loop/turn.ts": loose, "src/loop/long.ts": long, "src/loop/turn.test.ts": loose });
  writeTree(folder, { "test/crashes/late.ts": "setTimeout(() => {}, 1);\n" });

  const { stdout } = spawnSync(
    join(root, "node_modules/.bin/oxlint"),
    ["--type-aware", "--format=unix", "src", "test"],
    {
      cwd: folder,
      encoding: "utf8",
    },
  );
  const found = [...stdout.matchAll(/^(?:src\/loop|test\/crashes)\/(\S+?):.*\((.+)\)\]$/gm)].map(
    ([, file, rule]) => `${file} ${rule}`,
  );
  assert.deepEqual(found.sort(), [
    "late.ts no-restricted-globals",
    "long.ts max-lines-per-function",
    "turn.test.ts no-floating-promises",
    "turn.test.ts no-misused-promises",
    "turn.test.ts no-restricted-globals",
    "turn.test.ts no-restricted-properties",
    "turn.test.ts no-restricted-properties",
    "turn.test.ts switch-exhaustiveness-check",
    "turn.ts no-floating-promises",
    "turn.ts no-misused-promises",
    ...Array.from({ length: 6 }, () => "turn.ts no-restricted-globals"),
    "turn.ts no-restricted-imports",
    "turn.ts no-restricted-properties",
    "turn.ts no-restricted-properties",
    "turn.ts no-restricted-properties",
    "turn.ts no-restricted-properties",
    "turn.ts switch-exhaustiveness-check",
  ]);
});

test("a licence that would bind our users is refused, in tools we only run it is not", () => {
  const packages = {
    "node_modules/free": { license: "(GPL-3.0 OR MIT)" },
    "node_modules/tool": { license: "MPL-2.0", dev: true },
    "node_modules/bound": { license: "MPL-2.0" },
    "node_modules/both": { license: "MIT AND GPL-3.0" },
    "node_modules/silent": {},
  };
  assert.deepEqual(findForbiddenLicences(packages), [
    "node_modules/bound: MPL-2.0",
    "node_modules/both: MIT AND GPL-3.0",
    "node_modules/silent: names no licence",
  ]);
});

const outputs: Record<string, [none: string, some: string]> = {
  tsc: ["/a/node_modules/typescript/lib/lib.es5.d.ts\n", "src/a.ts(1,2): error TS1: no.ts\n/a/src/a.ts\n/a/src/b.ts\n"],
  "tsc web": ["/a/src/client/client.ts\n", "web/a.ts(1,2): error TS1: no.ts\n/a/web/src/a.ts\n/a/web/src/b.tsx\n"],
  biome: ["Checked 0 files in 3ms.", "Checked 2 files in 3ms."],
  oxlint: ["Finished in 8ms on 0 files with 96 rules", "Finished in 8ms on 2 files with 96 rules"],
  knip: ["knip read 0 files", "knip read 2 files"],
  licences: ["0 packages, 0 with", "2 packages, 0 with"],
  requirements: ["0 test names", "2 test names"],
  house: ['{"passed":0,"failed":0}', '{"passed":2,"failed":0}'],
};
for (const { name, read } of checks) {
  test(`the check ${name} is seen to have read nothing`, () => {
    assert.deepEqual(
      ["", ...(outputs[name] ?? [])].map((output) => countRead(output, read)),
      [0, 0, 2],
    );
  });
}

test("a requirement is shown with the tests that name it", () => {
  // Not written as a call, or this file would claim the two ids.
  const source = ["it goes on [L2][Q2]", "no id"].map((name) => `test("${name}", () => {});`).join("\n");
  const tests = findTests("a.test.ts", source);
  assert.deepEqual(tests, [{ file: "a.test.ts", name: "it goes on", ids: ["L2", "Q2"] }]);
  const page = writePage({ Loop: { L2: "Nothing is lost.", L3: "Prefix <a|b>." }, Trust: { Q2: "Faults." } }, tests);
  assert.deepEqual(
    page.split("\n").filter((line) => /^\| [A-Z]\d/.test(line)),
    [
      "| L2 | Nothing is lost. | a.test.ts › it goes on |",
      "| L3 | Prefix &lt;a\\|b>. | — |",
      "| Q2 | Faults. | a.test.ts › it goes on |",
    ],
  );
  assert.deepEqual(idsWithoutTest({ Loop: { L2: "", L3: "" }, Trust: { Q2: "" } }, tests), ["L3"]);
  assert.throws(
    () => writePage({ Loop: { L2: "Nothing is lost." } }, tests),
    /no requirement has an id of "it goes on"/,
  );
});

function inspectPlanted(planted: Record<string, string>): string[] {
  return inspectHouse(Object.entries({ ...good, ...planted }).map(([path, text]) => ({ path, text })));
}

function writeTree(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** The text files that git would keep, also in a copy without git. */
function readTree(): SourceFile[] {
  const lines = readFileSync(join(root, ".gitignore"), "utf8").split("\n").filter(Boolean);
  const patterns = lines
    .map((line) => line.replace(/\/$/, ""))
    .map((line) => (line[0] === "/" ? line.slice(1) : `**/${line}`));
  const isIgnored = (path: string) => path === ".git" || patterns.some((pattern) => matchesGlob(path, pattern));
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (isIgnored(path)) return [];
      return entry.isDirectory() ? walk(path) : entry.isFile() ? [path] : [];
    });
  return walk("")
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
    .filter(({ text }) => !text.includes("\0"));
}
