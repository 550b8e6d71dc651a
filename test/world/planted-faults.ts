import { type Planted, plantedLoads, UP } from "./planted-loads.ts";

const FRONT = "from outside, import";
const HOMES = "has its places (NODE_HOMES in test/world/house-plan.ts), and this is none";
const ADAPTER = "an adapter is imported by the wiring and its contract suite only, not";

/** One fault each, in a small house that is good otherwise, and what is said of it. */
export const plantedFaults: readonly Planted[] = [
  [
    "a browser app that reaches into the engine",
    "web/src/chat/thread.tsx",
    'import { loop } from "../../../src/loop/loop.ts";\n',
    "web/src/chat/thread.tsx: the browser app imports what browsers run, not src/loop/loop.ts",
  ],
  [
    "a text of the browser app outside of its words",
    "web/src/chat/thread.tsx",
    'export const title = "对话";\n',
    "web/src/chat/thread.tsx: every text for people stands in web/src/words/",
  ],
  [
    "one more room of the browser app",
    "web/src/drawer/thread.tsx",
    "export const title = 1;\n",
    "web/src/drawer/thread.tsx: web/src/drawer is not a room of the browser app (WEB_ROOMS in test/world/house-plan.ts)",
  ],
  [
    "an upward import",
    "src/storage/rows.ts",
    'import { loop } from "../loop/loop.ts";\n',
    `src/storage/rows.ts: ${UP} src/loop/loop.ts`,
  ],
  [
    "an upward import over several lines",
    "src/base/ids.ts",
    'import type {\n  Message,\n} from "../protocol/message.ts";\n',
    `src/base/ids.ts: ${UP} src/protocol/message.ts`,
  ],
  [
    "an upward import at run time",
    "src/log/log.ts",
    'const loop = await import("../loop/loop.ts");\n',
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  [
    "an import of main.ts",
    "src/http/http.ts",
    'export { main } from "../main.ts";\n',
    `src/http/http.ts: ${UP} src/main.ts`,
  ],
  [
    "an import past a front file",
    "src/http/http.ts",
    'import { step } from "../loop/step.ts";\n',
    `src/http/http.ts: ${FRONT} src/loop/loop.ts, not src/loop/step.ts`,
  ],
  [
    "a story that reaches past a front file",
    "test/stories/step.test.ts",
    'import { step } from "../../src/loop/step.ts";\n',
    `test/stories/step.test.ts: ${FRONT} src/loop/loop.ts, not src/loop/step.ts`,
  ],
  [
    "an adapter outside the wiring",
    "src/log/log.ts",
    'import { openStorage } from "../storage/sqlite/sqlite.ts";\n',
    "src/log/log.ts: an adapter is imported by the wiring and its contract suite only, not src/storage/sqlite/sqlite.ts",
  ],
  [
    "a terminal that reaches into the engine",
    "src/terminal/terminal.ts",
    'import { loop } from "../loop/loop.ts";\n',
    "src/terminal/terminal.ts: terminal/ is a client, it does not import src/loop/loop.ts",
  ],
  [
    "test code inside the product",
    "src/loop/turn.ts",
    'import { modelServer } from "../../test/world/model-server.ts";\n',
    "src/loop/turn.ts: src/ imports nothing outside, not test/world/model-server.ts",
  ],
  [
    "a new folder",
    "src/plugins/plugins.ts",
    "export const plugins = 1;\n",
    "src/plugins/plugins.ts: src/plugins is not a place of the house (PAGE in test/world/house-plan.ts)",
  ],
  [
    "one more drawer in base",
    "src/base/text.ts",
    "export const text = 1;\n",
    "src/base/text.ts: base/ is a closed list (result, clock, ids, random, assert, nearest, json, fault, host, background, gate)",
  ],
  [
    "an upward import in single quotes, second on its line",
    "src/log/log.ts",
    "import { a } from './a.ts'; import { loop } from '../loop/loop.ts';\n",
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  [
    "an upward import by a template",
    "src/log/log.ts",
    "const loop = await import(`../loop/loop.ts`);\n",
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  [
    "an upward import as a type",
    "src/log/log.ts",
    'export type Loop = import("../loop/loop.ts").Loop;\n',
    `src/log/log.ts: ${UP} src/loop/loop.ts`,
  ],
  ...plantedLoads,
  ...["process.pid", 'Buffer.from("a")', "__dirname"].map(
    (use): Planted => [
      `${use} in what browsers run`,
      "src/client/client.ts",
      `export const own = { process: 1, at: ${use} };\n`,
      `src/client/client.ts: runs in browsers, which have no ${/^\w+/.exec(use)?.[0]}`,
    ],
  ),
  [
    "one more adapter, before it has its place",
    "src/storage/mysql/mysql.ts",
    "export const mysql = 1;\n",
    "src/storage/mysql/mysql.ts: src/storage/mysql is not a room of the house (INNER_PAGES in test/world/house-plan.ts)",
  ],
  [
    "an adapter that knows one that is new",
    "src/storage/sqlite/sqlite.ts",
    'import { mysql } from "../mysql/mysql.ts";\n',
    `src/storage/sqlite/sqlite.ts: ${ADAPTER} src/storage/mysql/mysql.ts`,
  ],
  [
    "a front file that hands on a new adapter",
    "src/storage/storage.ts",
    'export { mysql } from "./mysql/mysql.ts";\n',
    `src/storage/storage.ts: ${ADAPTER} src/storage/mysql/mysql.ts`,
  ],
  [
    "one more room in a room",
    "src/approvals/extra/extra.ts",
    "export const extra = 1;\n",
    `src/approvals/extra/extra.ts: src/approvals/extra is not a room of the house (INNER_PAGES in test/world/house-plan.ts)
src/approvals/: has no front file src/approvals/approvals.ts`,
  ],
  [
    "a room where there are none",
    "src/loop/extra/extra.ts",
    "export const extra = 1;\n",
    "src/loop/extra/extra.ts: src/loop/extra is not a room of the house (INNER_PAGES in test/world/house-plan.ts)",
  ],
  ...[
    ...["SELECT seq FROM events WHERE seq > ?", "delete from events ", "PRAGMA user_version = 1"],
    "with recursive below (id) as (select 1) select id from below",
  ].map(
    (sql): Planted => [
      `SQL outside of its place: ${sql}`,
      "src/loop/turn.ts",
      `export const sql = "${sql}";\n`,
      `src/loop/turn.ts: SQL has its place in src/storage/sqlite/ and src/storage/postgres/ and src/search/sqlite/, not ${/^.* FROM|^delete from|^PRAGMA|^with.* as/.exec(sql)}`,
    ],
  ),
  [
    "a text for people outside of words/",
    "src/loop/turn.ts",
    'export const text = "回合失败";\n',
    "src/loop/turn.ts: every text for people stands in words/",
  ],
  ...[
    "export let turns = 0;",
    "let turns: number | undefined;",
    "const turns = new Map<string, number>();",
    "const turns: Cache = new Map();",
    "export const turns: Record<string, number> = {};",
    "const turns: Record<\n  string,\n  (seq: number) => void\n> = {};",
    "const turns: string[] = [];",
    "const turns = {} as Cache;",
  ].map(
    (line): Planted => [
      `state of a whole process: ${line.replaceAll("\n", "")}`,
      "src/loop/turn.ts",
      `${line}\n`,
      "src/loop/turn.ts: turns is state of a whole process",
    ],
  ),
  ...["function turnHelper() {}", "const turnUtils = () => 1;", "interface TurnManager {}"].map(
    (line): Planted => [
      `a name that says nothing: ${line}`,
      "src/loop/turn.ts",
      `export ${line}\n`,
      `src/loop/turn.ts: ${/turn\w+/i.exec(line)?.[0]} says nothing; name what it is about`,
    ],
  ),
  ...(["sqlite", "child_process", "fs", "fs/promises", "http", "worker_threads", "module"] as const).map(
    (library): Planted => [
      `node:${library} where it has no place`,
      "src/loop/turn.ts",
      `import * as library from "node:${library}";\n`,
      `src/loop/turn.ts: node:${library.split("/")[0]} ${HOMES}`,
    ],
  ),
  [
    "a library of Node that nobody has thought of",
    "src/loop/turn.ts",
    'import { createSocket } from "node:dgram";\n',
    `src/loop/turn.ts: node:dgram ${HOMES}`,
  ],
  [
    "a library of Node in what browsers run",
    "src/protocol/events.ts",
    'import { join } from "node:path";\n',
    "src/protocol/events.ts: runs in browsers, which have no node:path",
  ],
  [
    "a file for Node in what browsers run",
    "src/client/follow.ts",
    'import { socketFetch } from "./socket-fetch.ts";\n',
    "src/client/follow.ts: runs in browsers, and src/client/socket-fetch.ts does not",
  ],
  [
    "an adapter that knows another one",
    "src/storage/sqlite/sqlite.ts",
    'import { openAi } from "../../models/openai/openai.ts";\n',
    `src/storage/sqlite/sqlite.ts: ${UP} src/models/openai/openai.ts
src/storage/sqlite/sqlite.ts: ${ADAPTER} src/models/openai/openai.ts`,
  ],
  [
    "an adapter that knows its neighbour",
    "src/sandbox/guest/connection.ts",
    'import { openLocal } from "../local/local.ts";\n',
    `src/sandbox/guest/connection.ts: inside sandbox/ imports point down (local, docker, kubernetes, remote, guest, ., network), not up to src/sandbox/local/local.ts
src/sandbox/guest/connection.ts: ${ADAPTER} src/sandbox/local/local.ts`,
  ],
  [
    "a dialect that reaches into another one",
    "src/http/chat/stream.ts",
    'import { answer } from "../openai/answer.ts";\n',
    "src/http/chat/stream.ts: inside http/ imports point down (docs, homes, bind, routes, openai, chat, operators, sandbox, peers, .), not up to src/http/openai/answer.ts",
  ],
  [
    "what all dialects use, and which knows one of them",
    "src/http/follow.ts",
    'import { answer } from "./openai/answer.ts";\n',
    "src/http/follow.ts: inside http/ imports point down (docs, homes, bind, routes, openai, chat, operators, sandbox, peers, .), not up to src/http/openai/answer.ts",
  ],
  [
    "two files that need each other first",
    "src/loop/step.ts",
    'import { loop } from "./loop.ts";\n',
    "src/loop/loop.ts → src/loop/step.ts → src/loop/loop.ts: a cycle of imports",
  ],
  [
    "a folder without a front",
    "src/tools/anything.ts",
    "export const anything = 1;\n",
    "src/tools/: has no front file src/tools/tools.ts",
  ],
  [
    "JavaScript in the sources",
    "src/loop/turn.js",
    "export const turn = 1;\n",
    "src/loop/turn.js: src/ holds TypeScript, and what guests and pages run",
  ],
  [
    "Python that no guest runs",
    "src/loop/turn.py",
    "turn = 1\n",
    "src/loop/turn.py: src/ holds TypeScript, and what guests and pages run",
  ],
  ...["data.json", "notes.txt", "run.sh"].map(
    (name): Planted => [
      `what is no program: ${name}`,
      `src/loop/${name}`,
      "{}\n",
      `src/loop/${name}: src/ holds TypeScript, and what guests and pages run`,
    ],
  ),
  [
    "Python of 401 lines",
    "src/sandbox/guest/long.py",
    "#\n".repeat(401),
    "src/sandbox/guest/long.py: 401 lines, more than 400",
  ],
  [
    "a barrel",
    "src/loop/turn.ts",
    'export * from "./step.ts";\n',
    "src/loop/turn.ts: no barrels; a front file exports each name by itself",
  ],
  [
    "an index",
    "src/loop/index.ts",
    "export const a = 1;\n",
    "src/loop/index.ts: no barrels; a front file exports each name by itself",
  ],
  [
    "a class that manages",
    "src/loop/turn.ts",
    "export class TurnManager {}\n",
    "src/loop/turn.ts: TurnManager says nothing; name what it is about",
  ],
  [
    "a double of our own module",
    "test/stories/turn.test.ts",
    'import { mock } from "node:test";\nmock.module("../../src/loop/loop.ts", {});\n',
    "test/stories/turn.test.ts: we double the world, never our own modules",
  ],
  ["a file of 401 lines", "src/loop/turn.ts", "//\n".repeat(401), "src/loop/turn.ts: 401 lines, more than 400"],
  [
    "a dependency in two folders",
    "src/http/http.ts",
    'import { Hono } from "hono";\n',
    "hono: a dependency is imported in one folder, not in client, http",
  ],
  [
    "a package that is no dependency",
    "src/http/http.ts",
    'import { get } from "@scope/left/pad";\n',
    "src/http/http.ts: @scope/left is not a dependency",
  ],
  [
    "a drawer",
    "src/loop/turn-utils.ts",
    "export const a = 1;\n",
    'src/loop/turn-utils.ts: "utils" says nothing; each function goes home',
  ],
  [
    "a camelCase name",
    "scripts/makeDocs.ts",
    "export const a = 1;\n",
    "scripts/makeDocs.ts: names are in kebab-case, not makeDocs",
  ],
  [
    "a drawer by another name",
    "src/loop/shared.ts",
    "export const a = 1;\n",
    'src/loop/shared.ts: "shared" says nothing; each function goes home',
  ],
  ["a default export", "src/loop/turn.ts", "export default 1;\n", "src/loop/turn.ts: no default exports"],
  [
    "a path of a machine",
    "docs/run/start.md",
    `see ${"/home"}/someone/notes\n`,
    `docs/run/start.md: names a path of a machine: ${"/home"}/someone`,
  ],
  [
    "a registry host in the lock file",
    "package-lock.json",
    `{ "packages": {} , "note": "https://${"registry"}.npmjs.org/zod" }`,
    `package-lock.json: names a package registry: ${"registry"}.npmjs.org`,
  ],
  [
    "a platform package that the lock file lost",
    "package-lock.json",
    '{ "packages": { "node_modules/tool": { "optionalDependencies": { "tool-mac": "1.0.0" } } } }',
    "package-lock.json: node_modules/tool asks for what is not locked: tool-mac",
  ],
];
