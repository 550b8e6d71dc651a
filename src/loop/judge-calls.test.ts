import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { openDatabase } from "../../test/world/database.ts";
import { testWorkspace } from "../../test/world/workspace.ts";
import { type CallFacts, unreadScript, type Verdict } from "../approvals/approvals.ts";
import { systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { failed, ok } from "../base/result.ts";
import { openLog } from "../log/log.ts";
import type { AllowRule } from "../protocol/approval.ts";
import { makeFailure } from "../protocol/failure.ts";
import { localOwner } from "../protocol/ids.ts";
import { defineTool, openToolkit } from "../tools/tools.ts";
import { judgeCall } from "./judge-calls.ts";

const tool = defineTool({
  ...{ name: "work", description: "Works. For tests.", input: z.object({ url: z.string().optional() }) },
  run: () => ok({ text: "" }),
});
const call = { id: "c", name: "work", arguments: "{}" };
const scriptBytesMax = 256 * 1024;

/** `scripts`: what a call runs, as far as the texts of some are known; `verdict`: what the rules say of it alone. */
type Rules = {
  readonly scripts?: (known: ReadonlyMap<string, string>) => readonly string[];
  readonly verdict?: Verdict["verdict"];
};

async function judging(t: TestContext, { scripts = () => [], verdict = "allow" }: Rules = {}) {
  const storage = openDatabase(t);
  const log = openLog({
    ...{ storage, clock: systemClock, ids: systemIds, checksReads: true },
    onBrokenRecord: () => assert.fail("all can be read"),
  });
  const made = await log.createConversation(localOwner, { id: "c1" });
  assert.ok(made.ok);
  const { value: conversation } = made;
  const place = await testWorkspace(t);
  const facts: CallFacts[] = [];
  const asked: (readonly AllowRule[])[] = [];
  const looked: string[] = [];
  let rulesRead = 0;
  const parts = {
    log,
    reachesNetwork: () => true,
    storage: {
      ...storage,
      async listRules(...given: Parameters<typeof storage.listRules>) {
        rulesRead += 1;
        return storage.listRules(...given);
      },
    },
    logger: {
      ...{ path: undefined, info() {}, debug() {}, warn() {}, error() {} },
      ...{ flush: async () => {}, close: async () => {} },
    },
    workspaces: {
      ofAgent: async () =>
        ok({
          ...place.workspace,
          read(...given: Parameters<typeof place.workspace.read>) {
            looked.push(given[0]);
            return place.workspace.read(...given);
          },
        }),
    },
    approvals: {
      change() {},
      scriptsOf: (_: unknown, known?: { readonly scripts?: ReadonlyMap<string, string> }) => [
        ...scripts(known?.scripts ?? new Map()),
      ],
      judge(_: unknown, given: CallFacts, rules: readonly AllowRule[]): Verdict {
        facts.push(given);
        asked.push(rules);
        const word = rules.length > 0 ? "allow" : verdict;
        return { verdict: word, risk: "low", layer: "tool", reason: "", findings: [], always: [] };
      },
    },
  };
  const judge = async ({ isTainted = false, input = {} }: { isTainted?: boolean; input?: object } = {}) => {
    const judged = await judgeCall(
      parts,
      {
        ...{ conversation, toolkit: openToolkit([tool]), said: [] },
        history: { messages: [], isTainted },
      },
      { ...call, arguments: JSON.stringify(input) },
    );
    assert.ok(judged.ok);
    return judged.value;
  };
  const put = (path: string, text: string) => {
    mkdirSync(join(place.folder, path, ".."), { recursive: true });
    writeFileSync(join(place.folder, path), text);
  };
  return { judge, put, facts, asked, looked, parts, conversation, rulesRead: () => rulesRead };
}

const scriptsOf = (facts: readonly CallFacts[]) => Object.fromEntries(facts.at(-1)?.scripts ?? []);

test("scripts are read up to a quarter of a megabyte and up to 32 of them, by whatever path they are named; beyond that they are there and unread [H1]", async (t) => {
  const names = Array.from({ length: 33 }, (_, index) => `s${index}.sh`);
  const { judge, put, facts } = await judging(t, { scripts: () => names });
  for (const name of names) put(name, `echo ${name}`);
  const { hasScripts } = await judge();
  const texts = Object.values(scriptsOf(facts));
  assert.deepEqual([hasScripts, texts.length, texts.filter((text) => text === unreadScript).length], [true, 33, 1]);
  const long = await judging(t, { scripts: () => ["whole.sh", "/workspace/w1/long.sh"] });
  long.put("whole.sh", "x".repeat(scriptBytesMax));
  long.put("long.sh", "x".repeat(scriptBytesMax + 1));
  await long.judge();
  assert.deepEqual(scriptsOf(long.facts), {
    ...{ "whole.sh": "x".repeat(scriptBytesMax), "/workspace/w1/long.sh": unreadScript },
  });
});

test("what lies outside the files, or is not there, is no script that can be read; of more than 400 names no more are looked for [H1][S5]", async (t) => {
  const outside = ["/etc/passwd", "../x.sh", "..", "/workspace/other/x.sh", "missing.sh"];
  const { judge, facts, looked } = await judging(t, { scripts: () => outside });
  const { scripts, hasScripts } = await judge();
  assert.deepEqual([scripts, hasScripts, scriptsOf(facts), looked], [undefined, true, {}, ["missing.sh"]]);
  const many = await judging(t, { scripts: () => Array.from({ length: 402 }, (_, index) => `m${index}.py`) });
  await many.judge();
  assert.deepEqual(
    [many.looked.length, scriptsOf(many.facts)],
    [400, { "m400.py": unreadScript, "m401.py": unreadScript }],
  );
});

test("a decision is about the texts of all scripts, each at its path: another text, another place or one more is another decision, their order is not [H1][H2]", async (t) => {
  const hashOf = async (files: Readonly<Record<string, string>>, names = Object.keys(files)) => {
    const { judge, put } = await judging(t, { scripts: () => names });
    for (const [path, text] of Object.entries(files)) put(path, text);
    return (await judge()).scripts;
  };
  const hashes = [
    await hashOf({ "a.sh": "one", "b.sh": "two" }),
    await hashOf({ "a.sh": "two", "b.sh": "one" }),
    await hashOf({ "a.sh": "one", "b.sh": "three" }),
    await hashOf({ "a.sh": "one" }),
    await hashOf({ "a.sh": "one", "b.sh": "two", "c.sh": "" }),
    await hashOf({ "a.sh": "x".repeat(scriptBytesMax + 1) }),
    await hashOf({ "a.sh": "y".repeat(scriptBytesMax + 1) }),
  ];
  assert.deepEqual([new Set(hashes).size, hashes.includes(undefined)], [7, false]);
  assert.equal(await hashOf({ "a.sh": "one", "b.sh": "two" }, ["b.sh", "a.sh"]), hashes[0]);
  assert.equal(await hashOf({}), undefined);
});

test("what was allowed always is looked up only for what a person would be asked about, with what is allowed besides; a call is judged by what its agent has read [H1][H2]", async (t) => {
  const allowed = await judging(t);
  await allowed.judge();
  assert.deepEqual([allowed.rulesRead(), allowed.asked], [0, [[]]]);
  const { judge, parts, conversation, rulesRead, asked, facts } = await judging(t, { verdict: "ask" });
  assert.equal((await judge()).verdict.verdict, "ask");
  const rule: AllowRule = {
    ...{ id: "r", at: 0, scope: "user", tool: "work", by: localOwner },
    match: { match: "call", hash: "h", shown: "" },
  };
  const judged = await judgeCall(
    parts,
    { conversation, toolkit: openToolkit([tool]), said: [], history: { messages: [], isTainted: true } },
    call,
    [rule],
  );
  assert.ok(judged.ok);
  assert.deepEqual([judged.value.verdict.verdict, rulesRead(), asked.at(-1)], ["allow", 2, [rule]]);
  assert.deepEqual(
    facts.map(({ tainted, network, contained, root, addressNamed }) => [
      tainted,
      network,
      contained,
      root,
      addressNamed,
    ]),
    [
      [false, true, true, "/workspace/w1", false],
      [true, true, true, "/workspace/w1", false],
      [true, true, true, "/workspace/w1", false],
    ],
  );
});

test("a call of an agent without files of its own is judged without scripts, and a tool that is not there is refused before it [H1]", async (t) => {
  const { parts, conversation } = await judging(t, { scripts: () => ["a.sh"] });
  const nobody = {
    ...parts,
    workspaces: { ofAgent: async () => failed(makeFailure("workspace_not_assigned", { agent: "a" })) },
  };
  const place = { conversation, toolkit: openToolkit([tool]), said: [], history: { messages: [], isTainted: false } };
  const judged = await judgeCall(nobody, place, call);
  assert.deepEqual(judged.ok && [judged.value.scripts, judged.value.tool.name], [undefined, "work"]);
  const none = await judgeCall(parts, place, { ...call, name: "no_such" });
  assert.equal(none.ok || none.failure.code, "tool_not_found");
});
