import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { localOwner } from "../../src/protocol/ids.ts";
import { manualClock } from "../world/manual-clock.ts";
import { everything, filesystem, isAlive, memory, odd, program, startMcp, textOf } from "../world/mcp-servers.ts";

test("the tools of a real MCP server are there with their schemas, pictures and progress [G1][R1]", async (t) => {
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

  const shown: string[] = [];
  await place.call(
    "mcp__every__trigger-long-running-operation",
    { duration: 0.05, steps: 2 },
    { show: (said) => void shown.push(said) },
  );
  assert.equal(shown[0], "1/2\n");

  // What it gets of our environment is what the settings name, and nothing of ours.
  assert.deepEqual(Object.keys(JSON.parse(textOf(await place.call("mcp__every__get-env")))).sort(), [
    ...["GIVEN", "HOME", "LANG", "PATH"],
  ]);
});

test("a call that is stopped is cancelled at the server, and the next one works [G1][L6]", async (t) => {
  const place = await startMcp(t, [everything()]);
  await place.ready("everything");
  const stop = new AbortController();
  const stopped = place.call(
    "mcp__everything__trigger-long-running-operation",
    { duration: 3_000, steps: 3_000 },
    { signal: stop.signal, show: () => stop.abort() },
  );
  assert.ok("failure" in (await stopped));
  assert.equal(place.mcp.servers(localOwner)[0]?.state, "ready");
  assert.equal(textOf(await place.call("mcp__everything__echo", { message: "still here" })), "Echo: still here");
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
  assert.ok("failure" in died && died.failure.code === "mcp_server_failed", textOf(died));
  assert.equal(died.failure.params.why, "ended");
  assert.notEqual(Number(textOf(await place.call("mcp__odd__pid"))), first);

  // What may be done twice is done again by itself.
  const again = Number(textOf(await place.call("mcp__odd__pid")));
  assert.notEqual(textOf(await place.call("mcp__odd__die_once_".slice(0, 16) + nameOf(place), { pid: again })), "");

  await place.call("mcp__odd__die");
  const paused = await place.call("mcp__odd__pid");
  assert.ok("failure" in paused && paused.failure.code === "mcp_server_failed");
  assert.equal(paused.failure.params.why, "paused");
  clock.move(60_000);
  assert.ok(Number(textOf(await place.call("mcp__odd__pid"))) > 0);
});

/** The rest of a name that had to be cleaned. */
function nameOf({ mcp }: { mcp: { tools(owner: typeof localOwner): readonly { name: string }[] } }): string {
  return (
    mcp
      .tools(localOwner)
      .find(({ name }) => name.startsWith("mcp__odd__die_once"))
      ?.name.slice(16) ?? ""
  );
}

test("servers that hang, end at once, flood or are not there say what is wrong, within one limit of time [G1][P4]", async (t) => {
  for (const [server, why, said] of [
    [odd("silent", { startTimeoutMs: 400 }), "time", ""],
    [odd("gone"), "start", "exit 7"],
    [program("odd", [], { command: "/nowhere/at-all" }), "start", "ENOENT"],
    [odd("flood"), "start", "SIGKILL"],
  ] as const) {
    const place = await startMcp(t, [server]);
    const { state, failure } = await place.ready("odd");
    assert.equal(state, "failed");
    assert.ok(failure?.code === "mcp_server_failed");
    assert.equal(failure.params.why, why, JSON.stringify(failure));
    if (said !== "") assert.equal(failure.params.said, said);
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
  const place = await startMcp(t, [odd("deaf")]);
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
  assert.deepEqual(
    place.mcp.servers(localOwner).map(({ state }) => state),
    ["known", "starting"],
  );
  assert.ok(Number(textOf(await place.call("mcp__odd__pid"))) > 0);
});
