import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../base/result.ts";
import type { McpServer } from "../../mcp/mcp.ts";
import { failure, makeFailure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { wordsFor } from "../../words/words.ts";
import { asked, noted, notedLater, partsWith } from "./handling.testing.ts";
import { mcpHandlers } from "./mcp.ts";

const ann = OwnerId.parse("ann");
const shop: McpServer = {
  ...{ id: "shop", state: "ready", reachedBy: "address", generation: "modern" },
  tools: [{ name: "shop_buy", own: "buy", description: "Buys.", left: "too_many" }],
};
const ill: McpServer = {
  ...{ id: "ill", state: "off", reachedBy: "program", tools: [] },
  failure: makeFailure("mcp_full", { what: "calls", limit: 9 }),
};
const outside = {
  ...{ address: "192.0.2.1", isVeiled: false, isFromHere: false, host: "yard.example:8443", scheme: "https" },
  prefix: "/yard",
} as const;

function serving(done: unknown[] = [], ended: () => McpServer = () => shop) {
  return mcpHandlers(
    partsWith({
      freshen: () => notedLater(done, "fresh"),
      server: () => ({ port: 7420, basePath: "/base" }),
      mcp: {
        servers: (owner) => noted(done, owner, [shop, ill]),
        beginSignIn: async (...of) => noted(done, of, ok({ url: "https://shop.example/authorize" })),
        finishSignIn: async (...of) => noted(done, of, ok(ended())),
      },
    }),
  );
}

test("servers of others are told as the settings are now, with what is the matter in the reader's language [G1][P4]", async () => {
  const done: unknown[] = [];
  const answer = await serving(done).listMcpServers(asked("listMcpServers", { owner: ann, language: "en" }));
  assert.deepEqual(done, ["fresh", "ann"]);
  assert.ok(answer.ok);
  const [well, unwell] = answer.value.items;
  assert.deepEqual(well, {
    ...{ id: "shop", state: "ready", reason: null, reachedBy: "address", generation: "modern" },
    tools: [{ name: "shop_buy", own: "buy", description: "Buys.", left: "too_many" }],
  });
  assert.deepEqual([unwell?.generation, typeof unwell?.reason], [null, "string"]);
});

test("who signs in at a server of others comes back to the address by which their browser knows us, or where the server would be [G1][C6]", async () => {
  const back = async (isLocal: boolean, arrival: object) => {
    const call = { owner: ann, params: { server: "shop" }, arrival, isLocal };
    const answer = await serving().signInToMcpServer(asked("signInToMcpServer", call));
    return answer.ok && answer.value.back;
  };
  const path = "/api/v1/mcp/callback";
  assert.equal(await back(false, outside), `https://yard.example:8443/yard${path}`);
  assert.equal(await back(false, { ...outside, scheme: undefined }), `http://yard.example:8443/yard${path}`);
  assert.equal(await back(true, outside), `http://127.0.0.1:7420/base${path}`);
});

test("how a sign-in elsewhere ended is read from the address that the browser came back to, or that somebody pasted [G1]", async () => {
  const done: unknown[] = [];
  const { finishMcpSignIn, comeBackFromMcpSignIn } = serving(done);
  const pasted = async (address: string) => {
    await finishMcpSignIn(asked("finishMcpSignIn", { owner: ann, body: { address } }));
    return done.splice(0);
  };
  const none = { state: "", code: undefined, iss: undefined, error: undefined };
  const whole = { ...none, state: "s", code: "c", iss: "i" };
  assert.deepEqual(await pasted("  https://here/x?state=s&code=c&iss=i \n"), [["ann", whole]]);
  assert.deepEqual(await pasted("?state=s&error=denied"), [["ann", { ...none, state: "s", error: "denied" }]]);
  assert.deepEqual(await pasted("http://["), [["ann", none]]);
  const query = { state: "s", error: "denied", error_description: "You said no." };
  await comeBackFromMcpSignIn(asked("comeBackFromMcpSignIn", { owner: ann, query }));
  assert.deepEqual(done, [["ann", { ...none, state: "s", error: "You said no." }]]);
});

test("whoever comes back from a sign-in reads whether the server is there now, or why not yet [G1][P4]", async () => {
  let ended = shop;
  const { comeBackFromMcpSignIn } = serving([], () => ended);
  const told = async () => {
    const answer = await comeBackFromMcpSignIn(asked("comeBackFromMcpSignIn", { owner: ann, query: { state: "s" } }));
    return answer.ok && answer.value;
  };
  const { signedIn, notYet } = wordsFor("en").mcp;
  assert.equal(await told(), signedIn({ server: "shop" }));
  ended = ill;
  const listed = await serving().listMcpServers(asked("listMcpServers", { owner: ann }));
  const reason = (listed.ok && listed.value.items[1]?.reason) || assert.fail();
  assert.equal(await told(), notYet({ server: "ill", reason }));
  const denied = failure("mcp_sign_in_failed", { server: "shop", said: "no" });
  const refused = mcpHandlers(partsWith({ mcp: { finishSignIn: async () => denied } }));
  const call = asked("comeBackFromMcpSignIn", { owner: ann, query: { state: "" } });
  assert.deepEqual(await refused.comeBackFromMcpSignIn(call), denied);
});
