import assert from "node:assert/strict";
import { test } from "node:test";
import { all, until } from "../../../test/world/events.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../../../test/world/model-server.ts";
import { effectTool } from "../../../test/world/tools.ts";
import { must, startYard } from "../../../test/world/yard.ts";
import { type Client, createClient } from "../../client/client.ts";
import { OwnerId } from "../../protocol/ids.ts";

// Routes that hand on what was asked, for the caller's own conversation: seen by what is there afterwards.

const newestOf = ({ body }: AskedRequest) =>
  String(body.messages.findLast(({ role }) => role === "user")?.content).split("\n")[0] ?? "";

const summary = Array.from({ length: 7 }, (_, part) => `## ${part + 1}. Part\n- tea`).join("\n");

/** A server with a model that does what it is told, and two who call. */
async function served() {
  const held = Promise.withResolvers<void>();
  const model = await modelServer((request) => {
    const newest = newestOf(request);
    if (String(request.body.messages[0]?.content).startsWith("You sum up")) return says(summary);
    if (newest === "work" || newest === "hold") return { ...says("held"), heldUntil: held.promise };
    if (stepOf(request) > 0) return says("done");
    if (newest === "pay") return calls(["pay", { mark: "a" }]);
    return newest === "spawn" ? calls(["spawn_agent", { role: "helper", task: "work" }]) : says(`heard ${newest}`);
  });
  const yard = await startYard({ model, tools: [effectTool("pay", "unsafe", "/dev/null", { asks: true })] });
  const clientOf = (owner: string): Client =>
    createClient({
      fetch: (url, init) => yard.fetch(url, { ...init, headers: { ...init.headers, "x-account-id": owner } }),
    });
  const [ann, bob] = [clientOf("ann"), clientOf("bob")];
  await must(ann.call("createConversation", { body: { id: "c" } }));
  const params = { id: "c" };
  const send = (text: string) =>
    must(ann.call("sendMessage", { params, body: { text, id: text.slice(0, 10), mode: "queue" } }));
  const state = () => must(ann.call("getState", { params }));
  const rest = () => until("nothing runs", async () => (await state()).status !== "running");
  const events = async () => {
    const found = await yard.log.find(OwnerId.parse("ann"), "c");
    return found.ok ? yard.log.read(found.value.number, { after: 0, limit: 10_000 }) : [];
  };
  const say = async (text: string) => {
    await send(text);
    await rest();
  };
  return {
    ...{ ann, bob, params, model, held, send, say, state, rest, events },
    async [Symbol.asyncDispose]() {
      held.resolve();
      await yard[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

const codeOf = (answer: { ok: true } | { ok: false; failure: { code: string } }) =>
  answer.ok ? "ok" : answer.failure.code;

test("what is asked about a conversation is done in it, with what was sent: its turns, its agents and its tools [C7][S7]", async () => {
  await using door = await served();
  const { ann, params, model, held, send, say, state, rest, events } = door;
  await say("one");
  const again = async (body: { text?: string }) => {
    await must(ann.call("sayAgain", { params: { ...params, message: "one" }, body }));
    await rest();
  };
  await again({});
  assert.deepEqual(await must(ann.call("replay", { params })), { turns: 1, steps: 1, differences: [] });
  await again({ text: "other" });
  assert.deepEqual(model.asked.map(newestOf), ["one", "one", "other"]);
  await must(ann.call("undoTurn", { params }));
  assert.deepEqual(
    all(await events(), "rewound").map(({ cause }) => cause),
    ["regenerate", "edit", "undo"],
  );
  await must(ann.call("loadTool", { params: { ...params, tool: "now" } }));
  const { items: tools } = await must(ann.call("listTools", { query: { conversation: "c" } }));
  assert.equal(tools.find(({ name }) => name === "now")?.tier, "loaded");
  await send("spawn");
  const heard = (text: string) => until(`the model hears ${text}`, () => model.asked.map(newestOf).includes(text));
  const agents = async () => (await must(ann.call("listConversationAgents", { params }))).items;
  await heard("work");
  assert.deepEqual(
    (await agents()).flatMap(({ name, parent, state }) => (parent === null ? [] : [[name, state]])),
    [["helper", "working"]],
  );
  await must(ann.call("stopAgent", { params: { ...params, agent: "helper" } }));
  await rest();
  assert.equal((await agents()).find(({ name }) => name === "helper")?.state, "terminated");
  await send("hold");
  await heard("hold");
  await send("never");
  await send("later");
  await must(ann.call("withdrawMessage", { params: { ...params, message: "never" } }));
  assert.deepEqual(
    (await state()).queue.map(({ text }) => text),
    ["later"],
  );
  held.resolve();
  await rest();
  assert.deepEqual(await must(ann.call("resumeTurn", { params })), { turn: null });
});

test("what is asked about a conversation is done in it, with what was sent: its files, places, budget and room [C7][S7]", async () => {
  await using door = await served();
  const { ann, params, model, say } = door;
  assert.deepEqual((await must(ann.call("setBudget", { params, body: { steps: 99 } }))).limits.steps, 99);
  assert.deepEqual((await must(ann.call("getBudget", { params }))).limits.steps, 99);
  for (const name of ["a.txt", "b.txt"]) await must(ann.upload("c", name, Buffer.from(name)));
  const history = async () =>
    (await must(ann.call("listFileHistory", { params, query: { path: "uploads/a.txt" } }))).items;
  assert.deepEqual(
    (await history()).map(({ path, bytes }) => [path, bytes]),
    [["uploads/a.txt", 5]],
  );
  await must(ann.call("removeFile", { params, query: { path: "uploads/a.txt" } }));
  const { items: left } = await must(ann.call("listFiles", { params, query: { path: "uploads" } }));
  assert.deepEqual(
    left.map(({ path }) => path),
    ["uploads/b.txt"],
  );
  const places = async () => (await must(ann.call("listCheckpoints", { params }))).items.map(({ name }) => name);
  const before = await places();
  const { checkpoint } = await must(ann.call("saveCheckpoint", { params, body: { name: "here" } }));
  assert.deepEqual(await places(), [...before, "here"]);
  await say("taken back");
  await must(ann.call("restoreCheckpoint", { params: { ...params, checkpoint } }));
  await must(ann.call("deleteCheckpoint", { params: { ...params, checkpoint } }));
  assert.equal((await places()).includes("here"), false);
  for (let times = 0; times < 11; times += 1) await say(`${times} ${"more of it ".repeat(300)}`);
  const sent = model.asked.at(-1)?.text ?? "";
  assert.deepEqual([sent.includes("taken back"), sent.includes("0 more")], [false, true]);
  const made = await must(ann.call("compactConversation", { params, body: { focus: "the tea" } }));
  assert.equal(model.asked.at(-1)?.text.includes("Tell most about this: the tea"), true);
  assert.ok(made.messagesAfter < made.messagesBefore);
  await must(ann.call("undoCompaction", { params }));
  assert.equal(codeOf(await ann.call("undoCompaction", { params })), "compaction_not_found");
});

test("a conversation that is not there, or is another's, is asked about in vain, and stays as it is until its own user deletes it [C7][S7]", async () => {
  await using door = await served();
  const { ann, bob, say, events } = door;
  await say("one");
  const before = await events();
  const asked = async (client: Client, id: string) => {
    const params = { id, agent: "a", checkpoint: 1, message: "one", tool: "now" };
    return [
      await client.call("listConversationAgents", { params }),
      await client.call("stopAgent", { params }),
      await client.call("getBudget", { params }),
      await client.call("setBudget", { params, body: { steps: 99 } }),
      await client.call("listCheckpoints", { params }),
      await client.call("saveCheckpoint", { params, body: { name: "n" } }),
      await client.call("restoreCheckpoint", { params }),
      await client.call("deleteCheckpoint", { params }),
      await client.call("compactConversation", { params, body: {} }),
      await client.call("undoCompaction", { params }),
      await client.call("getState", { params }),
      await client.call("undoTurn", { params }),
      await client.call("replay", { params }),
      await client.call("removeFile", { params, query: { path: "a.txt" } }),
      await client.call("listFileHistory", { params, query: { path: "a.txt" } }),
      await client.call("withdrawMessage", { params }),
      await client.call("resumeTurn", { params }),
      await client.call("sayAgain", { params, body: {} }),
      await client.call("sayAgain", { params, body: { text: "t" } }),
      await client.call("loadTool", { params }),
      await client.call("listRules", { query: { conversation: id } }),
      await client.call("deleteConversation", { params }),
    ].map(codeOf);
  };
  const refused = Array.from({ length: 22 }, () => "conversation_not_found");
  assert.deepEqual([await asked(bob, "c"), await asked(ann, "x")], [refused, refused]);
  assert.deepEqual(await events(), before);
  await must(ann.call("deleteConversation", { params: { id: "c" } }));
  assert.equal(codeOf(await ann.call("getState", { params: { id: "c" } })), "conversation_not_found");
});

test("what a user has is their own, and rules of a conversation are that one's as well [C7][S7]", async () => {
  await using door = await served();
  const { ann, bob, params, say, state, rest } = door;
  const facts = async (client: Client) => (await must(client.call("listMemory"))).items.map(({ fact }) => fact);
  const { id: memory } = await must(ann.call("addMemory", { body: { fact: "tea" } }));
  assert.deepEqual([await facts(ann), await facts(bob)], [["tea"], []]);
  const change = (client: Client) => client.call("changeMemory", { params: { memory }, body: { fact: "milk" } });
  assert.deepEqual([codeOf(await change(bob)), await facts(ann)], ["memory_not_found", ["tea"]]);
  assert.deepEqual([codeOf(await change(ann)), await facts(ann)], ["ok", ["milk"]]);
  const forget = (client: Client) => client.call("forgetMemory", { params: { memory } });
  assert.deepEqual([codeOf(await forget(bob)), await facts(ann)], ["memory_not_found", ["milk"]]);
  assert.deepEqual([codeOf(await forget(ann)), await facts(ann)], ["ok", []]);

  await say("pay");
  const [open] = (await state()).decisions;
  const decision = { ...params, decision: open?.id ?? "" };
  await must(ann.call("decide", { params: decision, body: { verdict: "approve", always: { scope: "conversation" } } }));
  await rest();
  await must(ann.call("createConversation", { body: { id: "elsewhere" } }));
  const rules = async (client: Client, conversation?: string) =>
    (await must(client.call("listRules", { query: { conversation } }))).items;
  const [rule] = await rules(ann);
  assert.equal(rule?.tool, "pay");
  assert.deepEqual([await rules(bob), await rules(ann, "c"), await rules(ann, "elsewhere")], [[], [rule], []]);
  const revoke = (client: Client) => client.call("revokeRule", { params: { rule: rule?.id ?? "" } });
  assert.deepEqual([codeOf(await revoke(bob)), await rules(ann)], ["rule_not_found", [rule]]);
  assert.deepEqual([codeOf(await revoke(ann)), await rules(ann)], ["ok", []]);
});
