import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { systemIds } from "../../src/base/ids.ts";
import type { Client } from "../../src/client/client.ts";
import type { NewEvent } from "../../src/protocol/events.ts";
import { OwnerId } from "../../src/protocol/ids.ts";
import { withoutMarks } from "../../src/words/words.ts";
import { peopledYard } from "../world/callers.ts";
import { all } from "../world/events.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { paragraph, pdf, printed } from "../world/pdf-files.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

const manual = pdf([
  {
    content: printed([
      { text: "1 Unpacking", at: [72, 780], font: "F2", size: 20 },
      ...paragraph(700, ["Two people."]),
    ]),
  },
  {
    content: printed([
      { text: "2 Care", at: [72, 780], font: "F2", size: 20 },
      ...paragraph(700, ["The walrus filter."]),
    ]),
  },
]);

type Asked = { in?: "files" | "messages" | "all"; conversation?: string; limit?: number };

async function find(client: Client, q: string, more: Asked = {}) {
  return must(client.call("search", { query: { q, ...more } }));
}

/** Each hit in a word: `file uploads/a.txt`, `message 3`. */
async function places(client: Client, q: string, more: Asked = {}): Promise<string[]> {
  const { items } = await find(client, q, more);
  return items.map(({ kind, path, seq }) => `${kind} ${path ?? seq}`);
}

const said = (text: string, id = text): NewEvent => ({ type: "message.user", id, text, mode: "queue" });

async function say(yard: TestYard, conversation: string, ...texts: string[]): Promise<void> {
  const row = await must(yard.log.find(OwnerId.parse("local"), conversation));
  await must(
    yard.log.append(
      row.number,
      texts.map((text) => said(text)),
    ),
  );
}

test("one search finds messages, documents and texts of all conversations, each with its place [D3][F3]", async () => {
  await using model = await modelServer([says("The walrus lives on page two, 海象住在第二页。")]);
  await using yard = await startYard({ model });
  const { client } = yard;
  const { conversation } = await yard.ask("Where does the walrus live?");
  await must(client.call("changeConversation", { params: { id: conversation }, body: { title: "Zoo" } }));
  await yard.start("files");
  assert.ok(!existsSync(join(yard.data, "indexes.db")), "who searches nothing and has no document has no index");
  await must(client.upload("files", "manual.pdf", manual));
  await must(client.upload("files", "notes.txt", Buffer.from("one\ntwo\nthe walrus eats mussels\n")));
  await must(client.upload("files", "data.bin.txt", Buffer.from("x".repeat(6_000_000))));

  const everything = await find(client, "walrus");
  const shown = everything.items.map(({ kind, conversation: where, path, seq, who, from, snippet }) => ({
    ...{ kind, where: where.id, place: path ?? seq, who, page: from?.page, line: from?.line, snippet },
  }));
  const sorted = shown.toSorted((one, other) => String(one.place).localeCompare(String(other.place)));
  const question = { kind: "message", where: conversation, page: undefined, line: undefined };
  assert.deepEqual(sorted, [
    { ...question, place: 1, who: "user", snippet: "Where does the **walrus** live?" },
    { ...question, place: 5, who: "agent", snippet: "The **walrus** lives on page two, 海象住在第二页。" },
    {
      ...{ kind: "file", where: "files", place: "uploads/manual.pdf", who: undefined, page: 2, line: undefined },
      snippet: "2 Care\nThe **walrus** filter.",
    },
    {
      ...{ kind: "file", where: "files", place: "uploads/notes.txt", who: undefined, page: undefined, line: 1 },
      snippet: "one\ntwo\nthe **walrus** eats mussels",
    },
  ]);
  // Between slashes it is a pattern, in files and messages alike.
  const byPattern = await find(client, "/wal[rs]us (eats|live)/");
  assert.deepEqual(byPattern.items.map(({ snippet }) => snippet).sort(), [
    "The **walrus live**s on page two, 海象住在第二页。",
    "Where does the **walrus live**?",
    "one\ntwo\nthe **walrus eats** mussels",
  ]);
  assert.deepEqual([byPattern.total, byPattern.isPartial], [3, false]);
  const unfit = await client.call("search", { query: { q: "/walrus(/" } });
  assert.equal(!unfit.ok && unfit.failure.code, "pattern_invalid");
  assert.ok(everything.items.every(({ score }, index, items) => score <= (items[index - 1]?.score ?? score)));
  assert.deepEqual([everything.total, everything.conversationsBehind, everything.isPartial], [4, 0, false]);
  assert.deepEqual(everything.unsearched, [
    {
      conversation: "files",
      path: "uploads/data.bin.txt",
      state: "failed",
      done: 0,
      of: 0,
      code: "document_too_large",
    },
  ]);
  assert.equal(everything.items.find(({ kind }) => kind === "message")?.conversation.title, "Zoo");

  assert.deepEqual((await places(client, "walrus", { in: "messages" })).sort(), ["message 1", "message 5"]);
  assert.deepEqual((await places(client, "walrus", { in: "files" })).sort(), [
    "file uploads/manual.pdf",
    "file uploads/notes.txt",
  ]);
  assert.deepEqual((await places(client, "walrus", { conversation })).sort(), ["message 1", "message 5"]);
  assert.equal((await places(client, "walrus", { limit: 1 })).length, 1);
  assert.deepEqual(await places(client, "海象住哪里"), ["message 5"]);
  const typo = await find(client, "walris mussels", { in: "files" });
  assert.deepEqual(typo.repaired, [{ said: "walris", meant: "walrus" }]);
  const nowhere = await find(client, "zeppelin");
  assert.deepEqual([nowhere.items, nowhere.missing], [[], ["zeppelin"]]);
  assert.deepEqual(await yard.faults(), []);
});

test("what is undone, withdrawn, removed or deleted is no longer found; a branch is found by itself [D2][Z3]", async () => {
  await using model = await modelServer(() => says("noted"));
  await using yard = await startYard({ model });
  const { client } = yard;
  const { conversation } = await yard.ask("the first zeppelin");
  const branch = await must(client.call("branchConversation", { params: { id: conversation }, body: {} }));
  await yard.ask("the second zeppelin", { conversation });
  const where = async (q: string) =>
    (await find(client, q)).items.map((hit) => `${hit.conversation.id} ${hit.snippet}`);
  const first = `${conversation} the first **zeppelin**`;
  const copied = `${branch.id} the first **zeppelin**`;
  assert.deepEqual((await where("zeppelin")).sort(), [first, `${conversation} the second **zeppelin**`, copied].sort());
  await must(client.call("undoTurn", { params: { id: conversation } }));
  assert.deepEqual((await where("zeppelin")).sort(), [first, copied].sort());
  await yard.ask("the third zeppelin", { conversation });
  assert.deepEqual((await where("zeppelin")).sort(), [first, `${conversation} the third **zeppelin**`, copied].sort());
  await must(client.call("deleteConversation", { params: { id: conversation } }));
  assert.deepEqual(await where("zeppelin"), [copied]);

  await say(yard, branch.id, "to be taken back");
  assert.equal((await where("taken back")).length, 1);
  const row = await must(yard.log.find(OwnerId.parse("local"), branch.id));
  await must(yard.log.append(row.number, [{ type: "message.withdrawn", id: "to be taken back" }]));
  assert.deepEqual(await where("taken back"), []);

  await must(client.upload(branch.id, "a.txt", Buffer.from("an airship")));
  assert.equal((await where("airship")).length, 1);
  // By a program, say: nobody is told.
  const folder = join(yard.data, "workspace", branch.id, "uploads");
  writeFileSync(join(folder, "a.txt"), "a balloon, that is");
  assert.deepEqual([await where("airship"), (await where("balloon")).length], [[], 1]);
  rmSync(join(folder, "a.txt"));
  assert.deepEqual(await where("balloon"), []);
  assert.deepEqual(await yard.faults(), []);
});

/** One kill is like the next; more of them in `npm run torture`. */
const kills = process.env.AGENTYARD_SEARCH_KILLS === "every" ? ["1", "3", "5", "7"] : ["3"];

test("killed in the middle of indexing, it goes on where it was, and finds each message once [D2]", async () => {
  const data = await mkdtemp(join(tmpdir(), "agentyard-killed-"));
  try {
    for (const batches of kills) {
      const program = fileURLToPath(import.meta.resolve("../world/killed-lookup.ts"));
      const child = spawn(process.execPath, [program, data, batches], { stdio: ["ignore", "inherit", "inherit"] });
      assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
    }
    await using yard = await startYard({ data });
    const { items, total, conversationsBehind } = await find(yard.client, "number 17 or 1999", { limit: 100 });
    assert.equal(conversationsBehind, 0);
    assert.equal(total, 1_000);
    const seqs = new Set(items.map(({ seq }) => seq));
    assert.equal(seqs.size, items.length);
    assert.ok(items.slice(0, 4).some(({ snippet }) => snippet.includes("**1999**")));
    const once1999 = await find(yard.client, "heron1999");
    assert.deepEqual(
      once1999.items.map(({ snippet }) => snippet),
      ["**heron1999** is number 1999"],
    );
  } finally {
    await rm(data, { recursive: true, force: true });
  }
});

test("nobody finds what is another's: two users say and upload the same, and delete it [D2][Q1]", async () => {
  await using yard = await peopledYard();
  const owners = ["ann", "bob"].map((name) => OwnerId.parse(name));
  const keys = await Promise.all(owners.map((owner) => yard.keyOf(owner)));
  const words = ["heron", "otter", "苍鹭", "水獭"];
  type Step = { who: 0 | 1; what: "say" | "upload" | "remove" | "delete" | "rewind"; word: number };
  const step: fc.Arbitrary<Step> = fc.record({
    who: fc.constantFrom(0 as const, 1 as const),
    what: fc.constantFrom("say" as const, "upload" as const, "remove" as const, "delete" as const, "rewind" as const),
    word: fc.nat(words.length - 1),
  });
  let round = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      round += 1;
      const rows = await Promise.all(owners.map((owner) => yard.start(`c${round}-${owner}`, owner)));
      const expected: [Set<string>, Set<string>] = [new Set(), new Set()];
      const gone = new Set<number>();
      for (const { who, what, word } of steps) {
        const row = rows[who];
        if (row === undefined || gone.has(who)) continue;
        const text = `the ${words[word]} of everybody`;
        const files = yard.workspaces.ofConversation(row);
        if (what === "say") {
          const { lastSeq } = await must(yard.log.append(row.number, [said(text, `${lastId++}`)]));
          expected[who].add(`message ${lastSeq} ${word}`);
        } else if (what === "upload") {
          await must(files.write(`uploads/${word}.txt`, text));
          expected[who].add(`file uploads/${word}.txt ${word}`);
        } else if (what === "remove") {
          await files.remove(`uploads/${word}.txt`);
          expected[who].delete(`file uploads/${word}.txt ${word}`);
        } else if (what === "rewind") {
          await must(yard.log.append(row.number, [{ type: "rewound", to: 0, cause: "reset" }]));
          for (const each of expected[who]) if (each.startsWith("message")) expected[who].delete(each);
        } else {
          await must(yard.engine.remove(row));
          expected[who].clear();
          gone.add(who);
        }
      }
      for (const [who, key] of keys.entries()) {
        for (const [word, written] of words.entries()) {
          const address = `GET /api/v1/search?q=${encodeURIComponent(written)}&limit=100`;
          const { text, status } = await yard.call(address, { authorization: `Bearer ${key}` });
          assert.equal(status, 200, text);
          const found: string[] = JSON.parse(text).items.map(
            (hit: { kind: string; path?: string; seq?: number; conversation: { id: string } }) => {
              assert.equal(hit.conversation.id, `c${round}-${owners[who]}`);
              return `${hit.kind} ${hit.path ?? hit.seq} ${word}`;
            },
          );
          const own = [...(expected[who as 0 | 1] ?? [])].filter((each) => each.endsWith(` ${word}`));
          assert.deepEqual(found.sort(), own.sort());
        }
        const [row] = rows.filter((_, index) => index === who && !gone.has(index));
        if (row !== undefined) await must(yard.engine.remove(row));
      }
    }),
    { numRuns: Number(process.env.AGENTYARD_PROPERTY_RUNS ?? 4) },
  );
});

test("a key for files finds files and one for chats messages, and nothing of another's [D2][Q1]", async () => {
  await using yard = await peopledYard();
  const key = await yard.keyOf("ann", ["files"]);
  const refused = await yard.call("GET /api/v1/search?q=x", { authorization: `Bearer ${key}` });
  assert.deepEqual([refused.status, refused.code], [403, "scope_missing"]);
  assert.equal((await yard.call("GET /api/v1/search?q=x&in=files", { authorization: `Bearer ${key}` })).status, 200);
  const chat = `Bearer ${await yard.keyOf("ann", ["chat"])}`;
  const found = ["all", "files", "messages"].map((where) => `GET /api/v1/search?q=x&in=${where}`);
  const statuses = await Promise.all(
    found.map(async (wanted) => (await yard.call(wanted, { authorization: chat })).status),
  );
  assert.deepEqual(statuses, [403, 403, 200], "in files nobody looks with a key for chats");
  const other = await yard.start("bobs", OwnerId.parse("bob"));
  const foreign = `GET /api/v1/search?q=x&in=files&conversation=${other.id}`;
  assert.equal((await yard.call(foreign, { authorization: `Bearer ${key}` })).status, 404);
});
let lastId = 0;

test("search_history finds what was said and found in other conversations by the index, in parts of words too [Z3]", async () => {
  await using model = await modelServer(() => says("done"));
  await using yard = await startYard({ model });
  model.answerWith([calls(["list_files", {}]), says("The kingfisher is blue.\nAnd quick.")]);
  const older = await yard.ask("Tell me of kingfishers, 翠鸟也行");
  await yard.start("tools");
  const row = await must(yard.log.find(OwnerId.parse("local"), "tools"));
  const answer = {
    turn: 1,
    step: 1,
    text: "",
    finish: "tool_calls",
    usage: { input: 1, output: 1 },
    durationMs: 1,
  } as const;
  const asked = ["look", "search_history"].map((name, index) => ({ id: String(index), name, arguments: "{}" }));
  await must(
    yard.log.append(row.number, [
      { type: "message.assistant", ...answer, calls: asked },
      { type: "call.finished", call: "0", outcome: "ok", text: "a kingfisher in a file" },
      { type: "call.finished", call: "1", outcome: "ok", text: "a kingfisher again" },
    ]),
  );
  const seek = async (query: string) => {
    model.answerWith([calls(["search_history", { query }]), says("no")]);
    const { events } = await yard.ask("look it up");
    return withoutMarks(all(events, "call.finished").at(-1)?.text ?? "");
  };
  const found = await seek("ingfish");
  assert.match(found, /^3 matches, newest first; shown: 3\n/);
  const order = ["a kingfisher in a file", "The kingfisher is blue.", ":\nTell me of kingfishers"].map((text) =>
    found.indexOf(text),
  );
  assert.deepEqual(
    order,
    order.toSorted((one, another) => one - another),
  );
  assert.ok(found.includes(`conversation ${older.conversation}`) && found.includes("look"), found);
  assert.match(await seek("翠鸟"), /^1 match/);
  assert.match(await seek("blue quick"), /^1 match/);
  assert.deepEqual(await yard.faults(), []);
});

/** The model searches for what the message says after "find", and answers everything else with a yes. */
const seeker = (request: AskedRequest) => {
  const said = String(request.body.messages.findLast(({ role }) => role === "user")?.content);
  const query = /^find (.*)$/m.exec(said)?.[1];
  return query === undefined || stepOf(request) > 0 ? says("Yes, noted.") : calls(["search_history", { query }]);
};

async function findSearchHistory(yard: TestYard, query: string, conversation?: string): Promise<string> {
  const { events } = await yard.ask(`find ${query}`, conversation === undefined ? {} : { conversation });
  return all(events, "call.finished").at(-1)?.text ?? "";
}

test("what was left out to make room is found, also in Chinese and by phrases; what was taken back is not [Z3]", async () => {
  await using model = await modelServer(seeker);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("我们的预算是四千二百欧元，五月之前用完。");
  for (let n = 0; n < 12; n += 1) await yard.ask(`next ${n}`, { conversation });
  const report = await must(
    yard.client.call("compactConversation", { params: { id: conversation }, body: { strategy: "auto" } }),
  );
  assert.ok(report.seq === null || report.messagesAfter < report.messagesBefore);
  assert.match(await findSearchHistory(yard, "预算", conversation), /the user:\n我们的预算是四千二百欧元/);
  assert.match(await findSearchHistory(yard, '"next 3"', conversation), /the user:\nnext 3\n/);
  await yard.ask("the secret plan is a zeppelin", { conversation });
  await must(yard.client.call("undoTurn", { params: { id: conversation } }));
  assert.match(await findSearchHistory(yard, "a zeppelin", conversation), /^1 match|^2 matches/);
  assert.doesNotMatch(await findSearchHistory(yard, "secret plan", conversation), /secret plan is/);
});

test("the user's other conversations are searched, the newest first, and nobody else's [Z3][Q1]", async () => {
  await using model = await modelServer(seeker);
  await using yard = await startYard({ model });
  const older = await yard.ask("The walrus came first.");
  const newer = await yard.ask("The walrus came second.");
  await must(yard.client.call("changeConversation", { params: { id: newer.conversation }, body: { title: "Zoo" } }));
  const other = OwnerId.parse("somebody");
  const theirs = await must(yard.engine.create(other, { id: systemIds.uuid() }));
  await must(
    yard.log.append(theirs.number, [{ type: "message.user", id: "m", text: "A walrus of mine.", mode: "queue" }]),
  );
  const plain = withoutMarks(await findSearchHistory(yard, "walrus came"));
  const places = [`conversation ${newer.conversation} (Zoo)`, `conversation ${older.conversation} (`].map((place) =>
    plain.indexOf(place),
  );
  assert.ok(places.every((place) => place > 0) && (places[0] ?? 0) < (places[1] ?? 0), plain);
  assert.doesNotMatch(withoutMarks(await findSearchHistory(yard, "walrus")), /of mine/);
});
