import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import type { ToolContext } from "../../src/tools/tools.ts";
import { until } from "../world/events.ts";
import { manualClock } from "../world/manual-clock.ts";
import { everything, filesystem, isAlive, memory, odd, program, startMcp, textOf } from "../world/mcp-servers.ts";

test("the tools of a real MCP server are there with their schemas, pictures and progress, and a call that is stopped is cancelled there [G1][L6][R1]", async (t) => {
  const place = await startMcp(t, [everything("every", { env: { GIVEN: "yes" } })]);
  assert.deepEqual(place.mcp.servers(localOwner), [
    { id: "every", state: "configured", failure: undefined, generation: undefined, reachedBy: "program", tools: [] },
  ]);
  const { state, generation } = await place.ready("every");
  assert.deepEqual({ state, generation }, { state: "ready", generation: "legacy" });

  const sum = place.tool("mcp__every__get-sum");
  assert.deepEqual(sum.parameters, {
    type: "object",
    properties: {
      a: { type: "number", description: "First number" },
      b: { type: "number", description: "Second number" },
    },
    required: ["a", "b"],
  });
  assert.equal(sum.isOutside, true);
  assert.equal(textOf(await place.call("mcp__every__get-sum", { a: "2", b: 40 })), "The sum of 2 and 40 is 42.");
  assert.match(textOf(await place.call("mcp__every__get-sum", { a: 2 })), /b is missing/);

  const picture = await place.call("mcp__every__get-tiny-image");
  assert.ok("images" in picture && picture.images?.[0]?.mime === "image/png", textOf(picture));
  assert.match(textOf(picture), /\[picture 1: image\/png, .+\]/);

  const structured = await place.call("mcp__every__get-structured-content", { location: "Chicago" });
  assert.deepEqual(Object.keys(JSON.parse(textOf(structured))), ["temperature", "conditions", "humidity"]);
  assert.match(textOf(await place.call("mcp__every__get-resource-links", { count: 2 })), /\[resource .+: demo:/);

  // Of what comes with the result in one piece, as after a stall of this machine, the SDK tells the result alone.
  const shown: string[] = [];
  for (const duration of [0.05, 0.5, 5]) {
    const show = (said: string) => void shown.push(said);
    const steps = { duration, steps: 2 };
    if (shown.length === 0) await place.call("mcp__every__trigger-long-running-operation", steps, { show });
  }
  assert.equal(shown[0], "1/2\n");

  const [stop, long] = [new AbortController(), { duration: 300, steps: 3_000 }];
  const stopped = { signal: stop.signal, show: () => stop.abort() };
  assert.ok("failure" in (await place.call("mcp__every__trigger-long-running-operation", long, stopped)));
  assert.equal(place.mcp.servers(localOwner)[0]?.state, "ready");

  // What it gets of our environment is what the settings name, and nothing of ours.
  assert.deepEqual(Object.keys(JSON.parse(textOf(await place.call("mcp__every__get-env")))).sort(), [
    ...["GIVEN", "HOME", "LANG", "PATH"],
  ]);
});

test("the memory and the file servers from npm do their work [G1]", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "agentyard-mcp-files-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "a.txt"), "from a file");
  const place = await startMcp(t, [memory(join(folder, "memory.jsonl")), filesystem(folder)]);
  await Promise.all([place.ready("memory"), place.ready("files")]);
  const entities = [{ name: "Yard", entityType: "place", observations: ["has a gate"] }];
  await place.call("mcp__memory__create_entities", { entities: JSON.stringify(entities) });
  assert.match(textOf(await place.call("mcp__memory__search_nodes", { query: "gate" })), /has a gate/);
  assert.match(textOf(await place.call("mcp__files__read_text_file", { path: join(folder, "a.txt") })), /from a file/);
  const refused = await place.call("mcp__files__read_text_file", { path: "/etc/passwd" });
  assert.ok("isRefusal" in refused && refused.isRefusal, textOf(refused));
});

test("a server that ends is started again by the next call, and one that keeps ending is left alone for a while [G1][L2]", async (t) => {
  const clock = manualClock();
  const place = await startMcp(t, [odd("well")], { clock });
  await place.ready("odd");
  const first = Number(textOf(await place.call("mcp__odd__pid")));
  const died = await place.call("mcp__odd__die");
  const { code, params } = Object("failure" in died && died.failure);
  assert.deepEqual([code, params.why], ["mcp_server_failed", "ended"], textOf(died));
  assert.notEqual(Number(textOf(await place.call("mcp__odd__pid"))), first);

  // What may be done twice is done again by itself, where the server was well before.
  clock.move(61_000);
  const again = Number(textOf(await place.call("mcp__odd__pid")));
  const dieOnce = place.mcp.tools(localOwner).find(({ name }) => name.startsWith("mcp__odd__die_once"))?.name ?? "";
  const last = Number(textOf(await place.call(dieOnce, { pid: again })));
  assert.ok(last > 0 && last !== again);

  await place.call("mcp__odd__die");
  const paused = await place.call("mcp__odd__pid");
  const left = Object("failure" in paused && paused.failure);
  assert.deepEqual([left.code, left.params.why], ["mcp_server_failed", "paused"]);
  clock.move(60_000);
  assert.ok(Number(textOf(await place.call("mcp__odd__pid"))) > 0);
});

test("servers that hang, end at once, flood, refuse, make no sense or are not there say what is wrong, within one limit of time [G1][P4]", async (t) => {
  for (const [server, why, said] of [
    [odd("silent", { startTimeoutMs: 400 }), "time", ""],
    [odd("gone"), "start", "exit 7"],
    [program("odd", [], { command: "/nowhere/at-all" }), "start", "ENOENT"],
    [odd("flood"), "start", "SIGKILL"],
    [odd("unwilling"), "refused", "Not today"],
    [odd("mumbles"), "protocol", ""],
  ] as const) {
    const place = await startMcp(t, [server]);
    const { state, failure } = await place.ready("odd");
    assert.equal(state, "failed");
    const { code, params } = Object(failure);
    assert.deepEqual([code, params.why], ["mcp_server_failed", why], JSON.stringify(failure));
    if (said !== "") assert.equal(params.said, said);
    assert.doesNotMatch(JSON.stringify(failure), /nowhere/);
  }
});

test("a server that ends when it is asked for the newer generation, or talks beside the protocol, works [G1]", async (t) => {
  for (const manner of ["ends", "noisy", "grumble"]) {
    const place = await startMcp(t, [odd(manner)]);
    const { state } = await place.ready("odd");
    assert.equal(state, "ready", manner);
    assert.ok(Number(textOf(await place.call("mcp__odd__pid"))) > 0);
    if (manner === "grumble") assert.match(place.told.join("\n"), /MCP server \{server\} says.*no home to go to/);
  }
});

test("closing ends every process of a server, also one that does not listen and those that it left behind [G1]", async (t) => {
  // It is given a second and a half to end by itself.
  const clock = {
    ...systemClock,
    wait: (ms: number, signal?: AbortSignal) => systemClock.wait(ms === 1_500 ? 150 : ms, signal),
  };
  const place = await startMcp(t, [odd("deaf")], { clock });
  await place.ready("odd");
  const pids = [Number(textOf(await place.call("mcp__odd__pid"))), Number(textOf(await place.call("mcp__odd__leave")))];
  assert.deepEqual(await Promise.all(pids.map(isAlive)), [true, true]);
  await place.mcp.close();
  assert.deepEqual(await Promise.all(pids.map(isAlive)), [false, false]);
  const late = await place.call("mcp__odd__pid");
  assert.ok("failure" in late && late.failure.code === "mcp_server_failed" && late.failure.params.why === "closed");
});

test("tools that were known at the last start are there before any server runs, and one that hangs delays nothing [G1][Q3]", async (t) => {
  const before = await startMcp(t, [odd("well")]);
  await before.ready("odd");
  await before.mcp.close();
  const [file = ""] = await readdir(join(before.dataDir, "mcp"));
  assert.match(await readFile(join(before.dataDir, "mcp", file), "utf8"), /"generation":"legacy"/);

  const hanging = { ...odd("silent"), id: "hanging" };
  const place = await startMcp(t, [odd("well"), hanging], { dataDir: before.dataDir });
  assert.deepEqual(
    place.mcp.tools(localOwner).map(({ name }) => name.slice(0, 18)),
    ["mcp__odd__die", "mcp__odd__pid", "mcp__odd__leave", "mcp__odd__die_once", "mcp__odd__drop"],
  );
  assert.deepEqual([place.mcp.servers(localOwner).map(({ state }) => state)], [["known", "starting"]]);
  assert.ok(Number(textOf(await place.call("mcp__odd__pid"))) > 0);
});

test("a server of the newer generation is spoken with in it, and what it wants to know of a person is asked [G1]", async (t) => {
  const place = await startMcp(t, [odd("modern")]);
  const { state, generation } = await place.ready("odd");
  assert.deepEqual({ state, generation }, { state: "ready", generation: "modern" });
  const asked: unknown[] = [];
  const askForm: ToolContext["askForm"] = async (form) => {
    asked.push(form);
    return { action: "accept", content: { name: "Ada" } };
  };
  const answer = await place.call("mcp__odd__pid", {}, { askForm });
  assert.equal(textOf(answer), '{"action":"accept","content":{"name":"Ada"}} kept');
  assert.deepEqual(asked, [
    {
      ...{ question: "[odd] Who are you?", context: "name * (text)" },
      fields: [{ name: "name", kind: "text", required: true }],
    },
  ]);
});

test("names are cleaned so that every model takes them, the settings choose and rename tools, and of two equal names one stands [G1][R1]", async (t) => {
  const said = (isOn: boolean, alias?: string) => ({ isOn, alias, description: undefined });
  const place = await startMcp(t, [
    {
      ...odd("well"),
      id: "one",
      tools: new Map([
        ["pid", said(true, "process_id")],
        ["die", said(true)],
      ]),
    },
    { ...odd("well"), id: "two", tools: new Map([["pid", said(true, "process_id")]]) },
    { ...odd("well"), id: "three", tools: new Map([["die", said(false)]]) },
  ]);
  for (const id of ["one", "two", "three"]) await place.ready(id);
  const names = place.mcp.tools(localOwner).map(({ name }) => name);
  for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/);
  assert.deepEqual(
    names.map((name) => name.replace(/_[0-9a-f]{6}$/, "")),
    [
      ...["mcp__one__die", "process_id"],
      ...["mcp__three__pid", "mcp__three__leave", "mcp__three__die_once", "mcp__three__drop"],
    ],
  );
  const [, two] = place.mcp.servers(localOwner);
  assert.deepEqual(
    two?.tools.map(({ own, left }) => `${own}: ${left}`),
    ["die: off", "pid: name_taken", "leave: off", "die once: off", "drop: off"],
  );
  assert.match(place.told.join("\n"), /"server":"two","name":"process_id","left":"name_taken"/);
});

test("of a server with more tools than any model can be told of, the first 500 are taken [G1]", async (t) => {
  const place = await startMcp(t, [odd("well", {}, 600)]);
  await place.ready("odd");
  assert.equal(place.mcp.tools(localOwner).length, 500);
  const left = place.mcp.servers(localOwner)[0]?.tools.filter((tool) => tool.left === "too_many");
  assert.equal(left?.length, 604 - 500);
});

test("changed settings end the servers that are others now, and leave the rest running [G1][P5]", async (t) => {
  const place = await startMcp(t, [odd("well"), { ...odd("well"), id: "other" }]);
  await place.ready("odd");
  await place.ready("other");
  const pids = await Promise.all(
    ["odd", "other"].map(async (id) => Number(textOf(await place.call(`mcp__${id}__pid`)))),
  );
  await place.mcp.change([odd("well"), { ...odd("noisy"), id: "other" }]);
  assert.deepEqual(await Promise.all(pids.map(isAlive)), [true, false]);
  assert.deepEqual([place.mcp.servers(localOwner).map(({ state }) => state)], [["ready", "configured"]]);
});

test("whoever looks for a tool waits for servers that nothing is known of, and may stop waiting for one that hangs [G1][T1]", async (t) => {
  const alone = await startMcp(t, [odd("well")]);
  await alone.mcp.lookUp(localOwner, new AbortController().signal);
  assert.equal(alone.mcp.tools(localOwner).length, 5);

  const place = await startMcp(t, [odd("well"), { ...odd("silent"), id: "hanging" }]);
  const stop = new AbortController();
  const looked = place.mcp.lookUp(localOwner, stop.signal);
  const states = () => place.mcp.servers(localOwner).map(({ state }) => state);
  await until("the server that answers is ready", () => states()[0] === "ready");
  stop.abort();
  await looked;
  assert.deepEqual(states(), ["ready", "starting"]);
});

for (const manner of ["careless", "carelessModern"]) {
  test(`one tool that its server describes wrongly is left out, and the others are there (${manner}) [G1][P4]`, async (t) => {
    const place = await startMcp(t, [odd(manner)]);
    const { state, tools, failure } = await place.ready("odd");
    assert.equal(state, "ready", JSON.stringify(failure));
    assert.deepEqual(
      tools.filter(({ own }) => !/^(die|leave|drop)/.test(own)).map(({ own, left }) => [own, left]),
      [
        ["pid", undefined],
        ["titled", undefined],
        ["formless", "broken"],
        ["wrong", "broken"],
      ],
    );
    assert.match(place.told.join("\n"), /"name":"mcp__odd__formless","left":"broken"/);
    const output = await place.call("mcp__odd__titled");
    assert.ok(!("failure" in output), textOf(output));
    assert.throws(() => place.tool("mcp__odd__formless"));
  });
}
