/** Programs in a sandbox that is there already: at the port, as a tool, over HTTP. */
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { ProgramPlace } from "../../src/sandbox/sandbox.ts";
import { builtins, openToolkit, type ToolContext } from "../../src/tools/tools.ts";
import type { Workspace } from "../../src/workspace/workspace.ts";
import { testDocuments } from "../../test/world/documents.ts";
import { noteWeb } from "../../test/world/web.ts";
import { type Figure, inTurns, timed } from "../figure.ts";
import { must } from "../must.ts";
import { barePython } from "./bare.ts";
import { openService } from "./service.ts";
import type { Sizes } from "./sizes.ts";
import { runAtPort, runInService, type World } from "./world.ts";

const atMost = { port: 0.05, tool: 0.3, http: 0.4, bash: 0.4 };
/** As an agent at work does it; the first of them finds everything as the other jobs left it. */
const inARow = 3;
const cell = "x = globals().get('x', 0) + 1";

export async function measureCells(world: World, sizes: Sizes): Promise<Figure[]> {
  const bare = barePython(world.folder);
  const guest = await world.open(await world.place());
  const call = await openTool(world, sizes);
  await using service = await openService(world.folder);
  const conversation = { conversation_id: "cells" };
  await service.run("u1", { ...conversation, code: makeFiles(sizes) });
  const jobs = [
    () => timed(bare),
    () => timed(() => runAtPort(guest, "python", cell)),
    () => timed(() => runAtPort(guest, "bash", "true")),
    () => timed(() => call("execute_code", { code: cell })),
    () => timed(() => call("run_bash_command", { command: "true" })),
    () => timed(() => service.run("u1", { ...conversation, code: cell })),
  ];
  const [none, port, shell, tool, toolShell, http] = await inTurns(sizes.rounds, jobs, inARow);
  await guest.close("measured");
  if (!(none && port && shell && tool && toolShell && http)) throw new Error("a job has no times");
  const ours = { unit: "ms", against: { what: "python3 -c pass", value: none } };
  const report = `with its report over ${sizes.files} files`;
  return [
    { what: "python3 -c pass", unit: "ms", value: none },
    { what: "warm Python cell, at the port", value: port, ...ours, atMost: atMost.port },
    { what: "bash, at the port", value: shell, ...ours, atMost: atMost.bash },
    { what: `warm Python cell, as a tool ${report}`, value: tool, ...ours, atMost: atMost.tool },
    { what: `bash, as a tool ${report}`, value: toolShell, ...ours },
    { what: `warm Python cell, over HTTP ${report}`, value: http, ...ours, atMost: atMost.http },
  ];
}

function makeFiles({ files }: Sizes): string {
  return `for i in range(${files}):\n    with open(f"outputs/file-{i}.txt", "w") as file:\n        file.write("x" * i)`;
}

/** The tools as a call in a conversation has them. */
async function openTool(world: World, sizes: Sizes): Promise<(name: string, input: object) => Promise<void>> {
  const place = await world.place();
  await runInService(world.sandbox, place, { language: "python", code: makeFiles(sizes) });
  const toolkit = openToolkit(builtins);
  return async (name, input) => {
    const { opened } = must(toolkit.open({ id: "1", name, arguments: JSON.stringify(input) }));
    const { text } = must(await opened.run(contextAt(world, place)));
    if (!/exit code 0/.test(text)) throw new Error(text);
  };
}

function noAgents(): never {
  throw new Error("there are no other agents here");
}

function contextAt({ sandbox }: World, place: ProgramPlace & { readonly workspace: Workspace }): ToolContext {
  return {
    signal: new AbortController().signal,
    clock: systemClock,
    ids: systemIds,
    key: "key",
    call: "call",
    agent: undefined,
    workspace: place.workspace,
    sandbox: {
      run: (wanted) => sandbox.run(place, wanted),
      reset: () => sandbox.reset(place),
      probe: () => sandbox.probe(),
      checkSession: async () => undefined,
    },
    knownHash: () => undefined,
    earlierCalls: () => [],
    documents: testDocuments(),
    web: noteWeb().web,
    outputBytesMax: 30_000,
    seesImages: false,
    todos: [],
    decision: undefined,
    handOver: () => {
      throw new Error("nobody is handed over here");
    },
    compact: () => Promise.reject(new Error("no room is made here")),
    memory: { memories: async () => [], add: () => Promise.reject(new Error("nothing is remembered here")) },
    furtherTools: async () => ({ onDemand: [], search: () => [] }),
    agents: {
      delegate: noAgents,
      spawn: noAgents,
      send: noAgents,
      terminate: noAgents,
    },
    installPackages: () => Promise.reject(new Error("there are no skills here")),
    askForm: async () => ({ action: "cancel" }),
    show: () => {},
    searchHistory: async () => ({ hits: [], total: 0, conversations: 0, isStopped: false }),
  };
}
