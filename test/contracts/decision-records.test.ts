import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { checkRecord } from "../../src/log/log.ts";
import type { EventType } from "../../src/protocol/events.ts";
import { copyRecord } from "../../src/storage/postgres/look-at-server.ts";
import { openPostgres } from "../../src/storage/postgres/postgres.ts";
import { fillCopy } from "../../src/storage/sqlite/fill-copy.ts";
import { lookAtRecord } from "../../src/storage/sqlite/look-at-record.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { say, toldResults, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { cannotStore, postgresServer } from "../world/postgres-server.ts";
import { makeHome } from "../world/program.ts";
import { effectTool } from "../world/tools.ts";
import { startYard } from "../world/yard.ts";
import { alice, bob, fact, makeConversation, morning, unwrap } from "./storage-place.ts";

/** Every turn pays twice, for which the user is asked, and then ends. */
async function place(t: TestContext) {
  const data = folderWith(t, {});
  const model = await modelServer((request) =>
    stepOf(request) > 0 ? says("done") : calls(["pay", { mark: "a" }], ["pay", { mark: "b" }]),
  );
  t.after(() => model.close());
  const tools = [effectTool("pay", "unsafe", join(data, "marks"), { asks: true })];
  const database = join(data, "sessions.db");
  return { parts: { data, model, tools }, database };
}

type Place = Awaited<ReturnType<typeof place>>;

/** A turn in which one call is approved and the other rejected. */
async function decideTwice({ parts }: Place, conversation?: string): Promise<string> {
  await using yard = await startYard(parts);
  const rested = await yard.ask("go", conversation === undefined ? {} : { conversation });
  const [first, second] = await waitingIn(yard, rested.conversation);
  assert.deepEqual(await say(yard, first, { verdict: "approve" }), []);
  assert.deepEqual(await say(yard, second, { verdict: "reject", reason: "no" }), []);
  assert.equal((await yard.whenAtRest(rested.conversation)).answer, "done");
  return rested.conversation;
}

function change(database: string, sql: string, ...values: string[]): void {
  const opened = new DatabaseSync(database);
  const { changes } = opened.prepare(sql).run(...values);
  assert.equal(changes, 1);
  opened.close();
}

function checked(database: string): { decisions: number; faults: string[] } {
  const looked = lookAtRecord(database, (record) => {
    const { rows, gaps, idOf } = record;
    const faults: string[] = [];
    const check = checkRecord(rows, record);
    let step = check.next();
    for (; !step.done; step = check.next()) faults.push(`${idOf(step.value.number)} ${step.value.what}`);
    for (const { number } of gaps) faults.push(`${idOf(number)} gap`);
    return { decisions: step.value.decisions, faults };
  });
  return looked.ok && looked.value !== undefined ? looked.value : assert.fail();
}

test("doctor finds one changed byte of the record and a rule that nobody made, and names what is wrong [H2][P2]", async (t) => {
  const where = await place(t);
  const conversation = await decideTwice(where);
  const home = makeHome(t);
  const doctor = async () => {
    const { code, output } = await home.start("doctor", "--json", "--data", where.parts.data).ended;
    const { checks } = JSON.parse(output);
    return { code, found: checks.filter(({ name }: { name: string }) => name === "decisions") };
  };
  const fine = await doctor();
  assert.deepEqual(
    fine.found.map(({ status, text }: { status: string; text: string }) => [status, text]),
    [["ok", "Record of decisions: 2 checked, all hold"]],
  );
  change(
    where.database,
    `UPDATE event SET body = replace(body, '"verdict":"reject"', '"verdict":"approve"')
      WHERE type = 'decision.made' AND body LIKE '%"verdict":"reject"%'`,
  );
  const rule = { tool: "pay", scope: "user", match: { match: "call", hash: "", shown: "" }, at: 1, by: "local" };
  change(
    where.database,
    "INSERT INTO rule (owner, id, number, body, at) VALUES ('local', 'deadbeef', NULL, ?, 1)",
    JSON.stringify({ id: "deadbeef", ...rule }),
  );
  const broken = await doctor();
  assert.equal(broken.code, 1);
  const texts = broken.found.map(({ text }: { text: string }) => text);
  assert.ok(
    texts.includes("The rule deadbeef allows something always, and no decision on record says so."),
    `${texts}`,
  );
  assert.match(
    broken.found[0].text,
    new RegExp(
      `^The record of decisions does not hold in conversation ${conversation}, event \\d+: the decision, or what was asked for it, is not what was stored\\.$`,
    ),
  );
});

test("a decision that was taken out of the record is missed, also the last one [H2]", async (t) => {
  const where = await place(t);
  const conversation = await decideTwice(where);
  change(where.database, "DELETE FROM event WHERE id = (SELECT max(id) FROM event WHERE type = 'decision.made')");
  assert.deepEqual(checked(where.database), {
    decisions: 1,
    faults: [`${conversation} made_missing`, `${conversation} gap`],
  });
});

test("a decision whose hash was taken away is not one from before there were hashes [H2]", async (t) => {
  const where = await place(t);
  const conversation = await decideTwice(where);
  const database = new DatabaseSync(where.database);
  for (const row of database.prepare("SELECT id, body FROM event WHERE type LIKE 'decision.%'").all()) {
    const { hash: _, ...body } = JSON.parse(String(row.body));
    const forged = "by" in body ? { ...body, by: "eve" } : body;
    database.prepare("UPDATE event SET body = ? WHERE id = ?").run(JSON.stringify(forged), row.id ?? 0);
  }
  database.close();
  assert.deepEqual(checked(where.database), {
    decisions: 2,
    faults: ["asked", "asked", "made", "made"].map((what) => `${conversation} ${what}_changed`),
  });
});

test("a tool never runs with other bytes than those that were approved [H2]", async (t) => {
  const where = await place(t);
  const { model } = where.parts;
  const first = await startYard(where.parts);
  const { conversation } = await first.ask("go");
  await first[Symbol.asyncDispose]();
  // Somebody changes what the model asked for, but not what the user was shown.
  change(
    where.database,
    `UPDATE event SET body = replace(body, '\\"mark\\":\\"a\\"', '\\"mark\\":\\"evil\\"') WHERE type = 'message.assistant'`,
  );
  await using yard = await startYard(where.parts);
  for (const decision of await waitingIn(yard, conversation))
    assert.deepEqual(await say(yard, decision, { verdict: "approve" }), []);
  const { events } = await yard.whenAtRest(conversation);
  assert.deepEqual(
    all(events, "call.finished")
      .toSorted((one, other) => one.call.localeCompare(other.call))
      .map(({ outcome, failure }) => [outcome, failure?.code]),
    [
      ["error", "decision_broken"],
      ["ok", undefined],
    ],
  );
  const [broken] = toldResults(model.asked.at(-1)?.body ?? { messages: [] });
  assert.match(
    broken ?? "",
    /^Error: decision_broken: Decision [0-9a-f]{12} was made about other arguments than these/,
  );
});

// What doctor reads to check the record of decisions, from a file and from a copy of what a server has.

const oldSql = "INSERT INTO old_decision VALUES ('from long ago')";

test("a check of decisions sees all that says whether somebody went on without one, what is still asked, what is old, and which rules may have lost their record [H2][P2]", async (t) => {
  const path = join(folderWith(t, {}), "sessions.db");
  const storage = unwrap(openSqlite({ path, clock: systemClock }));
  await fill(storage);
  await storage.close();
  using database = new DatabaseSync(path);
  database.exec(oldSql);
  assert.deepEqual(lookedAt(path), expected);
  // The first that is missing is named.
  database.exec(`DELETE FROM event WHERE id IN (${2 ** 24 + 3}, ${2 ** 24 + 5})`);
  assert.deepEqual(lookedAt(path).gaps, [{ number: 1, seq: 3 }]);
});

test("on a database server it sees the same [H2][P2][N1]", { skip: cannotStore }, async (t) => {
  const server = await postgresServer();
  const url = await server.emptyPlace();
  const storage = unwrap(await openPostgres({ url, clock: systemClock, fillCopy }));
  t.after(() => storage.close());
  await fill(storage);
  await server.run(`SET search_path = ${new URL(url).searchParams.get("schema")}; ${oldSql}`);
  const path = join(folderWith(t, {}), "copy.db");
  const place = { url, synchronous: "full", statementMsMax: 60_000, clock: systemClock } as const;
  const copied = await copyRecord(place, path, fillCopy);
  assert.deepEqual(copied.ok && copied.value, { conversations: 2, events: 10 });
  assert.deepEqual(lookedAt(path), expected);
});

const types: readonly EventType[] = [
  ...(["message.user", "decision.asked", "decision.made", "call.started", "call.finished"] as const),
  ...(["step.started", "turn.finished", "rewound"] as const),
];

async function fill(storage: Storage): Promise<void> {
  const number = await makeConversation(storage, "asked");
  const asked = [{ decision: "open", body: "{}" }];
  unwrap(await storage.append({ number, events: types.map((type) => fact("x", type)), with: { asked } }));
  // Where nobody was asked nothing is looked at, but what no program of ours has written.
  const other = await makeConversation(storage, "plain");
  const strange = { ...fact("x"), version: 2 };
  unwrap(await storage.append({ number: other, events: [fact("x", "call.started"), strange] }));
  for (const [owner, at] of [[alice, morning] as const, [bob, morning + 9] as const]) {
    const gone = await makeConversation(storage, "gone", owner);
    unwrap(await storage.append({ number: gone, events: [], with: { deleted: { at } } }));
  }
  const rule = { number: undefined, body: "{}" };
  for (const [owner, id, at] of [
    [alice, "before", morning],
    [alice, "after", morning + 1],
    [bob, "his", morning + 9],
  ] as const)
    unwrap(await storage.putRule({ ...rule, owner, id, at }));
}

const expected = {
  rows: [
    ...["1/2 decision.asked", "1/3 decision.made", "1/4 call.started", "1/6 step.started", "1/7 turn.finished"],
    ...["1/8 rewound", "2/2 message.user"],
  ],
  isOld: [true, false],
  isOpen: [true, false, false],
  owners: ["alice", "alice", "alice", "bob", undefined],
  ids: ["asked", "9"],
  rules: ["before true", "after false", "his true"],
  gaps: [],
};

function lookedAt(path: string) {
  const looked = lookAtRecord(path, (record) => ({
    rows: [...record.rows].map(({ number, seq, type }) => `${number}/${seq} ${type}`),
    isOld: ["from long ago", "open"].map(record.isOld),
    isOpen: [record.isOpen(1, "open"), record.isOpen(2, "open"), record.isOpen(1, "made")],
    owners: [1, 2, 3, 4, 9].map(record.ownerOf),
    ids: [1, 9].map(record.idOf),
    rules: [...record.rules].map(({ id, mayBeLost }) => `${id} ${mayBeLost}`),
    gaps: [...record.gaps],
  }));
  return unwrap(looked) ?? assert.fail("there is a record");
}
