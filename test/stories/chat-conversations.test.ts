import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { z } from "zod";
import { localOwner } from "../../src/protocol/ids.ts";
import { allFrames, messagesOf, startChatYard } from "../world/chat.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { effectTool } from "../world/tools.ts";
import { type WritingYard, writingYard } from "../world/writing-yard.ts";
import { must } from "../world/yard.ts";

// Conversations by the chat service's names.

const Entry = z.object({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  message_index: z.number(),
  read_message_index: z.number(),
});
const List = z.object({ entries: z.array(Entry), total: z.number() });

test("a conversation is started, listed, renamed, marked as read and deleted [C4]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const title = "季度销售分析".repeat(12);
  const { json, status } = await world.call("POST", "conversation", { title, agent_id: "general", temparea_id: "" });
  assert.deepEqual([status, Object.keys(json)], [200, ["id"]]);
  const id = String(json.id);
  const entry = { id, title: [...title].slice(0, 50).join(""), message_index: 0, read_message_index: 0 };
  const list = async (query = "") => List.parse((await world.call("GET", `conversation${query}`)).json);
  assert.deepEqual(await list(), { entries: [{ ...entry, status: "" }], total: 1 });

  await world.chat({ query: "hi", conversation_id: id });
  assert.equal((await world.call("PUT", `conversation/${id}`, { title: "Sales" })).status, 204);
  assert.equal((await world.call("PUT", `conversation/${id}/mark_read`, { latest_read_index: 2 })).status, 204);
  const changed = { id, title: "Sales", status: "completed", message_index: 2, read_message_index: 2 };
  assert.deepEqual(await list(), { entries: [changed], total: 1 });
  assert.equal((await world.call("PUT", `conversation/${id}/mark_read`, { latest_read_index: 0 })).status, 204);
  for (const body of [{}, { title: "" }, { title: 7 }])
    assert.equal((await world.call("PUT", `conversation/${id}`, body)).status, 400);

  assert.equal((await world.call("DELETE", `conversation/${id}`)).status, 204);
  assert.deepEqual(await list(), { entries: [], total: 0 });
  const after = await Promise.all([
    world.call("GET", `conversation/${id}`),
    world.call("DELETE", `conversation/${id}`),
    world.call("PUT", `conversation/${id}`, { title: "back" }),
    world.call("POST", "chat/termination", { conversation_id: id }),
  ]);
  assert.deepEqual(
    after.map(({ status: one }) => one),
    [404, 404, 404, 404],
  );
});

test("a list is cut into pages, searched by title, and holds what was said under its key [C4]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  for (const title of ["alpha", "Beta", "alphabet"]) await world.call("POST", "conversation", { title });
  await world.call("POST", "conversation", { title: "elsewhere" }, { app: "other" });
  const titles = async (query: string) => {
    const { entries, total } = List.parse((await world.call("GET", `conversation?${query}`)).json);
    return [entries.map(({ title }) => title), total];
  };
  assert.deepEqual(await titles("page=1&size=2"), [["alphabet", "Beta"], 3]);
  assert.deepEqual(await titles("page=2&size=2"), [["alpha"], 3]);
  assert.deepEqual(await titles("page=3&size=2"), [[], 3]);
  assert.deepEqual(await titles("title=ALPHA"), [["alphabet", "alpha"], 2]);
  for (const query of ["page=0", "size=0", "size=1001", "page=x"])
    assert.equal((await world.call("GET", `conversation?${query}`)).status, 400);
});

test("deleting all takes the caller's own under this key, and nothing else [C4][S7]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const as = (user: string, app = "my-agent") => ({ app, headers: { "x-account-id": user } });
  for (const place of [as("amy"), as("amy"), as("amy", "other"), as("bo")])
    await world.call("POST", "conversation", { title: "t" }, place);
  assert.equal((await world.call("DELETE", "conversation", undefined, as("amy"))).status, 204);
  const totals = await Promise.all(
    [as("amy"), as("amy", "other"), as("bo")].map(async (place) => {
      return List.parse((await world.call("GET", "conversation", undefined, place)).json).total;
    }),
  );
  assert.deepEqual(totals, [0, 1, 1]);
  const { engine } = world.yard;
  const agent = { appKey: "my-agent" };
  // One more than are looked at together.
  await Promise.all(
    Array.from({ length: 101 }, async (_, at) => must(engine.create(localOwner, { id: `c${at}`, agent }))),
  );
  assert.equal((await world.call("DELETE", "conversation")).status, 204);
  assert.deepEqual((await world.call("GET", "conversation")).json, { entries: [], total: 0 });
});

test("messages have the service's old names beside plain ones, and are the same bytes after a restart [C4][C2]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer(() => ({ text: "hello", reasoning: "hm" }));
  const read = async () => {
    await using world = await startChatYard({ model, data });
    return (await world.call("GET", "conversation/c1")).text;
  };
  const before = await (async () => {
    await using world = await startChatYard({ model, data });
    const document = await world.chat({ query: "hi", conversation_id: "c1" });
    const [user, answer] = await messagesOf(world, "c1");
    assert.deepEqual(
      [user, answer].map((one) => [one?.id, one?.index, one?.origin, one?.role, one?.status]),
      [
        [document.user_message_id, 1, "user", "user", "processed"],
        [document.assistant_message_id, 2, "assistant", "assistant", "succeded"],
      ],
    );
    assert.deepEqual(JSON.parse(user?.content ?? ""), { text: "hi", selected_files: [] });
    assert.deepEqual(user?.content_json, JSON.parse(user?.content ?? ""));
    assert.deepEqual(answer?.content_json, document.message.content);
    assert.deepEqual(JSON.parse(answer?.ext ?? ""), document.message.ext);
    const { text, json } = await world.call("GET", "conversation/c1");
    assert.deepEqual(json.Messages, json.messages);
    // Milliseconds, all of them.
    for (const [, time] of text.matchAll(/"(?:create|update)_time":(\d+)/g)) assert.equal(time?.length, 13);
    return text;
  })();
  assert.equal(await read(), before);
});

test("what clients ask for when they start is there: the agent, its description, and a conversation made ready [C4]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model });
  const market = (key: string) =>
    world.send("GET", `/api/agent-factory/v3/agent-market/agent/${key}/version/v0?is_visit=true`);
  const general = await market("general");
  assert.deepEqual([general.status, general.json.id, general.json.key], [200, "general", "general"]);
  const unknown = await market("sales-bot");
  assert.deepEqual([unknown.status, unknown.json.id, unknown.json.name], [200, "sales-bot", general.json.name]);

  const { json } = await world.call("POST", "conversation", {});
  const ready = await world.send("PUT", `/api/agent-app/v1/conversation/session/${String(json.id)}`, {
    json: { action: "get_info_or_create", agent_id: "general", agent_version: "v0" },
  });
  assert.deepEqual([ready.status, ready.json], [200, { conversation_session_id: json.id, ttl: 600 }]);

  const doc = await world.call("POST", "api/doc", {
    app_key: "my-agent",
    agent_id: "general",
    agent_version: "latest",
  });
  assert.equal(doc.status, 200);
  const { info, paths } = z
    .object({ info: z.object({ title: z.string() }), paths: z.record(z.string(), z.object({ post: z.unknown() })) })
    .parse(doc.json);
  assert.deepEqual(
    [info.title, Object.keys(paths)],
    [general.json.name, ["/api/agent-factory/v1/app/{app_key}/api/chat/completion"]],
  );
});

test("a list tells of each conversation what its newest message is doing, from the log or from memory [C4]", async (t) => {
  const data = folderWith(t, {});
  const tools = [effectTool("pay", "unsafe", join(data, "marks.jsonl"), { asks: true })];
  await using model = await modelServer(({ body }) => {
    const asked = String(body.messages.findLast(({ role }) => role === "user")?.content);
    if (asked.startsWith("pay")) return calls(["pay", { mark: "a" }]);
    return asked.startsWith("stall") ? { text: "a b c", fault: { after: 1, kind: "stall" } } : says("hello");
  });
  await using world = await startChatYard({ model, data, tools });
  const listed = async () => {
    const { entries } = z.object({ entries: z.array(Row) }).parse((await world.call("GET", "conversation")).json);
    return Object.fromEntries(entries.map(({ id, ...row }) => [id, Object.values(row)]));
  };
  await world.call("POST", "conversation", { title: "empty" });
  await world.chat({ query: "hi", conversation_id: "done" });
  await world.chat({ query: "pay", conversation_id: "asks" });
  const running = await world.stream({ query: "stall", conversation_id: "runs" });
  await until("it runs", () => model.asked.length === 3);
  const first = await listed();
  assert.deepEqual(await listed(), first);
  const wanted = {
    done: [2, "completed", ""],
    asks: [2, "processing", "waiting_approval"],
    runs: [2, "processing", "running"],
  };
  for (const [id, row] of Object.entries(wanted)) assert.deepEqual([id, first[id]], [id, row]);
  await world.call("POST", "chat/termination", { conversation_id: "runs" });
  await allFrames(running);
  await world.chat({ query: "hi", conversation_id: "done" });
  const later = await listed();
  assert.deepEqual([later.runs, later.done, later.asks], [[2, "cancelled", ""], [4, "completed", ""], wanted.asks]);
  for (const id of Object.keys(wanted)) {
    const newest = (await messagesOf(world, id)).at(-1);
    assert.deepEqual([newest?.index, newest?.run_state], [later[id]?.[0], later[id]?.[2]]);
  }
});

const Row = z.object({ id: z.string(), message_index: z.number(), status: z.string(), run_state: z.string() });

let yard: WritingYard;
before(async () => {
  yard = await writingYard();
});
after(() => yard[Symbol.asyncDispose]());
