import assert from "node:assert/strict";
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { until } from "../world/events.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { writes } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const dayMs = 86_400_000;

test("files of last month come back from the trash beside what the agent has made since, across restarts [W10][W4]", async (t) => {
  const data = dataFolder(t);
  const clock = movableClock();
  await using model = await modelServer([
    ...[calls(writes("outputs/report.md", "first"), writes("temp/draft", "x")), says("done")],
    ...[calls(["list_files", {}], writes("outputs/report.md", "second")), says("done again")],
  ]);
  const id = "monthly";
  {
    await using yard = await startYard({ model, data, clock });
    await must(yard.client.call("createConversation", { body: { id } }));
    await yard.ask("write the report", { conversation: id });
    clock.move(20 * dayMs);
    const cleaned = await must(yard.client.call("cleanWorkspaces", { body: {} }));
    assert.deepEqual(cleaned, { workspaces: 1, bytes: 5, skipped: 0, days: 7 });
  }
  await using yard = await startYard({ model, data, clock });
  const { items } = await must(yard.client.call("listConversations", { query: {} }));
  assert.deepEqual(
    items.map((item) => item.id),
    [id],
    "the conversation itself is not cleaned up",
  );
  assert.equal((await stateOf(yard, id)).filesRemovedAt, clock.now());
  await yard.ask("once more", { conversation: id });
  const listed = model.asked[3]?.body.messages.filter((message) => message.role === "tool").at(-2);
  assert.match(String(listed?.content), /^\(no files/, "the agent begins with an empty workspace");
  assert.equal((await stateOf(yard, id)).filesRemovedAt, null);
  const [entry] = (await must(yard.client.call("listTrash"))).items;
  assert.ok(entry);
  const restored = await must(yard.client.call("restoreTrash", { params: { trash: entry.id.slice(0, 5) } }));
  const beside = `outputs/restored-${entry.id}`;
  assert.deepEqual(restored, { conversation: id, files: 1, beside: [beside] });
  assert.deepEqual(filesIn(data, `workspace/${id}`), {
    "outputs/report.md": "second",
    [`${beside}/report.md`]: "first",
  });
});

test("a conversation that waits for a person keeps its files, however long it takes [W10]", async (t) => {
  const clock = movableClock();
  await using model = await modelServer([
    calls(writes("outputs/a.md", "x")),
    calls(["ask_human", { question: "Which one?" }]),
    says("that one, then"),
  ]);
  await using yard = await startYard({ model, data: dataFolder(t), clock });
  const { conversation, status } = await yard.ask("go");
  assert.equal(status, "waiting");
  clock.move(90 * dayMs);
  const clean = () => must(yard.client.call("cleanWorkspaces", { body: {} }));
  assert.equal((await clean()).workspaces, 0);
  const [decision] = (await must(yard.client.call("listDecisions"))).items;
  const answer = { verdict: "answer", answer: "the first" } as const;
  await must(yard.client.call("decide", { params: { id: conversation, decision: decision?.id ?? "" }, body: answer }));
  await yard.whenAtRest(conversation);
  assert.equal((await clean()).workspaces, 0, "it was just used");
  clock.move(8 * dayMs);
  await until("its turn is over for good", async () => (await clean()).workspaces === 1);
});

test("what an agent makes in one conversation does not exist in another [W1][W5]", async () => {
  await using model = await modelServer([
    ...[calls(writes("outputs/secret.md", "mine")), says("done")],
    calls(
      ["read_file", { path: "outputs/secret.md" }],
      ["read_file", { path: "../first/outputs/secret.md" }],
      ["find_files", { pattern: "**/*" }],
      ["list_files", { path: "outputs" }],
    ),
    says("nothing there"),
  ]);
  await using yard = await startYard({ model });
  for (const id of ["first", "second"]) await must(yard.client.call("createConversation", { body: { id } }));
  await yard.ask("write", { conversation: "first" });
  await yard.ask("look around", { conversation: "second" });
  const results = model.asked[3]?.body.messages.filter((message) => message.role === "tool") ?? [];
  const texts = results.map((message) => String(message.content));
  assert.equal(texts.length, 4);
  assert.match(texts[0] ?? "", /^Error: file_not_found/);
  assert.match(texts[1] ?? "", /^Error: path_traversal_blocked/);
  for (const text of texts) assert.doesNotMatch(text, /mine/);
});

test("files of a conversation that was deleted just before a crash are removed at the next start [S6]", async (t) => {
  const data = dataFolder(t);
  await using model = await modelServer([
    calls(writes("outputs/a.md", "one"), writes("outputs/a.md", "two")),
    says("done"),
  ]);
  const id = "doomed";
  {
    const kept: { storage?: Storage } = {};
    const wrapStorage = (storage: Storage) => {
      kept.storage = storage;
      return storage;
    };
    await using yard = await startYard({ model, data, wrapStorage });
    await must(yard.client.call("createConversation", { body: { id } }));
    await yard.ask("go", { conversation: id });
    const found = await must(yard.log.find(localOwner, id));
    // The tombstone is stored, and then the process is gone.
    await kept.storage?.append({ number: found.number, events: [], with: { deleted: { at: systemClock.now() } } });
  }
  assert.ok(existsSync(join(data, "workspace", id)));
  await using _yard = await startYard({ model, data });
  await until("its folders are gone", () => namesBelow(data).every((name) => !name.includes(id)));
});

test("looking at conversations, files and the trash makes no folder [W2][C1]", async () => {
  await using yard = await startYard();
  const { client } = yard;
  const before = namesBelow(yard.data);
  for (const id of ["unknown", "..", "%2e%2e", "uploads"]) {
    await client.call("getConversation", { params: { id }, query: {} });
    await client.call("getState", { params: { id } });
    await client.call("listFiles", { params: { id }, query: {} });
    await client.download(id, "outputs/a.txt");
    await client.call("restoreTrash", { params: { trash: id } });
  }
  await client.call("listTrash");
  assert.deepEqual(namesBelow(yard.data), before);
});

function dataFolder(t: TestContext): string {
  const data = mkdtempSync(join(tmpdir(), "agentyard-workspaces-"));
  t.after(() => rmSync(data, { recursive: true, force: true }));
  return data;
}

/** The real clock, put forward. */
function movableClock() {
  let ahead = 0;
  const at = systemClock.now();
  const move = (ms: number) => {
    ahead += ms;
  };
  return { ...systemClock, now: () => at + ahead, move };
}

function stateOf({ client }: TestYard, id: string) {
  return must(client.call("getState", { params: { id } }));
}

function filesIn(data: string, folder: string): Record<string, string> {
  const names = readdirSync(join(data, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== ".metadata.json")
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    names.map((name) => [name.slice(join(data, folder).length + 1), readFileSync(name, "utf8")]),
  );
}

/** Everything below the data directory but the log files. */
function namesBelow(data: string): string[] {
  return globSync("**", { cwd: data })
    .filter((name) => !name.startsWith("logs"))
    .sort();
}
