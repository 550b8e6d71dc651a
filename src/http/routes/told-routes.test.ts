import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type PeopledYard, peopledYard } from "../../../test/world/callers.ts";
import { folderWith } from "../../../test/world/folder.ts";
import { type ModelServer, modelServer, says } from "../../../test/world/model-server.ts";
import { must, startYard } from "../../../test/world/yard.ts";
import { systemClock } from "../../base/clock.ts";

// What small routes tell of what is there.

const agents = [
  { id: "a", name: "A", description: "Does.", prompt: "p", tools: ["read_file"], slot: "code" as const },
  { id: "all", name: "All", description: "Does all.", prompt: "p", tools: undefined, slot: undefined },
];
let now = Date.UTC(2026, 1, 3, 23, 59);
let model: ModelServer;
let yard: PeopledYard;
before(async () => {
  model = await modelServer(() => says("heard"));
  yard = await peopledYard({}, { model, agents, clock: { ...systemClock, now: () => now } });
});
after(async () => {
  await yard[Symbol.asyncDispose]();
  await model.close();
});

const codeOf = (answer: { ok: true } | { ok: false; failure: { code: string } }) =>
  answer.ok ? "ok" : answer.failure.code;

test("a conversation is found by its whole id, by the beginning of it only where that is asked for, and told as it is after it was emptied [S6]", async () => {
  const { client } = yard;
  await yard.start("whole");
  await yard.ask("a question", { conversation: "whole" });
  const get = async (id: string, prefix: boolean) => {
    const answer = await client.call("getConversation", { params: { id }, query: { prefix } });
    return answer.ok ? answer.value.title : answer.failure.code;
  };
  assert.deepEqual(
    [await get("whole", false), await get("who", false), await get("who", true)],
    ["a question", "conversation_not_found", "a question"],
  );
  now += 1_000;
  const emptied = await must(client.call("resetConversation", { params: { id: "whole" } }));
  assert.deepEqual(emptied, await must(client.call("getConversation", { params: { id: "whole" } })));
  assert.equal(emptied.updatedAt, now);
});

test("agents are listed with the tools they have, and all of them where nothing says which [A1]", async () => {
  const { items } = await must(yard.client.call("listAgents"));
  assert.deepEqual(items.slice(2), [
    { id: "a", name: "A", description: "Does.", tools: ["read_file"], slot: "code" },
    { id: "all", name: "All", description: "Does all.", tools: null, slot: null },
  ]);
});

test("a model that was entered under another key is told with what is the matter in words, and of no slot that nobody knows [P4]", async (t) => {
  const data = folderWith(t, {});
  const body = { baseUrl: model.url, model: "m", apiKey: "sk-1" };
  const params = { slot: "code" };
  {
    await using first = await startYard({ data, env: { AGENTYARD_KEY: "a".repeat(64) } });
    assert.equal((await must(first.client.call("enterModel", { params, body }))).broken, null);
  }
  await using later = await startYard({ data, env: { AGENTYARD_KEY: "b".repeat(64) } });
  const { broken } = await must(later.client.call("getModel", { params }));
  assert.match(broken ?? "", /^The stored secret model\/code was sealed under another key .*\. Send the secret anew, /);
  const slot = "x".repeat(99);
  const refused = [
    await later.client.call("getModel", { params: { slot } }),
    await later.client.call("enterModel", { params: { slot }, body }),
    await later.client.call("removeModel", { params: { slot } }),
  ];
  for (const answer of refused) {
    assert.equal(codeOf(answer), "slot_unknown");
    assert.match(answer.ok ? "" : answer.failure.detail, /\bx{80}\b/, "and the beginning of its name");
  }
});

test("whoever need not be known is told to be nobody, and what they may do all the same [C6]", async () => {
  const { status, text } = await yard.call("GET /api/v1/me");
  assert.deepEqual([status, JSON.parse(text)], [200, { user: null, scopes: ["chat", "files", "admin"], by: null }]);
});

test("a backup is a file that is named by its day [Q3]", async () => {
  now = Date.UTC(2026, 1, 5, 23, 59);
  const { headers } = await yard.call("GET /api/v1/backup");
  assert.equal(headers.get("content-type"), "application/x-tar");
  assert.match(headers.get("content-disposition") ?? "", /^attachment; filename="agentyard-2026-02-05\.tar"/);
});

test("a link to sign in is told with whose it is and its end [C6]", async () => {
  await yard.addUser({ id: "ann" });
  const { path: _, ...link } = await must(yard.client.call("makeSignInLink", { params: { user: "ann" } }));
  assert.deepEqual(link, { user: "ann", endsAt: now + 600_000 });
  assert.equal(codeOf(await yard.client.call("makeSignInLink", { params: { user: "bob" } })), "user_unknown");
});

test("what comes back from the trash is told with what it was put beside [W10]", async () => {
  const { client } = yard;
  await yard.start("thrown");
  const put = (text: string) => client.upload("thrown", "a.txt", Buffer.from(text));
  await must(put("first"));
  now += 2 * 86_400_000;
  await must(client.call("cleanWorkspaces", { body: { days: 1, conversation: "thrown" } }));
  await must(put("second"));
  const [entry] = (await must(client.call("listTrash"))).items;
  const params = { trash: entry?.id ?? "" };
  const { beside, ...restored } = await must(client.call("restoreTrash", { params }));
  assert.deepEqual(restored, { conversation: "thrown", files: 1 });
  assert.match(beside.join(), /^uploads\/restored-[0-9a-f]{8}$/);
  assert.equal(codeOf(await client.call("restoreTrash", { params })), "trash_not_found");
});
