import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ok } from "../../src/base/result.ts";
import { estimateTokens } from "../../src/models/models.ts";
import { openMetrics } from "../../src/observe/observe.ts";
import { foreignTool, type Tool } from "../../src/tools/tools.ts";
import { say, toldResults, waitingIn } from "../world/decisions.ts";
import { all } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { type AskedRequest, calls, modelServer, says, stepOf } from "../world/model-server.ts";
import { keys, startChat } from "../world/pty.ts";
import { effectTool } from "../world/tools.ts";
import { must, startYard } from "../world/yard.ts";

const services = ["github", "jira", "calendar", "mail", "crm", "billing", "wiki", "storage", "chat", "deploy"];
const deeds = ["list", "create", "update", "delete", "archive"];
const things = ["project", "ticket", "comment", "member"];

/** As ten connected services would bring them. */
const many: readonly Tool[] = services.flatMap((service) =>
  deeds.flatMap((deed) =>
    things.map((thing) =>
      foreignTool({
        name: `mcp__${service}__${deed}_${thing}`,
        description: `${deed} a ${thing} of ${service}. ${"It takes care of everything that belongs to it. ".repeat(4)}`,
        parameters: {
          type: "object",
          properties: { [`${thing}_id`]: { type: "string", description: `Which ${thing}.` }, note: { type: "string" } },
          required: [`${thing}_id`],
        },
        class: "pure",
        run: async (input) => ok({ text: `${service} ${deed} ${thing} ${JSON.stringify(input)}` }),
      }),
    ),
  ),
);

const from = (tools: readonly Tool[]) => [{ origin: "mcp" as const, source: { tools: () => tools } }];
const prefixOf = ({ body }: AskedRequest) => JSON.stringify([body.tools, body.messages[0]]);

test("200 tools of others cost next to nothing, and a model reaches any of them by what it finds [T1][R1][L3]", async () => {
  assert.equal(many.length, 200);
  await using model = await modelServer(() => says("hi"));
  const alone = await startYard({ model });
  await alone.ask("hello");
  await alone[Symbol.asyncDispose]();

  // All it knows is what the results before say: it looks for some of each service, and calls the first that is shown.
  const some = many.filter((_, index) => index % 7 === 0);
  const wanted = some.map(({ name }) => name.replaceAll(/mcp|_+/g, " "));
  model.answerWith((request) => {
    const step = stepOf(request);
    if (step === 0) return calls(...wanted.map((query): [string, unknown] => ["find_tools", { query }]));
    if (step === 2) return says("done");
    return calls(
      ...toldResults(request.body).map((text): [string, unknown] => {
        const [, name = "", argument = ""] = /^(mcp\w+) \{(\w+): string, note\?: string\}$/m.exec(text) ?? [];
        return ["use_tool", { name, arguments: JSON.stringify({ [argument]: "7" }) }];
      }),
    );
  });
  await using yard = await startYard({ model, sources: from(many) });
  const { answer, events } = await yard.ask("do it all");
  assert.equal(answer, "done");
  const [bare, full] = [model.asked[0], model.asked[1]].map((request) => request && prefixOf(request));
  assert.ok(bare !== undefined && full !== undefined);
  const growth = estimateTokens(full) - estimateTokens(bare);
  assert.ok(growth <= 1_500, `${growth} tokens`);
  const asked = all(events, "message.assistant").flatMap((event) => event.calls ?? []);
  const called = asked.filter(({ wrapped }) => wrapped !== undefined).map(({ name }) => name);
  assert.deepEqual(
    called,
    some.map(({ name }) => name),
  );
  const results = all(events, "call.finished").filter(({ text }) => text.includes('_id":"7"}'));
  assert.deepEqual([results.length, new Set(results.map(({ outcome }) => outcome))], [29, new Set(["ok"])]);
  assert.ok(results.every(({ untrusted, text }) => untrusted && text.startsWith("<data ")));
  assert.equal(all(events, "recipe.set").length, 1);
});

test("what use_tool calls is judged, asked about, edited and stored as the tool itself [T1][H1][H2]", async (t) => {
  const data = folderWith(t, {});
  const marks = join(data, "marks");
  const pay = { ...effectTool("pay", "unsafe", marks, { asks: true }), isOnDemand: true };
  const written = '{ "name": "pay",  "arguments": {"mark": "much"} }';
  await using model = await modelServer([calls(["use_tool", written]), says("paid"), says("bye")]);
  const first = await startYard({ model, data, tools: [pay] });
  const { conversation, status } = await first.ask("pay");
  assert.equal(status, "waiting");
  const [open] = await waitingIn(first, conversation);
  assert.deepEqual([open?.tool, open?.kind, open?.arguments], ["pay", "approval", '{"mark":"much"}']);
  await first[Symbol.asyncDispose]();

  // Also after a restart.
  await using yard = await startYard({ model, data, tools: [pay] });
  assert.equal(await say(yard, open, { verdict: "edit", arguments: '{"mrk": 1}' }), "tool_arguments_unfit");
  assert.deepEqual(await say(yard, open, { verdict: "edit", arguments: '{"mark":"little"}' }), []);
  const { answer, events } = await yard.whenAtRest(conversation);
  assert.equal(answer, "paid");
  assert.match(readFileSync(marks, "utf8"), /^\{"name":"pay","mark":"little"[^\n]*\n$/);
  const [answered] = all(events, "message.assistant");
  assert.deepEqual(
    answered?.calls?.map(({ name, arguments: given, wrapped }) => [name, given, wrapped]),
    [["pay", '{"mark":"much"}', { name: "use_tool", arguments: written }]],
  );
  assert.deepEqual([all(events, "call.started")[0]?.class, all(events, "call.finished")[0]?.outcome], ["unsafe", "ok"]);

  // The model reads what it wrote, to the byte, and all later requests begin with what was sent before.
  await yard.ask("thanks", { conversation });
  const sent = model.asked.map(({ body }) => body.messages);
  const [again] = sent[1]?.flatMap(({ tool_calls: said = [] }) => said) ?? [];
  assert.deepEqual(again?.function, { name: "use_tool", arguments: written });
  const bytes = sent.map((messages) => JSON.stringify(messages).slice(0, -1));
  assert.deepEqual([bytes.slice(1).map((later, index) => later.startsWith(bytes[index] ?? "?"))], [[true, true]]);
});

test("a rule about a tool of others counts for what use_tool calls, and a question shows that tool [T1][H1]", async (t) => {
  const rules = `tools:
  mcp__mail__delete_member:
    rules:
      - { argument: member_id, pattern: boss, action: deny, reason: not the boss }
      - { pattern: ann, action: ask, reason: think of Ann }
`;
  const data = folderWith(t, { "config/hitl_rules.yaml": rules });
  const remove = (member_id: string): [string, unknown] => [
    ...(["use_tool", { name: "mcp__mail__delete_member", arguments: JSON.stringify({ member_id }) }] as const),
  ];
  await using model = await modelServer([calls(remove("boss"), remove("ann"), remove("bob")), says("done")]);
  await using yard = await startYard({ model, data, sources: from(many) });
  const { conversation } = await yard.ask("clean up");
  const [open, ...others] = await waitingIn(yard, conversation);
  assert.deepEqual(
    [open?.tool, open?.arguments, open?.reason, others],
    ["mcp__mail__delete_member", '{"member_id":"ann"}', "think of Ann", []],
  );
  await say(yard, open, { verdict: "reject", reason: "keep her" });
  await yard.whenAtRest(conversation);
  const results = toldResults(model.asked[1]?.body ?? assert.fail());
  assert.match(results[0] ?? "", /^Error: tool_denied: .*mcp__mail__delete_member.*not the boss/);
  assert.match(results[1] ?? "", /^Error: tool_rejected: .*keep her/);
  assert.match(results[2] ?? "", /mail delete member \{"member_id":"bob"\}/);
});

test("tools that come and go change nothing of what is sent, and one that is gone is told as such [T1][L3]", async () => {
  let tools: readonly Tool[] = [];
  const sources = [{ origin: "mcp" as const, source: { tools: () => tools } }];
  const use = calls(["use_tool", { name: "mcp__jira__list_ticket", arguments: { ticket_id: "1" } }]);
  await using model = await modelServer([use, says("not there"), use, says("there"), use, says("gone")]);
  const metrics = await openMetrics({ version: "1", logger: console });
  await using yard = await startYard({ model, sources, observers: { metrics } });
  const { conversation } = await yard.ask("one");
  tools = many;
  await yard.ask("two", { conversation });
  tools = many.slice(0, 3);
  const { events } = await yard.ask("three", { conversation });
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome, failure }) => [outcome, failure?.code]),
    [
      ["error", "tool_not_found"],
      ["ok", undefined],
      ["error", "tool_not_found"],
    ],
  );
  assert.equal(all(events, "recipe.set").length, 1);
  assert.equal(new Set(model.asked.map(prefixOf)).size, 1);
  const counted = (await metrics.text()).match(/^agentyard_tool_calls_total\{.*tool=.*$/gm);
  assert.deepEqual(counted?.map((line) => /tool="(\w+)".* (\d+)$/.exec(line)?.slice(1)).sort(), [
    ["mcp__jira__list_ticket", "1"],
    ["use_tool", "2"],
  ]);
});

test("an agent with an allow list finds and calls nothing that is not on it [T1][A3]", async () => {
  await using model = await modelServer([
    calls(["find_tools", { query: "project of github" }], ["use_tool", { name: "mcp__github__list_project" }]),
    calls(
      ["mcp__github__list_project", { project_id: "1" }],
      ["use_tool", { name: "mcp__mail__list_project", project_id: 2 }],
    ),
    says("done"),
  ]);
  await using yard = await startYard({
    model,
    sources: from(many),
    agents: [
      {
        id: "clerk",
        name: "Clerk",
        description: "",
        prompt: "You are a clerk.",
        slot: undefined,
        tools: ["find_tools", "use_tool", "mcp__mail__list_project"],
      },
    ],
  });
  const row = await must(yard.engine.create((await yard.start("other")).owner, { agent: { agentId: "clerk" } }));
  await must(yard.engine.send(row, { text: "go", mode: "queue" }));
  await yard.whenAtRest(row.id);
  const told = model.asked.slice(1).flatMap(({ body }) => toldResults(body));
  const shapes = [
    /further tools\.[\s\S]*\nmcp__mail__list_project \{/,
    /^Error: tool_not_found/,
    /^Error: tool_not_found/,
    /mail list project/,
  ];
  assert.deepEqual([told.map((text, index) => shapes[index]?.test(text))], [[true, true, true, true]]);
  assert.deepEqual(
    model.asked[0]?.body.tools?.map((tool) => tool.function.name),
    ["find_tools", "transfer_to_general", "transfer_to_simple", "use_tool"],
  );
  const listed = async (conversation: string) =>
    (await must(yard.client.call("listTools", { query: { conversation } }))).items.map(({ name, tier }) => [
      name,
      tier,
    ]);
  assert.deepEqual(await listed(row.id), [
    ["find_tools", "loaded"],
    ["mcp__mail__list_project", "on_demand"],
    ["use_tool", "loaded"],
  ]);
  assert.ok((await listed("other")).length > 100, "the main agent has all of them");
});

test("a tool that somebody loads is told of from the next turn on, and after a restart; an unknown one is refused [T1][L3]", async (t) => {
  const data = folderWith(t, {});
  await using model = await modelServer(() => says("ok"));
  const told = () => model.asked.map(({ body }) => body.tools?.map((tool) => tool.function.name) ?? []);
  const first = await startYard({ model, data, sources: from(many) });
  const { conversation } = await first.ask("one");
  const load = (yard: typeof first, tool: string) =>
    yard.client.call("loadTool", { params: { id: conversation, tool } });
  const tiers = async (yard: typeof first, query: { conversation?: string }) => {
    const { items } = await must(yard.client.call("listTools", { query }));
    return items.flatMap(({ name, tier }) => (/^(now|mcp__crm__list_member|read_file)$/.test(name) ? [tier] : []));
  };
  const missing = await load(first, "mcp__crm__list_members");
  assert.deepEqual(missing.ok ? "" : missing.failure.code, "tool_not_found");
  for (const name of ["mcp__crm__list_member", "read_file", "mcp__crm__list_member"]) await must(load(first, name));
  assert.deepEqual(await tiers(first, { conversation }), ["loaded", "on_demand", "loaded"]);
  assert.deepEqual(await tiers(first, {}), ["on_demand", "on_demand", "loaded"]);
  const none = await first.client.call("listTools", { query: { conversation: "none" } });
  assert.equal(none.ok ? "" : none.failure.code, "conversation_not_found");
  await first[Symbol.asyncDispose]();

  await using yard = await startYard({ model, data, sources: from(many) });
  const { events } = await yard.ask("two", { conversation });
  await yard.ask("elsewhere");
  assert.deepEqual([told().map((names) => names.includes("mcp__crm__list_member"))], [[false, true, false]]);
  assert.deepEqual(
    [all(events, "tool.loaded").map(({ tool }) => tool), all(events, "recipe.set").map(({ cause }) => cause)],
    [["mcp__crm__list_member"], ["start", "tools_changed"]],
  );
});

test("/tools lists what there is by tier, searches, and loads one [T1][U1]", async () => {
  await using model = await modelServer(() => says("yes"));
  await using yard = await startYard({ model, sources: from(many) });
  const chat = startChat({ client: yard.client, language: "en" });
  const say = async (line: string, expected: string) => {
    chat.type(line + keys.enter);
    return chat.waitFor(expected);
  };
  await chat.waitFor("You> ");
  await say("/tools load now", "✗ Nothing was said here yet");
  await say("/tools submarine", "No tool has “submarine”");
  const screen = await say("/tools", "On demand, found by the model itself (214):");
  assert.ok(screen.includes("Told to the model with every request (18):"));
  await say("hello", "yes");
  await say(
    "/tools load mcp__crm__list_member",
    "✓ From the next message on the model is told of mcp__crm__list_member",
  );
  chat.leave();
  await chat.ended;
});
