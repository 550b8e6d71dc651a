import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { callOver } from "../../../test/world/callers.ts";
import { pipPlay } from "../../../test/world/played-installs.ts";
import { type Play, playedProvider } from "../../../test/world/played-provider.ts";
import { must, startYard } from "../../../test/world/yard.ts";
import { systemIds } from "../../base/ids.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { openSandbox, type Sandbox } from "../../sandbox/sandbox.ts";
import type { Storage } from "../../storage/storage.ts";
import { wordsFor } from "../../words/words.ts";

const ann = OwnerId.parse("ann");

type Given = {
  readonly play?: Play;
  /** Nothing can be installed where there is none. */
  readonly packageIndex?: string | undefined;
  readonly wrap?: (real: Storage) => Storage;
};

/** A server whose programs are played, and Ann, who calls. */
async function served({ play, packageIndex, wrap = (real) => real }: Given = {}) {
  const provider = playedProvider(play);
  let looks = 0;
  const opened: Sandbox[] = [];
  const yard = await startYard({
    wrapStorage: wrap,
    openSandbox({ config, ...parts }) {
      const sandbox = openSandbox({
        ...{ ...parts, provider, ids: systemIds, words: wordsFor("en"), settings: config.sandbox },
        network: { hosts: [], privateHosts: [], packageIndex, npmRegistry: undefined },
        packagesDir: join(config.paths.dataDir, "packages"),
      });
      opened.push(sandbox);
      return sandbox;
    },
    /** Whoever looks at the settings finds them unchanged. */
    async reload() {
      looks += 1;
      return undefined;
    },
  });
  const call = async (way: string, body?: object, headers: Record<string, string> = {}) => {
    const sent = body === undefined ? {} : { body };
    const { status, code, text } = await callOver(yard.app, way, { "x-account-id": "ann", ...headers, ...sent });
    return { status, code, body: text === "" ? {} : JSON.parse(text) };
  };
  const list = async (query = "") => {
    const { body } = await call(`GET /api/v1/sessions?${query}`);
    return [body.items.map(({ id }: { id: string }) => id), body.total, body.limit, body.has_more];
  };
  /** A program of Ann's runs and ends: in a new conversation, or in none. */
  const run = async (name: string | undefined) => {
    const row = name === undefined ? undefined : await yard.start(name, ann);
    const place = { owner: ann, conversation: row?.number, workspace: row && yard.workspaces.ofConversation(row) };
    const wanted = { language: "python", code: "at once", timeoutMs: 60_000 } as const;
    const ran = await must(opened[0]?.run({ ...place, agent: "root" }, wanted) ?? assert.fail());
    assert.equal((await ran.report).how, "done");
  };
  return { call, list, run, provider, looks: () => looks, [Symbol.asyncDispose]: yard[Symbol.asyncDispose] };
}

const create = "POST /api/v1/sessions";

test("a session that is there already is told as an earlier try's, as the one that is wanted, or beside the refusal [S1][C6]", async () => {
  const met = { isLost: false, isFull: false };
  await using door = await served({
    wrap: (real) => ({
      ...real,
      // The process ends before it can note what it has answered.
      endOnce: async (...given) => (met.isLost ? failure("storage_busy", {}) : real.endOnce(...given)),
      putSession: async (row) => (met.isFull ? failure("storage_full", {}) : real.putSession(row)),
    }),
  });
  const { call } = door;
  const key = { "idempotency-key": "k" };
  met.isLost = true;
  const made = await call(create, { id: "s1" }, key);
  met.isLost = false;
  assert.deepEqual([made.status, made.body.id], [201, "s1"]);
  const again = await call(create, { id: "s1" }, key);
  assert.deepEqual([again.status, again.body.id], [201, "s1"], "by an earlier try of this very call");
  for (const headers of [{}, { "idempotency-key": "another" }]) {
    const refused = await call(create, { id: "s1" }, headers);
    assert.deepEqual([refused.status, refused.code, refused.body.session?.id], [409, "session_exists", "s1"]);
  }
  const wanted = await call(`${create}?if_exists=return`, { id: "s1" });
  assert.deepEqual([wanted.status, wanted.body.id], [200, "s1"]);
  assert.equal((await call("POST /api/v1/sessions/s1/terminate", {})).status, 200);
  met.isFull = true;
  const full = await call(`${create}?if_exists=return`, { id: "s1" });
  assert.equal(full.code, "storage_full", "there is one, and that is not the reason");
});

test("a session is made with the settings as they are, and its packages come with it or it goes again [S1][X2]", async () => {
  const heard: string[] = [];
  const index = "https://pypi.org/simple";
  const wanted = (fails: boolean) => ({ dependencies: [{ name: "six" }], fail_on_dependency_error: fails });
  {
    await using well = await served({ play: pipPlay(heard), packageIndex: index });
    const before = well.looks();
    const plain = await well.call(create, {});
    assert.deepEqual([plain.status, well.looks() - before, heard], [201, 1, []]);
    await well.call(`DELETE /api/v1/sessions/${plain.body.id}`);
    const made = await well.call(create, wanted(true));
    assert.deepEqual([made.status, made.body.dependency_install_status, heard], [201, "completed", ["six\n"]]);
  }
  {
    await using unset = await served({ play: pipPlay(heard) });
    const refused = await unset.call(create, wanted(true));
    assert.deepEqual([refused.code, await unset.list()], ["packages_not_configured", [[], 0, 50, false]]);
    const without = await unset.call(create, wanted(false));
    const { status, body } = without;
    assert.deepEqual([status, body.dependency_install_status, (await unset.list())[1]], [201, "failed", 1]);
  }
  await using vain = await served({ play: pipPlay([], () => false), packageIndex: index });
  const later = await vain.call(create, wanted(true));
  assert.deepEqual([later.code, await vain.list()], ["packages_failed", [[], 0, 50, false]], "it has gone again");
  const stays = await vain.call(create, wanted(false));
  assert.deepEqual([stays.status, stays.body.dependency_install_status], [201, "failed"]);
});

test("what is reset is the conversation that is named, by whichever of the ways counts first [S1][X2]", async () => {
  await using door = await served();
  const { call, run, provider } = door;
  for (const name of [undefined, "b", "q", "h", "x"]) await run(name);
  const reset = async (of: { body?: string; query?: string; header?: string; x?: string }) => {
    for (const { told } of provider.guests) told.length = 0;
    const query = of.query === undefined ? "" : `?conversation_id=${of.query}`;
    const headers = { ...(of.header && { conversation_id: of.header }), ...(of.x && { "x-conversation-id": of.x }) };
    const body = of.body === undefined ? {} : { conversation_id: of.body };
    const { status } = await call(`POST /api/v1/sessions/sess-ann/reset${query}`, body, headers);
    const told = provider.guests.filter((guest) => guest.told.includes("reset root"));
    return [status, ...told.map(({ wanted }) => wanted.workspace?.inside)];
  };
  assert.deepEqual(await reset({}), [204, undefined]);
  assert.deepEqual(await reset({ body: "b", query: "q", header: "h", x: "x" }), [204, "/workspace/b"]);
  assert.deepEqual(await reset({ query: "q", header: "h", x: "x" }), [204, "/workspace/q"]);
  assert.deepEqual(await reset({ header: "h", x: "x" }), [204, "/workspace/h"]);
  assert.deepEqual(await reset({ x: "x" }), [204, "/workspace/x"]);
  assert.deepEqual(await reset({ body: "gone" }), [404]);
});
