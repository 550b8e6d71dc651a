import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { failure } from "../../src/protocol/failure.ts";
import { allFrames, type ChatYard, folded, messagesOf, startChatYard } from "../world/chat.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { cannotRunCode, noSandbox } from "../world/sandbox.ts";
import { startYard } from "../world/yard.ts";

// The chat platform from end to end: files are uploaded, selected in a chat, worked on by code, and gone with the conversation.

const csv = "city,sold\nBonn,3\nUlm,4\n";
const context = (id: string, user: string, ...names: string[]) =>
  `【System auto-generated context - not user query】

Current workspace path: /workspace/${id}/uploads/temparea/
Sandbox Session ID: sess-${user} (IMPORTANT: This ID MUST be passed as the 'session_id' parameter when calling code execution tools...)

Available files:
${names.map((name) => `- ${name} (/workspace/${id}/uploads/temparea/${name})\n`).join("")}`;

test("create, upload, chat with selected files, run code on their path, read again after a restart, delete: all of it holds together [C1][C2][S4][S6]", {
  skip: cannotRunCode,
}, async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer();
  const options = { model, data, runsCode: true } as const;
  const started = await (async () => {
    await using world = await startChatYard(options);
    const { json } = await world.call("POST", "conversation", { title: "Sales", user_id: "amy" });
    const id = String(json.id);
    assert.equal((await world.upload(id, "data.csv", csv, "amy")).status, 200);
    const path = `/workspace/${id}/uploads/temparea/data.csv`;
    const sum = `import csv; print(sum(int(row["sold"]) for row in csv.DictReader(open(${JSON.stringify(path)}))))`;
    model.answerWith((request) =>
      stepOf(request) === 0 ? calls(["execute_code", { language: "python", code: sum }]) : says("Seven were sold."),
    );
    const spellings = ["data.csv", "uploads/temparea/data.csv", path, `conversation-${id}/uploads/temparea/data.csv`];
    for (const [index, file_name] of spellings.entries()) {
      const streamed = await world.stream({
        ...{ query: `分析 ${index}`, conversation_id: id, user_id: "amy" },
        selected_files: [{ file_name }],
      });
      assert.equal(streamed.headers.get("x-sandbox-session"), "sb-session-amy");
      const document = JSON.stringify(folded(await allFrames(streamed)));
      assert.match(document, /Seven were sold\./);
      assert.match(document, /7\\\\n|7/);
      const [before, query] = aroundQuery(model.asked.at(-1), `分析 ${index}`);
      assert.deepEqual([before, query], [context(id, "amy", "data.csv"), `分析 ${index}`]);
    }
    // One context message for each question, in the history too.
    const all = contents(model.asked.at(-1)).filter((text) => text.startsWith("【System"));
    assert.deepEqual(
      all,
      spellings.map(() => context(id, "amy", "data.csv")),
    );
    const result = model.asked.at(-1)?.body.messages.findLast(({ role }) => role === "tool");
    assert.match(String(result?.content), /7/);
    return { id, text: await detail(world, id), sent: model.messageBytes().at(-1) ?? "" };
  })();
  const { id } = started;

  await using world = await startChatYard(options);
  assert.equal(await detail(world, id), started.text);
  model.answerWith(() => says("yes"));
  await world.chat({ query: "and?", conversation_id: id, user_id: "amy" });
  const next = model.messageBytes().at(-1) ?? "";
  assert.equal(next.slice(0, started.sent.length), started.sent);

  const amy = { headers: { "x-account-id": "amy" } };
  assert.equal((await world.call("DELETE", `conversation/${id}`, undefined, amy)).status, 204);
  await until("its files are gone", async () => (await readdir(join(data, "workspace"))).length === 0);
  const gone = await Promise.all([
    world.call("GET", `conversation/${id}`, undefined, amy),
    world.call("GET", `conversation/${id}`),
    world.call("POST", "chat/resume", { conversation_id: id }, amy),
    world.send("GET", `/api/v1/sessions/sb-session-amy/files/data.csv?conversation_id=${id}`),
    world.send("GET", `/api/v1/sessions/sb-session-amy/files?conversation_id=${id}`),
  ]);
  assert.deepEqual(
    gone.map(({ status }) => status),
    gone.map(() => 404),
  );
});

test("a selected file that is not there is named, and none is found outside the conversation [C2][S5]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model, openSandbox: () => ready() });
  await world.upload("c1", "data.csv", csv, "amy");
  await world.upload("c2", "secret.csv", csv, "amy");
  const select = async (file_name: string, conversation_id: string | undefined = "c1") => {
    const body = { query: "go", conversation_id, user_id: "amy", stream: false, selected_files: [{ file_name }] };
    const { status, json } = await world.call("POST", "chat/completion", body);
    return [status, JSON.stringify(json.error_details).match(/"code":"(\w+)"/)?.[1], json.description];
  };
  assert.deepEqual(await select("nope.csv"), [
    400,
    "selected_file_missing",
    "There is no file nope.csv among the uploads of this conversation",
  ]);
  assert.deepEqual((await select("nope.csv", "")).slice(0, 2), [400, "selected_file_missing"]);
  for (const path of ["../c2/uploads/temparea/secret.csv", "/workspace/c1/uploads/temparea/../../../c2/x"])
    assert.deepEqual((await select(path)).slice(0, 2), [400, "path_traversal_blocked"]);
  for (const path of ["/workspace/c2/uploads/temparea/secret.csv", "c2/uploads/temparea/secret.csv"])
    assert.deepEqual((await select(path)).slice(0, 2), [400, "selected_file_elsewhere"]);
  assert.equal((await select("/etc/passwd"))[0], 400);
  assert.equal(model.asked.length, 0);
});

test("a chat that is refused for its files leaves nothing behind: no conversation, no agent, no session [C2][C1][S2]", async () => {
  await using model = await modelServer(() => says("hello"));
  const sandbox = ready();
  const ensured: string[] = [];
  const ensure = async (owner: string) => {
    ensured.push(owner);
    return sandbox.sessions.ensure(owner);
  };
  await using world = await startChatYard({
    ...{ model, openSandbox: () => ({ ...sandbox, sessions: { ...sandbox.sessions, ensure } }) },
  });
  await world.upload("old", "data.csv", csv);
  await world.upload("dead", "data.csv", csv);
  await world.call("DELETE", "conversation/dead");
  const before = await world.yard.events("old");
  const select = async (conversation_id: string, file_name: string) => {
    const body = { query: "go", conversation_id, agent_id: "simple", selected_files: [{ file_name }] };
    const { status, json } = await world.call("POST", "chat/completion", body);
    return [status, JSON.stringify(json.error_details).match(/"code":"(\w+)"/)?.[1]];
  };
  assert.deepEqual(await select("new", "data.csv"), [400, "selected_file_missing"]);
  assert.deepEqual(await select("old", "nope.csv"), [400, "selected_file_missing"]);
  assert.deepEqual(await select("old", "../data.csv"), [400, "path_traversal_blocked"]);
  assert.deepEqual(await select("not an id", "data.csv"), [400, "bad_request"]);
  assert.deepEqual(await select("dead", "data.csv"), [404, "conversation_not_found"]);
  const again = { conversation_id: "new", regenerate_user_message_id: "m1", query: "go" };
  const edited = await world.call("POST", "chat/completion", { ...again, selected_files: [{ file_name: "data.csv" }] });
  assert.deepEqual([edited.status, edited.json.error_code], [404, "AgentAPP.Conversation.NotFound"]);
  assert.equal((await world.call("GET", "conversation/new")).status, 404);
  assert.deepEqual(await world.yard.events("old"), before);
  assert.deepEqual(ensured, []);
  assert.deepEqual((await world.call("GET", "conversation")).json.total, 0);
});

test("the question said otherwise may have other files, and stays clean [C2][C4]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model, openSandbox: () => ready() });
  for (const name of ["a.csv", "b (1).csv"]) await world.upload("c1", name, csv);
  const files = (...names: string[]) => ({ selected_files: names.map((file_name) => ({ file_name })) });
  const first = await world.chat({ query: "go", conversation_id: "c1", ...files("a.csv", "a.csv") });
  assert.deepEqual(aroundQuery(model.asked[0], "go"), [context("c1", "local", "a.csv"), "go"]);
  const [user] = await messagesOf(world, "c1");
  assert.deepEqual(user?.content_json, {
    text: "go",
    selected_files: [{ file_name: "/workspace/c1/uploads/temparea/a.csv" }],
  });
  const edit = { conversation_id: "c1", regenerate_user_message_id: first.user_message_id, query: "again" };
  await world.chat({ ...edit, ...files("b (1).csv") });
  assert.deepEqual(aroundQuery(model.asked[1], "again"), [context("c1", "local", "b (1).csv"), "again"]);
  await world.chat({ ...edit, query: "third", selected_files: [] });
  assert.equal(
    contents(model.asked[2]).some((text) => text.startsWith("【System")),
    false,
  );
});

test("a chat with files that is repeated under its key says its message once, also when its files are gone by then [C2][C1]", async () => {
  await using model = await modelServer(() => says("hello"));
  await using world = await startChatYard({ model, openSandbox: () => ready() });
  await world.upload("c1", "data.csv", csv);
  const body = { query: "go", conversation_id: "c1", selected_files: [{ file_name: "data.csv" }] };
  const keyed = { headers: { "idempotency-key": "k1" } };
  const first = folded(await allFrames(await world.stream(body, keyed)));
  const { status } = await world.send("DELETE", "/api/v1/sessions/sb-session-local/files/data.csv?conversation_id=c1");
  assert.equal(status, 204);
  assert.deepEqual(folded(await allFrames(await world.stream(body, keyed))), first);
  assert.equal((await world.call("POST", "chat/completion", body)).status, 400);
  assert.equal(model.asked.length, 1);
});

test("a session is asked for with the agent that is named, else the one that answers, and the business domain [S2][O1]", async () => {
  await using model = await modelServer(() => says("hello"));
  const sandbox = ready();
  const wanted: unknown[] = [];
  const ensure = async (owner: string, { agentId, businessDomain }: Ensuring) => {
    wanted.push([owner, agentId, businessDomain]);
    return sandbox.sessions.ensure(owner);
  };
  await using world = await startChatYard({
    ...{ model, openSandbox: () => ({ ...sandbox, sessions: { ...sandbox.sessions, ensure } }) },
  });
  const chat = (more: object, domain: string) =>
    world.chat({ query: "hi", ...more }, { headers: { "x-business-domain": domain } });
  await chat({ user_id: "amy", agent_id: "writer" }, "bd_sales");
  await chat({ agent_key: "simple" }, "");
  await chat({}, "d".repeat(201));
  assert.deepEqual(wanted, [
    ["amy", "writer", "bd_sales"],
    ["local", "simple", undefined],
    ["local", "general", "d".repeat(200)],
  ]);
});

type Ensuring = { readonly agentId?: string | undefined; readonly businessDomain?: string | undefined };

test("without a sandbox a chat with files is refused, and one without goes on and says so [S2]", async () => {
  await using model = await modelServer(() => says("hello"));
  for (const [reason, status, code, said] of [
    ["sandbox_session_create_failed", 500, "AgentAPP.SandboxSessionCreateFailed", "Failed to create sandbox session"],
    ["sandbox_session_not_ready", 503, "AgentAPP.SandboxSessionNotReady", "Sandbox session initialization timeout"],
  ] as const) {
    await using world = await startChatYard({ model, openSandbox: () => ready(failure(reason, {})) });
    await world.upload("c1", "data.csv", csv);
    const files = { selected_files: [{ file_name: "data.csv" }] };
    const refused = await world.call("POST", "chat/completion", { query: "go", conversation_id: "c1", ...files });
    const { error_code, description, error_details } = refused.json;
    assert.deepEqual([refused.status, error_code, description, error_details], [status, code, said, said]);
    const without = await world.call("POST", "chat/completion", { query: "go", conversation_id: "c1", stream: false });
    assert.deepEqual([without.status, without.headers.get("x-sandbox-error")], [200, reason]);
  }
});

/** A sandbox whose sessions are always ready, or never; code is not run. */
function ready(ensured?: ReturnType<typeof failure<"sandbox_session_create_failed" | "sandbox_session_not_ready">>) {
  const sandbox = noSandbox();
  const ensure = async (owner: string) => ensured ?? { ok: true as const, value: `sb-session-${owner}` };
  return { ...sandbox, sessions: { ...sandbox.sessions, ensure } };
}

async function detail(world: ChatYard, id: string): Promise<string> {
  return (await world.call("GET", `conversation/${id}`, undefined, { headers: { "x-account-id": "amy" } })).text;
}

function contents(request: AskedRequest | undefined): string[] {
  return (request?.body.messages ?? []).map(({ content }) => String(content));
}

/** The message directly before a question, and the question without reminders. */
function aroundQuery(request: AskedRequest | undefined, query: string): string[] {
  const texts = contents(request);
  const at = texts.findLastIndex((text) => text.startsWith(query));
  return [texts[at - 1] ?? "", (texts[at] ?? "").replace(/\s*<system_reminder>[\s\S]*$/, "")];
}

test("a model that names its own session by any of its names runs code, and one that names another's is told so [T2][S1][S7]", async () => {
  const named = ["sb-session-local", "sess-local", "sess-agent-default", "sb-session-bob", "sess-bob", "elsewhere"];
  await using model = await modelServer([
    calls(...named.map((session_id): [string, object] => ["execute_code", { code: "at once", session_id }])),
    calls(["execute_code", { code: "at once", sandbox_session_id: "sb-session-bob" }]),
    says("Done."),
  ]);
  await using yard = await startYard({ model, approves: true, ...sandboxOver(playedProvider()) });
  const { events } = await yard.ask("Compute.");
  const ends = events.flatMap((event) => (event.type === "call.finished" ? [event] : []));
  assert.deepEqual(
    ends.map(({ outcome, failure }) => (outcome === "ok" ? "ran" : failure?.code)),
    ["ran", "ran", "ran", ...Array(4).fill("session_of_another")],
  );
  assert.doesNotMatch(JSON.stringify(ends), /ignored unknown arguments/);
  assert.doesNotMatch(model.asked[0]?.text ?? "", /session_id/, "nobody is asked for it");
});
