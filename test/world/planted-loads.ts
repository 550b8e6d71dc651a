export type Planted = [what: string, path: string, text: string, problem: string];
export const UP = "imports point down the page, not up to";
const NAMELESS = "imports something that no reader can name";
const MODULE = 'import { createRequire } from "node:module";\n';

/** What is loaded when it runs: by a thread, by `require`, by an address. */
export const plantedLoads: readonly Planted[] = [
  [
    "a thread that is loaded from above",
    "src/log/log.ts",
    'new Worker(new URL("../loop/loop.ts", import.meta.url));\n',
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  [
    "a package that is loaded around the imports",
    "src/extract/guess.ts",
    `${MODULE}createRequire(import.meta.url)("left-pad");\n`,
    "src/extract/guess.ts: left-pad is not a dependency",
  ],
  [
    "an import that nobody can name",
    "src/log/log.ts",
    "export const open = (name: string) => import(name);\n",
    `src/log/log.ts: ${NAMELESS}`,
  ],
  ...["process.getBuiltinModule", 'process["binding"]', "process.dlopen"].map((way): Planted => {
    const [, name = ""] = /(\w+)\W*$/.exec(way) ?? [];
    return [
      `${way}, which is no import`,
      "src/loop/turn.ts",
      `export const fs = ${way}("node:fs");\n`,
      `src/loop/turn.ts: ${name} loads around the imports, where no rule sees it`,
    ];
  }),
  [
    "a way around the imports that is taken out of its object first",
    "src/loop/turn.ts",
    'import { getBuiltinModule } from "node:process";\n',
    "src/loop/turn.ts: getBuiltinModule loads around the imports, where no rule sees it",
  ],
  [
    "a thread by a mere text",
    "src/log/log.ts",
    'new Worker("../loop/loop.ts");\n',
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  [
    "a thread that nobody can name",
    "src/log/log.ts",
    "export const open = (name: string) => new Worker(name);\n",
    `src/log/log.ts: ${NAMELESS}`,
  ],
  [
    "an address of something above",
    "src/log/log.ts",
    'export const loop = import.meta.resolve("../loop/loop.ts");\n',
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  ...[
    "new Worker(new URL(name, import.meta.url))",
    "new Worker(new URL(`./${name}.ts`, import.meta.url))",
    "new Worker(new Address(name))",
  ].map(
    (way): Planted => [
      `a thread whose address nobody can name: ${way}`,
      "src/log/log.ts",
      `export const open = (name: string) => ${way};\n`,
      `src/log/log.ts: ${NAMELESS}`,
    ],
  ),
  [
    "a thread by another name",
    "src/extract/threads/thread.ts",
    'import { Worker as Thread } from "node:worker_threads";\nnew Thread("../../loop/loop.ts");\n',
    `src/extract/threads/thread.ts: ${NAMELESS}`,
  ],
  ...[
    `${MODULE}const load = createRequire(import.meta.url);\nload("../loop/loop.ts");\n`,
    `${MODULE}const make = createRequire;\nmake(import.meta.url)("../loop/loop.ts");\n`,
    `${MODULE}const require = createRequire(import.meta.url);\nconst load = require;\nload("../loop/loop.ts");\n`,
    `${MODULE}const require = createRequire(import.meta.url);\nexport const open = (name: string) => require(name);\n`,
    'import { createRequire as make } from "node:module";\nmake(import.meta.url)("../loop/loop.ts");\n',
  ].map(
    (text): Planted => [
      `a require that is kept where nobody follows it: ${text.trim().split("\n").slice(1).join(" ")}`,
      "src/extract/guess.ts",
      text,
      `src/extract/guess.ts: ${NAMELESS}`,
    ],
  ),
  [
    "a require that is taken out of its module under another name",
    "src/extract/guess.ts",
    'import * as module from "node:module";\nconst { createRequire: load } = module;\nload(import.meta.url)("../loop/loop.ts");\n',
    `src/extract/guess.ts: ${NAMELESS}`,
  ],
  [
    "a thread of a whole module",
    "src/extract/threads/thread.ts",
    'import * as threads from "node:worker_threads";\nnew threads.Worker("../../loop/loop.ts");\n',
    `src/extract/threads/thread.ts: ${UP} src/loop/loop.ts`,
  ],
  ...["const Thread = Worker;", "class Own extends Worker {}", "export const threads = { Worker };"].map(
    (way): Planted => [
      `a thread that is kept where nobody follows it: ${way}`,
      "src/extract/threads/thread.ts",
      `import { Worker } from "node:worker_threads";\n${way}\n`,
      `src/extract/threads/thread.ts: ${NAMELESS}`,
    ],
  ),
  [
    "an address of something above, in other letters",
    "src/log/log.ts",
    'export const loop = import.meta["resolve"]("../loop/loop.ts");\n',
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  ...["import", "import type"].map(
    (way): Planted => [
      `${way} in the form of old modules`,
      "src/log/log.ts",
      `${way} loop = require("../loop/loop.ts");\n`,
      `src/log/log.ts: ${UP} src/loop/loop.ts`,
    ],
  ),
  ...[
    'import { mock as played } from "node:test";\nplayed.module("./turn.ts");\n',
    'import { test } from "node:test";\ntest("a", (t) => {\n  const played = t.mock;\n});\n',
    'import { mock } from "node:test";\nmock.method(log, "append");\n',
    'import { test } from "node:test";\ntest("a", (t) => t.mock["method"](log, "append"));\n',
  ].map(
    (text): Planted => [
      `something of ours that is doubled: ${text.trim().split("\n").slice(1).join(" ")}`,
      "src/loop/turn.test.ts",
      text,
      "src/loop/turn.test.ts: we double the world, never our own modules",
    ],
  ),
  [
    "a require that is kept under its own name and loads from above",
    "src/extract/guess.ts",
    `${MODULE}const require = createRequire(import.meta.url);\nrequire("../loop/loop.ts");\n`,
    `src/extract/guess.ts: ${UP} src/loop/loop.ts`,
  ],
];
