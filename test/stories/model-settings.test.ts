import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, type TestContext, test } from "node:test";
import { testModel } from "../../src/model-test.ts";
import { wordsFor } from "../../src/words/words.ts";
import { makePlace } from "../world/config-place.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, calls, type ModelServer, modelServer, says } from "../world/model-server.ts";
import { isStored } from "../world/stored.ts";
import { wires } from "../world/wires.ts";
import { must, startYard } from "../world/yard.ts";

// Models that people enter while it runs: tried in place, kept sealed, in effect at once, and never sent back.

const apiKey = "sk-entered-0123456789-secret";
let model: ModelServer;
let data: string;
before(async () => {
  model = await modelServer(() => says("entered model here"));
  data = await mkdtemp(join(tmpdir(), "agentyard-entered-"));
});
after(async () => {
  await model.close();
  await rm(data, { recursive: true, force: true });
});

test("a model is entered while it runs, answers the next turn, and is there after a restart [M1][M4]", async () => {
  const entry = { baseUrl: model.url, model: "entered-1", apiKey };
  {
    await using yard = await startYard({ data });
    const { client } = yard;
    const empty = await must(client.call("getModel", { params: { slot: "base" } }));
    assert.deepEqual(
      { from: empty.from, isDemo: empty.isDemo, baseUrl: empty.baseUrl, hasKey: empty.hasKey },
      { from: "demo", isDemo: true, baseUrl: null, hasKey: false },
    );
    const { conversation, answer: first } = await yard.ask("hello");
    assert.match(first, /not an AI/);
    const entered = await must(client.call("enterModel", { params: { slot: "base" }, body: entry }));
    assert.deepEqual(entered, {
      ...{ slot: "base", id: "entered-1", server: new URL(model.url).host, isDemo: false },
      ...{ windowTokens: entered.windowTokens, filled: true, from: "entered", baseUrl: model.url },
      ...{ api: "chat", hasKey: true, broken: null },
    });
    assert.equal((await yard.ask("and now?", { conversation })).answer, "entered model here");
    const code = await must(client.call("getModel", { params: { slot: "code" } }));
    assert.deepEqual([code.from, code.id, code.filled], ["base", "entered-1", false]);
  }
  assert.ok(await isStored(data, "and now?"));
  assert.equal(await isStored(data, apiKey), false, "the key stands nowhere in the clear");
  await using yard = await startYard({ data });
  assert.equal((await yard.ask("still there?")).answer, "entered model here");
  assert.equal(model.asked.at(-1)?.headers.authorization, `Bearer ${apiKey}`);
  // Another model at the same address keeps its key; at another address it does not go along.
  const changed = { params: { slot: "base" }, body: { baseUrl: model.url, model: "entered-2" } } as const;
  assert.equal((await must(yard.client.call("enterModel", changed))).hasKey, true);
  const moved = { params: { slot: "base" }, body: { baseUrl: "http://127.0.0.1:9/v1", model: "entered-2" } } as const;
  assert.equal((await must(yard.client.call("enterModel", moved))).hasKey, false);
  const removed = await must(yard.client.call("removeModel", { params: { slot: "base" } }));
  assert.deepEqual([removed.from, removed.isDemo], ["demo", true]);
  const again = await yard.client.call("removeModel", { params: { slot: "base" } });
  assert.equal(again.ok ? "" : again.failure.code, "model_not_entered");
});

test("what the environment says counts, and is shown but not changed [M1]", async () => {
  await using yard = await startYard({ model });
  const { client } = yard;
  const { from, hasKey } = await must(client.call("getModel", { params: { slot: "base" } }));
  assert.deepEqual([from, hasKey], ["settings", false]);
  const body = { baseUrl: "http://127.0.0.1:9/v1", model: "other" };
  const refused = await client.call("enterModel", { params: { slot: "base" }, body });
  assert.deepEqual(refused.ok ? "" : [refused.failure.code, refused.failure.status], ["model_fixed", 409]);
  assert.match(refused.ok ? "" : refused.failure.detail, /MODEL_BASIC_API_KEY/);
  const kept = await client.call("removeModel", { params: { slot: "base" } });
  assert.equal(kept.ok ? "" : kept.failure.code, "model_fixed");
  const unknown = await client.call("getModel", { params: { slot: "huge" } });
  assert.equal(unknown.ok ? "" : unknown.failure.code, "slot_unknown");
  const unfit = ["", "nonsense", "file:///etc/passwd", "javascript:alert(1)", `http://x/${"y".repeat(3_000)}`];
  for (const baseUrl of unfit) {
    const answer = await client.call("testModel", { body: { baseUrl } });
    assert.equal(answer.ok ? "" : answer.failure.status, 400, baseUrl.slice(0, 40));
  }
});

test("a model is tried in place: what it offers, whether it answers, and why not [M4]", async () => {
  await using yard = await startYard();
  const { client } = yard;
  const tried = await must(client.call("testModel", { body: { baseUrl: model.url, model: "m", apiKey } }));
  const isOk = Object.fromEntries(tried.checks.map((check) => [check.name, check.isOk]));
  assert.deepEqual([isOk.answers, isOk.tools, tried.ok, tried.failure], [true, false, false, null]);
  assert.ok(tried.totalMs !== null);
  const away = await must(client.call("testModel", { body: { baseUrl: "http://127.0.0.1:9/v1", model: "m" } }));
  assert.deepEqual([away.ok, away.failure?.code, away.offered], [false, "model_network", []]);
  assert.match(away.failure?.detail ?? "", /127\.0\.0\.1:9/);
  const nameless = await must(client.call("testModel", { body: { baseUrl: "http://127.0.0.1:9/v1" } }));
  assert.deepEqual([nameless.ok, nameless.failure?.code], [false, "model_network"]);
});

/** `agentyard model test`, with what it prints. */
async function run(t: TestContext, { url, wire }: ModelServer, options: { json: boolean; request?: string }) {
  const env = { MODEL_BASIC_BASE_URL: url, MODEL_BASIC_API: wire.api, MODEL_BASIC_ID: wire.model };
  const config = await makePlace(t).load({ env });
  const output = new PassThrough();
  const parts = { config, words: wordsFor("en"), output, errors: new PassThrough() };
  const code = await testModel({ slot: "base", ...options }, parts);
  output.end();
  return { code, output: await text(output) };
}

const script: readonly Answer[] = [{ text: "one two three" }, calls(["report_number", { number: 7 }])];

for (const wire of wires) {
  test(`${wire.api}: model test tries the model in its format and says which that is [M6][P2]`, async (t) => {
    await using model = await modelServer([...script, ...script, { text: "hi" }], wire);
    const { code, output } = await run(t, model, { json: false });
    const server = new URL(model.url).host;
    assert.equal(code, 0, output);
    assert.match(output, /✓ answers.*✓ streams.*✓ calls tools.*✓ reports usage/s);
    assert.equal(output.split("\n")[0], `base: ${wire.model} (${server}, format ${wire.api})`);
    const { api, ok } = JSON.parse((await run(t, model, { json: true })).output);
    assert.deepEqual([api, ok], [wire.api, true]);
    const request = join(folderWith(t, { "request.json": '{"stream":true}' }), "request.json");
    const answer = JSON.parse((await run(t, model, { json: true, request })).output);
    assert.deepEqual([answer.text, answer.error], ["hi", null]);
  });
}
