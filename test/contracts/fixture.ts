import { createHash } from "node:crypto";
import { systemClock } from "../../src/base/clock.ts";
import { eventBody, eventVersions, type NewEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { migrations } from "../../src/storage/sqlite/migrations.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { EncodedEvent, Storage } from "../../src/storage/storage.ts";
import { idOf, morning, unwrap } from "./storage-place.ts";

export const fixtureVersion = migrations.length;

/** Makes a database with every kind of event and row, and answers what is to be read from it for ever. */
export async function makeFixture(path: string): Promise<unknown> {
  const clock = { ...systemClock, now: () => morning };
  const storage = unwrap(openSqlite({ path, clock }));
  const create = async (id: string, title: string) =>
    unwrap(await storage.createConversation({ owner: localOwner, id: idOf(id), title, at: morning, events: [] }))
      .number;
  const number = await create("11111111-1111-4111-8111-111111111111", "Everything 一切");
  const deleted = await create("deleted", "Gone");
  await storage.putBlob(number, largeResult);
  unwrap(await storage.claimLease(number, "fixture", 3000));
  for (const [index, event] of everyEvent().entries()) {
    unwrap(await storage.append({ number, epoch: 1, events: [encode(event, morning + index)] }));
  }
  await storage.append({
    number,
    epoch: 1,
    events: [],
    with: {
      received: "client-message",
      wake: { notBefore: morning },
      row: {
        ...{ lastMessage: "hello 👋", turns: 1, updatedAt: morning + 100 },
        ...{ agentId: "writer", appKey: "app 一", readIndex: 2, isPinned: true, seenAt: morning + 50 },
      },
      asked: [{ decision: "d2", body: '{"question":"Which one?"}' }],
    },
  });
  await addFolders(storage, number);
  await addExecutions(storage);
  await addKept(storage, number);
  await addPeople(storage);
  await addSecrets(storage);
  await addToolboxes(storage);
  await storage.workspaceOf(deleted, { folder: "workspace/deleted", otherFolder: "workspace/other", at: morning });
  await storage.append({ number: deleted, events: [], with: { deleted: { at: morning } } });
  const contents = await readContents(storage);
  await storage.close();
  return contents;
}

async function addFolders(storage: Storage, number: number): Promise<void> {
  const folder = "workspace/11111111-1111-4111-8111-111111111111";
  unwrap(await storage.workspaceOf(number, { folder, otherFolder: "workspace/other", at: morning }));
  const times = { madeAt: morning + 1, usedAt: morning + 2, cleanedAt: morning + 3 };
  unwrap(await storage.updateWorkspace(folder, times));
  const agents = [
    { id: "task", parent: "root", folder: "workspaces/task" },
    { id: "worker", parent: "task" },
  ];
  unwrap(await storage.append({ number, epoch: 1, events: [], with: { agents } }));
  const trash = { id: "trash", number, owner: localOwner, workspace: "11111111-1111-4111-8111-111111111111", folder };
  unwrap(await storage.putTrash({ ...trash, movedAt: morning + 3, bytes: 12, files: 1 }));
}

async function addExecutions(storage: Storage): Promise<void> {
  const body = '{"code":"print(\'一\')"}';
  unwrap(await storage.putSession({ owner: localOwner, id: "sb-session-local", usedAt: morning, body }));
  for (const [id, endedAt] of [
    ["open", undefined],
    ["over", morning + 5],
  ] as const)
    unwrap(
      await storage.putExecution({
        id,
        owner: localOwner,
        createdAt: morning,
        endedAt,
        body,
        full: endedAt === undefined ? undefined : `${body} `,
      }),
    );
}

async function addKept(storage: Storage, number: number): Promise<void> {
  for (const [id, place] of [
    ["everywhere", undefined],
    ["here", number],
  ] as const)
    unwrap(await storage.putRule({ owner: localOwner, id, number: place, body: `{"id":"${id}"}`, at: morning }));
  for (const [id, conversation] of [
    ["told", undefined],
    ["noted", "11111111-1111-4111-8111-111111111111"],
  ] as const)
    unwrap(await storage.putMemory({ owner: localOwner, id, fact: "Prefers tea 茶.", conversation, at: morning }));
}

async function addPeople(storage: Storage): Promise<void> {
  const user = { id: localOwner, name: "Local 本地", password: "hashed", isAdmin: true, subject: "https://id 1" };
  unwrap(await storage.putUser({ ...user, at: morning }));
  const key = { id: "k1", owner: localOwner, name: "laptop", hash: "aa", shown: "ay_12", scopes: ["chat", "files"] };
  unwrap(await storage.putKey({ ...key, at: morning, usedAt: morning + 1, endsAt: morning + 2 }));
  const signIn = { hash: "bb", owner: localOwner, kind: "link" } as const;
  unwrap(await storage.putSignIn({ ...signIn, at: morning, endsAt: morning + 3 }));
  unwrap(await storage.beginOnce({ owner: localOwner, key: "once 一", fingerprint: "cc", at: morning }));
  unwrap(await storage.endOnce(localOwner, "once 一", '{"status":201}'));
}

async function addSecrets(storage: Storage): Promise<void> {
  const sealed = Buffer.from("not to be read");
  const times = { createdAt: morning, updatedAt: morning + 1 };
  unwrap(await storage.putSecret({ owner: localOwner, name: "a name 名", sealed, ...times }));
}

async function addToolboxes(storage: Storage): Promise<void> {
  const times = { createdAt: morning, updatedAt: morning + 1 };
  const box = { id: "box", owner: localOwner, body: '{"name":"天气"}', ...times };
  unwrap(await storage.putToolbox(box, [{ ...box, id: "tool", box: "box" }]));
}

/** What a database of an earlier version says today: it has none of what came later, and its workspaces were numbered. */
export function asToday(kept: object): unknown {
  const contents = { ...addedLater, ...kept };
  const isNumbered = "sessions" in kept;
  return JSON.parse(JSON.stringify(contents), (_, value) => {
    if (value?.cursor !== undefined) return { ...unmarked, ...value };
    if (isNumbered || value?.folder === undefined || value.kind === undefined) return value;
    return { ...value, ordinal: 1 + foldersInOrder.indexOf(value.folder) };
  });
}

/** A conversation was begun by a person, whom no chat route had told how far they had read, and who had pinned nothing. */
const unmarked = { origin: "person", isPassing: false, readIndex: 0, isPinned: false };

/** In which a migration numbers them: all were given in the same moment. */
const foldersInOrder = ["workspace/11111111-1111-4111-8111-111111111111", "workspace/deleted", "workspaces/task"];

const addedLater = {
  ...{ agents: [], orphans: [], trash: [], sessions: [], executions: { items: [], total: 0 } },
  ...{ rules: [], memory: [], users: [], keys: [], secrets: [], toolboxes: [], boxTools: [] },
  once: { owner: localOwner, key: "once 一", fingerprint: "cc", at: morning },
};

/** All that a storage with a fixture's conversations answers, in a form that JSON keeps. */
export async function readContents(storage: Storage): Promise<unknown> {
  const conversations = await storage.listConversations(localOwner, { limit: 10 });
  const [{ number } = { number: 0 }] = conversations;
  const contents = {
    conversations,
    deleted: await storage.conversationByNumber(2),
    events: await storage.read(number, { after: 0, limit: 1000 }),
    received: await storage.received(number, "client-message"),
    decisions: await storage.openDecisions(localOwner, 10),
    lease: await storage.claimLease(number, "reader", 0),
    wakes: (await storage.dueWakes(10)).map(({ number, notBefore }) => ({ number, notBefore })),
    workspace: await storage.findWorkspace(number),
    agents: await storage.agentsOf(number),
    orphans: await storage.orphanedWorkspaces(10),
    trash: await storage.listTrash(localOwner, 10),
    sessions: await storage.listSessions(10),
    executions: await storage.listExecutions(localOwner, { limit: 10, offset: 0 }),
    rules: await storage.listRules(localOwner, { limit: 10 }),
    memory: await storage.listMemory(localOwner, 10),
    users: await storage.listUsers(10),
    keys: await storage.listKeys(localOwner),
    signIn: await storage.findSignIn("bb"),
    secrets: await storage.listSecrets(localOwner, 10),
    toolboxes: await storage.listToolboxes(10),
    boxTools: await storage.listBoxTools(10),
    sealed: hexOf((await storage.findSecret(localOwner, "a name 名"))?.sealed),
    once: unwrap(await storage.beginOnce({ owner: localOwner, key: "once 一", fingerprint: "cc", at: morning })).row,
    blob: Buffer.from((await storage.getBlob(number, blobHash)) ?? []).toString("utf8"),
  };
  return JSON.parse(JSON.stringify(contents));
}

/** Undefined is left out by JSON. */
function hexOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("hex");
}

const largeResult = Buffer.from("a large result");
const blobHash = createHash("sha256").update(largeResult).digest("hex");

function encode(event: NewEvent, at: number): EncodedEvent {
  return { type: event.type, version: eventVersions[event.type], at, body: JSON.stringify(eventBody(event)) };
}

/** One of each type, with every optional field somewhere. */
function everyEvent(): NewEvent[] {
  return [...ofTurn(), ...ofDecisions(), ...ofConversation(), ...ofFiles()];
}

function ofTurn(): NewEvent[] {
  const failure = { code: "model_overloaded", params: { model: "m", status: 529 }, retryable: true };
  const image = { mime: "image/png", base64: "iVBORw0KGgo=" };
  const call = { id: "c1", name: "now", arguments: '{ "zone":"UTC" }', extra: { index: 0 } };
  const step = { turn: 1, step: 1, attempt: 1 };
  return [
    { type: "recipe.set", cause: "start", system: "You are …", tools: "[]", startedAt: morning },
    {
      type: "message.user",
      id: "m1",
      text: "hello 👋",
      images: [image],
      mode: "queue",
      slot: "vision",
      hints: ["code"],
    },
    { type: "message.user", agent: "a1", id: "m2", text: "wait", mode: "steer" },
    fromProgram(image, call),
    { type: "message.withdrawn", id: "m2" },
    { type: "turn.started", turn: 1, message: "m1", epoch: 1 },
    { type: "step.started", ...step, slot: "base", model: "demo", reason: "default", hash: "00", bytes: 9, reused: 0 },
    { type: "step.failed", ...step, kind: "overloaded", failure, retryAfterMs: 1000, textSeen: "Hel" },
    { type: "turn.recovered", turn: 1, epoch: 2 },
    {
      ...{ type: "step.started", ...step, attempt: 2, slot: "base", model: "demo", reason: "default", hash: "11" },
      ...{ bytes: 20, reused: 9, reminder: "Today is …", told: ["date:2026-01-01"], joined: ["m2"], final: true },
    },
    {
      ...{ type: "message.assistant", turn: 1, step: 1, text: "", reasoning: "hm", reasoningDetails: [{ a: 1 }] },
      ...{
        calls: [call, { id: "c2", name: "x", arguments: "{", invalid: true }],
        finish: "tool_calls",
        durationMs: 12,
        firstTokenMs: 5,
      },
      ...{ usage: { input: 10, output: 5, cachedInput: 4, reasoning: 2 }, usageEstimated: true },
    },
    { type: "call.started", call: "c1", class: "pure", attempt: 1 },
    { type: "call.finished", call: "c1", outcome: "ok", text: "noon", images: [image], blob: blobHash, durationMs: 3 },
    { type: "call.finished", call: "c2", outcome: "error", text: "not JSON", failure },
    {
      type: "call.finished",
      call: "c6",
      outcome: "ok",
      text: "head … tail",
      file: "temp/results/a.txt",
      untrusted: true,
    },
    { type: "cancel.asked", turn: 1 },
    { type: "turn.finished", turn: 1, outcome: "failed", failure },
  ];
}

/** With all that the chat routes and programs bring along. */
function fromProgram(
  image: { mime: string; base64: string },
  call: { id: string; name: string; arguments: string },
): NewEvent {
  const root = "/workspace/11111111-1111-4111-8111-111111111111/uploads/temparea/";
  return {
    ...{ type: "message.user", id: "m4", text: "sum it up", mode: "queue", own: 6, reply: "m5", run: "r1" },
    selected: { root, session: "sess-local", files: [`${root}a 一.csv`] },
    instead: [
      { role: "user", text: "before", images: [image] },
      { role: "assistant", text: "", toolCalls: [call] },
      { role: "tool", toolCallId: call.id, text: "noon" },
    ],
    inputs: { tone: "short", list: [1, { a: null }] },
    program: {
      instructions: "Be brief.",
      functions: [{ name: "weather", description: "Of a place.", parameters: { type: "object" } }],
      request: { metadata: { order: "7 一" }, previous: "resp_1", toolChoice: "auto" },
    },
  };
}

function ofDecisions(): NewEvent[] {
  const approval = { id: "d1", call: "c3", arguments: "{}", reason: "writes", layer: "tool" };
  const question = { id: "d2", call: "c4", question: "Which one?", context: "two fit", default: "a", required: true };
  const finding = { kind: "delete", action: "ask", risk: "high", layer: "default", what: "rm a" } as const;
  const match = { match: "call", hash: "44", shown: "rm a" } as const;
  return [
    { type: "decision.asked", turn: 1, kind: "approval", tool: "write_file", risk: "medium", ...approval },
    {
      ...{ type: "decision.made", id: "d1", verdict: "edit", by: "local", reason: "safer", arguments: '{"a":1}' },
      ...{ argumentsHash: "22", previous: "" },
    },
    {
      ...{ type: "decision.asked", turn: 1, kind: "approval", tool: "run_bash_command", risk: "high", id: "d3" },
      ...{ call: "c5", arguments: '{"command":"rm a"}', reason: "deletes", layer: "default", findings: [finding] },
      ...{ always: [match], scripts: "66", instead: "d1", time: morning, hash: "77" },
    },
    {
      ...{ type: "decision.made", id: "d3", verdict: "approve", by: "local", argumentsHash: "44", previous: "22" },
      ...{ rule: { id: "r1", tool: "run_bash_command", scope: "user", match, at: morning, by: "local" }, hash: "55" },
      ...{ scripts: "66", time: morning },
    },
    { type: "decision.asked", turn: 1, kind: "question", tool: "ask_human", ...question },
    { type: "decision.asked", turn: 1, kind: "function", tool: "weather", id: "d4", call: "c7", arguments: "{}" },
    {
      type: "decision.made",
      id: "d0",
      verdict: "answer",
      by: "local",
      answer: "a",
      argumentsHash: "33",
      previous: "22",
    },
  ];
}

function ofConversation(): NewEvent[] {
  return [
    { type: "compacted", turn: 1, strategy: "summary", upTo: 3, summary: "…", messagesBefore: 9, messagesAfter: 2 },
    {
      ...{ type: "compacted", turn: 1, strategy: "fallback", upTo: 4, summary: "…", messagesBefore: 9 },
      ...{ messagesAfter: 3, tokensBefore: 900, tokensAfter: 300, by: "person", focus: "tea 茶", because: "empty" },
      ...{ trims: [{ seq: 3, text: "short" }], kept: { files: 2 } },
    },
    { type: "compaction.undone", compacted: 23, by: "local" },
    { type: "agent.chosen", role: "writer", agentId: "a 一", agentKey: "k", appKey: "app 一" },
    { type: "checkpoint.saved", name: "before" },
    { type: "checkpoint.deleted", checkpoint: 21 },
    { type: "rewound", to: 5, cause: "checkpoint" },
    { type: "branched", parent: "11111111-1111-4111-8111-111111111110", place: 4 },
    { type: "todo.set", todos: [{ id: "0123abcd", content: "write", status: "in_progress", priority: "high" }] },
    { type: "conversation.renamed", title: "Everything 一切" },
    { type: "conversation.deleted", by: "local" },
  ];
}

function ofFiles(): NewEvent[] {
  const [before, after] = [
    { bytes: 3_000_000_000, mode: 0o644 },
    { hash: blobHash, bytes: 14, mode: 0o755 },
  ];
  const file = { path: "uploads/a 一.csv", name: "a 一.csv", type: "csv", bytes: 14, hash: blobHash };
  return [
    { type: "message.user", id: "m3", text: "Uploaded files: …", mode: "queue", files: [file] },
    {
      ...{ type: "file.changed", agent: "worker", workspace: "task", path: "a.txt", call: "c1", by: "tool" },
      ...{ before, after, lost: "too_large" },
    },
    { type: "file.known", agent: "worker", workspace: "task", path: "a.txt", hash: blobHash },
  ];
}
