import assert from "node:assert/strict";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { testModel } from "../../src/model-test.ts";
import { wordsFor } from "../../src/words/words.ts";
import { makePlace } from "../world/config-place.ts";
import { folderWith } from "../world/folder.ts";
import { type Answer, calls, type ModelServer, modelServer } from "../world/model-server.ts";
import { wires } from "../world/wires.ts";

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
