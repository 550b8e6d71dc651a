import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { LogEvent } from "../../src/protocol/events.ts";
import { firstOf, isRoots, lastOf, report } from "../world/company.ts";
import { all } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { skillFolder, skillText } from "../world/skill-folder.ts";
import { filesOf } from "../world/undo.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Script = Readonly<Record<string, (request: AskedRequest, last: ReturnType<typeof lastOf>) => Answer>>;

/** Each agent answers by the first word of its first message. */
const scripted = (script: Script) => (request: AskedRequest) =>
  script[firstOf(request).split(/\s/)[0] ?? ""]?.(request, lastOf(request)) ?? says(report("nothing to do"));

const spawns = (...names: string[]) =>
  calls(...names.map((name): [string, unknown] => ["spawn_agent", { role: name, task: `${name} it` }]));
const failuresOf = (events: readonly LogEvent[]) =>
  all(events, "call.finished").flatMap(({ failure }) => (failure === undefined ? [] : [failure.code]));
const pathsOf = (items: readonly { readonly path: string }[]) => items.map(({ path }) => path);
const textOf = (request: AskedRequest) => request.body.messages.map(({ content }) => String(content)).join("\n");

test("a task works beside its parent with files of its own, asks, is answered, and gives back what it made [A1][W2][W3][W13]", async () => {
  await using model = await modelServer(
    scripted({
      go: (_, last) => {
        if (last.text.includes("which colour")) return calls(["send_message", { to: "painter", text: "blue" }]);
        if (last.text.includes("is done")) return says(`got it: ${last.text.split("\n")[1]}`);
        if (last.role === "tool") return says("they are at it");
        return calls([
          "spawn_agent",
          { role: "painter", task: "painter it", done_when: "there is paint", files: ["uploads/in.txt"] },
        ]);
      },
      painter: (_, last) => {
        if (last.text.startsWith("painter it")) return calls(["read_file", { path: "uploads/in.txt" }]);
        if (last.text.includes("blue")) return calls(["write_file", { path: "outputs/paint.txt", content: "blue" }]);
        if (last.text.includes("Success")) return says("painted in blue");
        if (last.text.includes("Delivered")) return says("I wait");
        return calls(["send_message", { to: "parent", text: "which colour?", wait_for_answer: true }]);
      },
    }),
  );
  await using yard = await startYard({ model });
  const row = await yard.start("c");
  await must(yard.engine.upload(row, { name: "in.txt", keep: false, chunks: bytes("input") }));
  const { answer, outcome, events } = await yard.ask("go", { conversation: "c" });
  assert.deepEqual([answer.slice(0, 8), outcome], ["got it: ", "done"]);
  const [spawned] = all(events, "agent.spawned");
  assert.deepEqual(
    [spawned?.mode, spawned?.name, spawned?.brief.split("\n\n")],
    ["task", "painter", ["painter it", "Done when: there is paint", "Files handed to you: uploads/in.txt"]],
  );
  assert.deepEqual(filesOf(yard, "c"), { "painter/paint.txt": "644 blue" });
  const id = spawned?.id ?? "";
  const { items } = await must(yard.client.call("listConversationAgents", { params: { id: "c" } }));
  assert.deepEqual(
    items.map(({ name, parent, mode, state, workspace, folder }) => [name, parent, mode, state, workspace, folder]),
    [
      ["root", null, "main", "idle", null, null],
      ["painter", "root", "task", "done", id, "outputs/painter"],
    ],
  );
  assert.deepEqual([items[1]?.steps, items[1]?.tokens.input], [5, 500]);
  assert.deepEqual([items[1]?.seq, items[1]?.budget.spent.steps, items[1]?.budget.limits.depth], [spawned?.seq, 5, 4]);
  assert.deepEqual(await readOf(yard, id, spawned?.seq ?? 1), ["agent.spawned", "agent.mailed", "agent.ended"]);
  const listed = await must(yard.client.call("listFiles", { params: { id: "c" }, query: { agent: id, path: "." } }));
  assert.deepEqual(
    listed.items.map(({ name }) => name),
    ["outputs", "uploads"],
  );
  const read = await yard.fetch(
    `http://localhost/api/v1/conversations/c/files/content?agent=${id}&path=outputs/paint.txt`,
    { method: "GET", headers: {} },
  );
  assert.equal(await read.text(), "blue");
  const nobody = await yard.client.call("listFiles", { params: { id: "c" }, query: { agent: "nobody" } });
  assert.equal(!nobody.ok && nobody.failure.code, "agent_unknown");
  const { items: changed } = await must(yard.client.call("listFileHistory", { params: { id: "c" }, query: {} }));
  // What it did to files of its own is not theirs.
  assert.deepEqual(pathsOf(changed), ["outputs/painter/paint.txt", "uploads/in.txt"]);
  const branch = await must(yard.client.call("branchConversation", { params: { id: "c" }, body: {} }));
  const { restored, left } = await must(yard.client.call("undoTurn", { params: { id: branch.id } }));
  assert.deepEqual([pathsOf(restored), left], [["outputs/painter/paint.txt"], []]);
  const before = await must(yard.client.call("undoTurn", { params: { id: "c" } }));
  assert.deepEqual(pathsOf(before.restored).toSorted(), [
    "outputs/paint.txt",
    "outputs/painter/paint.txt",
    "uploads/in.txt",
  ]);
  assert.deepEqual(filesOf(yard, "c"), {});
});

/** What `?agent=` reads besides what the agent did itself; all of it begins with its beginning and ends with the word to its parent. */
async function readOf(yard: TestYard, agent: string, seq: number): Promise<string[]> {
  const query = { agent, after: seq - 1, limit: 1_000 };
  const { items } = await must(yard.client.call("readEvents", { params: { id: "c" }, query }));
  assert.deepEqual([items[0]?.type, items.at(-1)?.type], ["agent.spawned", "agent.mailed"]);
  return items.flatMap((event) => ("agent" in event && event.agent === agent ? [] : [event.type]));
}

test("agents reach those of their own task and nobody else's; what has ended, or is not theirs, is refused [A1]", async () => {
  const quick = Promise.withResolvers<void>();
  await using model = await modelServer(
    scripted({
      go: (request, last) => {
        if (!textOf(request).includes('"ok":true,"agent"')) return spawns("one", "two");
        if (last.text.includes("quick (") && !textOf(request).includes("has ended"))
          return calls(["send_message", { to: "quick", text: "late" }], ["terminate_agent", { agent_id: "nobody" }]);
        return says("waiting");
      },
      one: (request, last) => {
        if (last.role === "user" && !textOf(request).includes("out_of_reach"))
          return calls(
            ["send_message", { to: "two", text: "hi" }],
            ["send_message", { to: "one", text: "to myself" }],
            ["send_message", { to: "nobody", text: "hi" }],
            ["terminate_agent", { agent_id: "root" }],
            ["spawn_agent", { role: "helper", task: "helper it", files: ["x"] }],
          );
        return says("one is done");
      },
      helper: (_, last) =>
        last.role === "user"
          ? calls(["send_message", { to: "one", text: "hello" }], ["terminate_agent", { agent_id: "one" }])
          : says("helped"),
      two: () => ({ ...says("two is done"), heldUntil: quick.promise }),
    }),
  );
  await using yard = await startYard({ model });
  const done = yard.ask("go");
  await whenAsked(model, "helper");
  quick.resolve();
  const { events } = await done;
  assert.deepEqual(failuresOf(events).toSorted(), [
    "agent_not_yours",
    "agent_not_yours",
    "agent_out_of_reach",
    "agent_out_of_reach",
    "agent_unknown",
  ]);
  const [toOne] = all(events, "agent.mailed").filter(({ text }) => text.endsWith("hello"));
  assert.match(toOne?.text ?? "", /^\[Message from the agent helper \(task-[0-9a-f]{12}\)\]\nhello$/);
});

test("a parent hears of failure, of silence, and that no answer will come; a task that is ended takes all below with it [A1]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer(
    scripted({
      go: (request, last) => {
        const said = textOf(request);
        if (!said.includes('"ok":true,"agent"')) return spawns("broken", "silent", "asking", "deep");
        if (said.includes("deep is ready") && !said.includes("deep is being ended"))
          return calls(["terminate_agent", { agent_id: "deep" }]);
        return says(`heard ${last.text.length}`);
      },
      broken: () => ({ status: 401, body: "{}" }),
      silent: () => says(""),
      asking: (_, last) => {
        if (last.text.includes("No answer will come")) return says("on my own then");
        if (last.role === "tool") return says("waiting for it");
        return calls(["send_message", { to: "parent", text: "anybody?", wait_for_answer: true }]);
      },
      deep: (_, last) => {
        if (last.text.startsWith("deep it")) return calls(["spawn_agent", { role: "below", task: "below it" }]);
        if (last.text.includes('"agent":')) return calls(["send_message", { to: "parent", text: "deep is ready" }]);
        return says("deep waits");
      },
      below: () => ({ ...says("never"), heldUntil: held.promise }),
    }),
  );
  await using yard = await startYard({ model });
  const { outcome, events } = await yard.ask("go");
  held.resolve();
  assert.equal(outcome, "done");
  const names = new Map(all(events, "agent.spawned").map(({ id, name }) => [id, name]));
  assert.deepEqual(Object.fromEntries(all(events, "agent.ended").map(({ id, outcome }) => [names.get(id), outcome])), {
    broken: "failed",
    silent: "done",
    asking: "done",
    deep: "terminated",
    below: "terminated",
  });
  const mails = all(events, "agent.mailed").map(({ agent = "root", to, kind = "message" }) => [
    ...[names.get(agent) ?? agent, names.get(to) ?? to, kind],
  ]);
  assert.deepEqual(mails.map((mail) => mail.join(" ")).toSorted(), [
    "asking asking silence",
    "asking root message",
    "asking root result",
    "broken root failure",
    "deep root message",
    "silent root silence",
  ]);
  const failed = all(events, "agent.mailed").find(({ kind }) => kind === "failure");
  assert.match(failed?.text ?? "", /Error: model_auth: /, "and why it failed");
  const order = all(events, "agent.ended").map(({ id }) => names.get(id));
  assert.ok(order.indexOf("below") < order.indexOf("deep"), "from the bottom up");
});

test("who waits for a task that waits for a person is told nothing until the person has answered, and then what the task says [A1][H3]", async () => {
  await using model = await modelServer(
    scripted({
      go: (request, last) => {
        if (last.text.includes("is done")) return says(`got it: ${last.text.split("\n")[1]}`);
        if (last.text.includes('"ok":true,"agent"'))
          return calls(["send_message", { to: "planner", text: "where to?", wait_for_answer: true }]);
        return textOf(request).includes("Delivered") ? says("I wait") : spawns("planner");
      },
      planner: (request) =>
        textOf(request).includes("Bonn") ? says("to Bonn") : calls(["ask_human", { question: "Which city?" }]),
    }),
  );
  await using yard = await startYard({ model });
  const { conversation, status } = await yard.ask("go");
  const { items } = await must(yard.client.call("listDecisions", {}));
  assert.deepEqual([status, items.length], ["waiting", 1]);
  const params = { id: conversation, decision: items[0]?.id ?? "" };
  await must(yard.client.call("decide", { params, body: { verdict: "answer", answer: "Bonn" } }));
  const { answer, events } = await yard.whenAtRest(conversation);
  assert.equal(answer, "got it: to Bonn");
  assert.deepEqual(
    all(events, "agent.mailed").map(({ agent = "root", kind = "message" }) => [agent === "root", kind]),
    [
      [true, "message"],
      [false, "result"],
    ],
  );
});

test("a person stops one agent; its parent is told and the others go on, also after a restart [A1][L2]", async () => {
  const held = Promise.withResolvers<void>();
  await using model = await modelServer(
    scripted({
      go: (request) => (textOf(request).includes('"ok":true,"agent"') ? says("ok") : spawns("slow", "asker")),
      slow: () => ({ ...says("never"), heldUntil: held.promise }),
      asker: (_, last) =>
        last.role === "tool" ? says(`heard ${last.text}`) : calls(["ask_human", { question: "Well?" }]),
    }),
  );
  const first = await startYard({ model });
  await first.start("c");
  await must(first.client.call("sendMessage", { params: { id: "c" }, body: { text: "go", mode: "queue" } }));
  await whenSeen(first, "c", (event) => event.type === "decision.asked");
  await first.close();
  await using yard = await startYard({ model, data: first.data });
  const stop = (agent: string) => yard.client.call("stopAgent", { params: { id: "c", agent } });
  const nobody = await stop("nobody");
  assert.equal(!nobody.ok && nobody.failure.code, "agent_unknown");
  assert.match((await must(stop("slow"))).agent, /^task-/);
  await whenSeen(yard, "c", (event) => event.type === "agent.mailed" && event.kind === "failure");
  const again = await stop("slow");
  assert.equal(!again.ok && again.failure.code, "agent_ended");
  const { items } = await must(yard.client.call("listDecisions", {}));
  assert.equal(items[0]?.path.length, 2);
  const params = { id: "c", decision: items[0]?.id ?? "" };
  await must(yard.client.call("decide", { params, body: { verdict: "answer", answer: "well" } }));
  const { outcome, events } = await yard.whenAtRest("c");
  held.resolve();
  assert.equal(outcome, "done");
  assert.deepEqual(
    all(events, "agent.ended")
      .map(({ outcome }) => outcome)
      .toSorted(),
    ["done", "terminated"],
  );
  assert.equal(all(events, "agent.spawned").length, 2);
  assert.deepEqual(all(events, "turn.finished").filter(isRoots).length, 1);
});

test("a task is not linked to skills: they lie in files that are not its own [K1][A2][W3]", async (t) => {
  const skills = skillFolder(t);
  skills.write("greetings/SKILL.md", skillText("greetings"));
  await using model = await modelServer(
    scripted({
      go: (_, last) =>
        last.role === "user" && !last.text.startsWith("[")
          ? calls(["spawn_agent", { role: "painter", task: "painter uses @greetings" }])
          : says("ok"),
      painter: () => says("painted"),
    }),
  );
  await using yard = await startYard({ model, data: skills.data });
  const { events } = await yard.ask("go by @greetings");
  assert.deepEqual(
    all(events, "skill.linked").map(({ agent, skill }) => [agent, skill]),
    [[undefined, "greetings"]],
  );
});

test("looking at a task makes no folder; 500 files are handed over, but neither 501 nor what is not there; of them only what was changed comes back, also where it is as long as before [W2][W13]", async () => {
  await using model = await modelServer(
    scripted({
      go: (_, last) => {
        if (last.role !== "user" || last.text.startsWith("[")) return says("ok");
        return calls(
          ["spawn_agent", { role: "looker", task: "looker it" }],
          ["spawn_agent", { role: "none", task: "none it", files: ["uploads/none.txt"] }],
          ["spawn_agent", { role: "all", task: "all it", files: ["uploads"] }],
          ["spawn_agent", { role: "out", task: "out it", files: ["../.."] }],
          ["spawn_agent", { role: "most", task: "most it", files: ["uploads/many", "uploads/many/7.txt", "skills"] }],
        );
      },
      looker: (_, last) =>
        last.role === "user"
          ? calls(
              ["list_files", { path: "." }],
              ["read_file", { path: "a.txt" }],
              ["get_workspace_info", {}],
              // What was said elsewhere is not for a task.
              ["search_history", { query: "go" }],
            )
          : says("nothing there"),
      most: (_, last) => {
        const path = "uploads/many/7.txt";
        if (last.text.startsWith("most it")) return calls(["read_file", { path }]);
        if (last.text.startsWith("==="))
          return calls(
            ["edit_file", { path, old_string: "7", new_string: "8" }],
            ["write_file", { path: "temp/scratch.txt", content: "only for itself" }],
          );
        return says("many");
      },
    }),
  );
  await using yard = await startYard({ model, approves: true });
  await yard.start("c");
  const folder = join(yard.data, "workspace/c/uploads/many");
  mkdirSync(folder);
  for (let count = 0; count < 500; count += 1) writeFileSync(join(folder, `${count}.txt`), String(count));
  chmodSync(join(folder, "7.txt"), 0o755);
  writeFileSync(join(folder, "../one more.txt"), "x");
  writeFileSync(join(yard.data, "workspace/c/skills/own.txt"), "skills stay with the conversation");
  const { events } = await yard.ask("go", { conversation: "c" });
  assert.deepEqual(failuresOf(events).toSorted(), [
    ...["file_not_found", "hand_over_too_many", "path_traversal_blocked", "tool_not_found"],
  ]);
  const [looker, most, ...others] = all(events, "agent.spawned");
  assert.deepEqual([looker?.name, most?.name, others.length], ["looker", "most", 0]);
  const folderOf = (id = "") => join(yard.data, "workspaces", id);
  assert.ok(!existsSync(folderOf(looker?.id)));
  assert.equal(readdirSync(join(folderOf(most?.id), "uploads/many")).length, 500);
  assert.deepEqual(filesOf(yard, "c"), { "most/uploads/many/7.txt": "755 8" });
  assert.equal(filesOf(yard, "c", "uploads")["many/7.txt"], "755 7");
});

async function whenSeen(yard: TestYard, id: string, isIt: (event: LogEvent) => boolean): Promise<void> {
  const stop = new AbortController();
  for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal }))
    if (frame.frame === "event" && isIt(frame.event)) return stop.abort();
}

/** Whoever waits for a request looks again with each that comes. */
async function whenAsked(model: { readonly asked: AskedRequest[] }, first: string): Promise<void> {
  while (!model.asked.some((request) => firstOf(request).startsWith(first)))
    await new Promise((resolve) => setImmediate(resolve));
}

async function* bytes(text: string) {
  yield Buffer.from(text);
}
