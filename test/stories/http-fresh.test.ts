import assert from "node:assert/strict";
import { test } from "node:test";
import { must, startYard } from "../world/yard.ts";

test("whoever lists tools or servers, or makes a session, sees what was just written into the settings [T1][G1]", async () => {
  let looked = 0;
  const reload = async () => {
    looked += 1;
    return undefined;
  };
  await using yard = await startYard({ reload });
  const { client } = yard;
  const lookedFor = async (call: () => Promise<unknown>) => {
    const before = looked;
    await call();
    return looked - before;
  };
  assert.equal(await lookedFor(async () => must(client.call("listTools", {}))), 1);
  assert.equal(await lookedFor(async () => must(client.call("listMcpServers", {}))), 1);
  assert.equal(await lookedFor(async () => client.call("createSession", { body: {} })), 1);
  assert.equal(await lookedFor(async () => must(client.call("health", {}))), 0);
});
