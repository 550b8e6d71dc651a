import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { openDatabase } from "../../../test/world/database.ts";
import { ConversationId, OwnerId } from "../../protocol/ids.ts";
import type { RouteName } from "../../protocol/routes.ts";
import { noBytes } from "../bytes.ts";
import type { Door, Env, HandedBody } from "../door.ts";
import { openElsewhere } from "./serve-elsewhere.ts";

const ann = OwnerId.parse("ann");

type Asking = { readonly door?: Door; readonly headers?: object; readonly params?: object; readonly raw?: Buffer };

/** A server of several: where it hands a call on to, and what is left for itself to do. */
async function serverOf(t: TestContext) {
  const storage = openDatabase(t);
  const made = await storage.createConversation({ owner: ann, id: ConversationId.parse("c"), at: 0, events: [] });
  assert.ok(made.ok);
  const handed: [key: string, body: HandedBody][] = [];
  const others = new Set<string>();
  let back = () => {};
  const elsewhere = openElsewhere(
    Object({ storage }),
    async (_, key, body) => {
      handed.push([key, body]);
      return others.has(key) ? new Response("of the other") : undefined;
    },
    {
      onBack(listener) {
        back = listener;
        return () => {};
      },
    },
  );
  const ask = async (name: RouteName, { door, headers = {}, params = {}, raw }: Asking = {}) => {
    const header = (one: string) => Object(headers)[one];
    const asked = { owner: ann, actsAs: ann, caller: { signedIn: undefined }, bytes: noBytes, header };
    const call = { ...asked, params, query: {}, body: {} };
    const app = new Hono<Env>();
    const found = Promise.withResolvers<Awaited<ReturnType<typeof elsewhere>>>();
    app.get("/", async (c) => {
      found.resolve(await Reflect.apply(elsewhere, undefined, [c, name, { call, raw }]));
      return c.body(null);
    });
    await app.fetch(new Request("http://127.0.0.1/"), door ?? {});
    const place = await found.promise;
    assert.ok(place.ok);
    return place.value;
  };
  return { home: `c:${made.value.number}`, handed, others, ask, back: () => back() };
}

test("what is done once for a key goes to its user's home, and else whatever has no home is done where it comes [N1][C6]", async (t) => {
  const { handed, ask } = await serverOf(t);
  const raw = Buffer.from("{}");
  await ask("createConversation", { raw });
  assert.deepEqual(handed.splice(0), []);
  const headers = { "idempotency-key": "k" };
  await ask("createConversation", { raw, headers });
  assert.deepEqual(handed.splice(0), [["u:ann", { bytes: raw }]]);
  await ask("listConversations", { raw, headers });
  assert.deepEqual(handed, [], "what makes nothing has no key");
});

test("a call goes with its body to where it is at home, and one that was handed on to where it was taken to be [N1]", async (t) => {
  const { home, handed, others, ask } = await serverOf(t);
  const params = { id: "c" };
  others.add(home);
  const there = await ask("uploadFile", { params });
  assert.ok("response" in there);
  assert.equal(await there.response.text(), "of the other");
  assert.deepEqual(handed.splice(0), [[home, { stream: noBytes.chunks, announced: undefined }]]);
  const passed = { key: "u:bob", caller: {}, arrival: {} };
  const here = await ask("uploadFile", { params, door: Object({ passed }) });
  assert.ok("bytes" in here && here.bytes === noBytes);
  assert.deepEqual(
    handed.map(([key]) => key),
    ["u:bob"],
  );
});

test("who waits here is told when another server may have had what they wait for, and who comes after that waits anew [N1][L6]", async (t) => {
  const { ask, back } = await serverOf(t);
  const doubtedOf = async (name: RouteName) => {
    const left = await ask(name, { params: { id: "c" } });
    return "bytes" in left ? left.doubted : assert.fail("it is done here");
  };
  const [before, homeless] = [await doubtedOf("followEvents"), await doubtedOf("listConversations")];
  assert.deepEqual([before?.aborted, homeless], [false, undefined]);
  back();
  const after = await doubtedOf("followEvents");
  assert.deepEqual([before?.aborted, after?.aborted], [true, false]);
  back();
  assert.equal(after?.aborted, true);
});
