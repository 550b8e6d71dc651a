import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { callOver } from "../../../test/world/callers.ts";
import { until } from "../../../test/world/events.ts";
import { playedProvider, sandboxOver } from "../../../test/world/played-provider.ts";
import { type WritingYard, writingYard } from "../../../test/world/writing-yard.ts";
import { must } from "../../../test/world/yard.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { failure } from "../../protocol/failure.ts";
import { OwnerId } from "../../protocol/ids.ts";

const ann = OwnerId.parse("ann");
const provider = playedProvider();
let isLost = false;
let yard: WritingYard;
before(async () => {
  yard = await writingYard({
    ...sandboxOver(provider),
    wrapStorage: (real) => ({
      ...real,
      // The process ends before it can note what it has answered.
      endOnce: async (...given) => (isLost ? failure("storage_busy", {}) : real.endOnce(...given)),
    }),
  });
});
after(() => yard[Symbol.asyncDispose]());

async function call(way: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
  const [method, path] = way.split(" ");
  const sent = { "x-account-id": "ann", ...headers, ...(body !== undefined && { body }) };
  const { status, text } = await callOver(yard.app, `${method} /api/agent-app/v1/app/app/${path}`, sent);
  return { status, body: text === "" ? {} : JSON.parse(text) };
}

const said: NewEvent = { type: "message.user", id: "m", text: "hi", mode: "queue" };
const started: NewEvent = { type: "turn.started", turn: 1, message: "m", epoch: 1 };

test("how a conversation stands is told by its newest answer, in the words that clients of the chat service know [C4]", async () => {
  let count = 0;
  const standing = async (...events: NewEvent[]) => {
    count += 1;
    const row = await yard.start(`stands-${count}`, ann);
    if (events.length > 0) await yard.append(row, ...events);
    const { body } = await call(`GET conversation/${row.id}`);
    assert.deepEqual(body.Messages, body.messages);
    return [body.status, body.run_state, body.message_index];
  };
  assert.deepEqual(await standing(), ["", "", 0]);
  assert.deepEqual(await standing(said), ["processing", "queued", 2]);
  assert.deepEqual(await standing(said, started), ["processing", "running", 2]);
  const outcomes = {
    ...{ done: "completed", limit: "completed", failed: "failed", crashed: "failed", cancelled: "cancelled" },
  } as const;
  for (const outcome of Object.keys(outcomes) as (keyof typeof outcomes)[])
    assert.deepEqual(
      await standing(said, started, { type: "turn.finished", turn: 1, outcome }),
      [outcomes[outcome], "", 2],
      outcome,
    );
});

test("a conversation is told with whose it is, where it began and how far it was read [C4]", async () => {
  const told = async (wanted: Parameters<typeof yard.engine.create>[1] & { id: string }) => {
    const row = await must(yard.engine.create(ann, wanted));
    await must(yard.log.markRead(row, 3));
    const {
      messages: _,
      Messages: __,
      create_time,
      update_time,
      ...rest
    } = (await call(`GET conversation/${wanted.id}`)).body;
    const now = await must(yard.log.find(ann, wanted.id));
    assert.deepEqual([create_time, update_time], [now.createdAt, now.updatedAt]);
    return rest;
  };
  const known = {
    ...{ id: "p", agent_app_key: "app", title: "T", origin: "web_chat", message_index: 0, read_message_index: 3 },
    ...{ ext: "", create_by: "ann", update_by: "ann", is_deleted: 0, temparea_id: "", status: "", run_state: "" },
  };
  assert.deepEqual(await told({ id: "p", title: "T", agent: { appKey: "app" } }), known);
  assert.deepEqual(await told({ id: "q", title: "T", origin: "program" }), {
    ...{ ...known, id: "q", origin: "api_chat", agent_app_key: "" },
  });
});

test("what is changed of a conversation is the caller's own one, and one that is opened is made ready without waiting [C4][S7]", async () => {
  await yard.start("own", ann);
  const other = await call("PUT conversation/own", { title: "new", user_id: "bob" });
  assert.deepEqual([other.status, (await call("GET conversation/own")).body.title], [404, ""]);
  const isReady = () => provider.living().includes("/workspace/own");
  await until("it is made ready as it begins", isReady);
  provider.guests.find(({ wanted }) => wanted.workspace?.inside === "/workspace/own")?.crash();
  await until("it is not ready any more", () => !isReady());
  const path = "/api/agent-app/v1/conversation/session/own";
  const body = { action: "get_info_or_create", agent_id: "general", agent_version: "v0" };
  const { text } = await callOver(yard.app, `PUT ${path}`, { "x-account-id": "ann", body });
  assert.deepEqual(JSON.parse(text), { conversation_session_id: "own", ttl: 600 });
  await until("it is made ready again", isReady);
});

test("a conversation is made with the beginning of its title and the agent that is named, once under a key [C4][C6]", async () => {
  const create = async (body: object, key?: string) =>
    (await call("POST conversation", body, key === undefined ? {} : { "idempotency-key": key })).body.id;
  const id = await create({ title: `  a\n${"b".repeat(99)}`, agent_id: "x", agent_key: "" });
  const { title, agentId, appKey } = await must(yard.log.find(ann, id));
  assert.deepEqual([title, agentId, appKey], [`a ${"b".repeat(48)}`, "x", "app"]);
  isLost = true;
  const first = await create({}, "k");
  isLost = false;
  assert.match(first, /^[0-9a-f-]{36}$/);
  assert.deepEqual([await create({}, "k"), (await create({}, "other")) === first], [first, false]);
});
