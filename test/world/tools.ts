import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import type { EffectClass, NewEvent } from "../../src/protocol/events.ts";
import { makeFailure } from "../../src/protocol/failure.ts";
import {
  builtins,
  defineTool,
  errorForModel,
  openToolkit,
  type Tool,
  type ToolContext,
} from "../../src/tools/tools.ts";
import { noWorkspace } from "../../src/workspace/workspace.ts";
import { noToolSandbox } from "./sandbox.ts";
import { noteWeb } from "./web.ts";
import { type TestWorkspace, testWorkspace } from "./workspace.ts";

/** Nobody is reached, and no name is known. */
const { web: noWeb } = noteWeb();

/** What a tool is given, with only so much of the world as a test puts into it. */
export function toolContext(overrides: Partial<ToolContext> = {}): ToolContext {
  return {
    signal: new AbortController().signal,
    clock: systemClock,
    ids: systemIds,
    key: "key",
    call: "call-1",
    agent: undefined,
    workspace: noWorkspace("agent-1", makeFailure("workspace_not_assigned", { agent: "agent-1" })),
    sandbox: noToolSandbox,
    knownHash: () => undefined,
    earlierCalls: () => [],
    documents: {
      search: () => assert.fail("nothing is searched here"),
      extract: () => assert.fail("no document is read here"),
      describe: () => assert.fail("no file is described here"),
      takeUp: () => assert.fail("no file is looked for here"),
      isAsFound: () => assert.fail("no file is looked for here"),
      typeOf: () => assert.fail("no file is described here"),
      view: () => assert.fail("no file is shown here"),
      notice: () => {},
      tidy: async () => {},
      forget: () => {},
      close: async () => {},
    },
    web: noWeb,
    outputBytesMax: 100_000,
    seesImages: false,
    todos: [],
    decision: undefined,
    compact: async () => assert.fail("no room is made here"),
    handOver: () => assert.fail("nobody is handed over here"),
    memory: {
      memories: () => assert.fail("nothing is remembered here"),
      add: () => assert.fail("nothing is remembered here"),
    },
    agents: {
      delegate: () => assert.fail("no agent is made here"),
      spawn: () => assert.fail("no agent is made here"),
      send: () => assert.fail("no agent is written to here"),
      terminate: () => assert.fail("no agent is ended here"),
    },
    furtherTools: async () => ({ onDemand: [], search: () => [] }),
    installPackages: () => assert.fail("there are no skills here"),
    askForm: async () => assert.fail("nobody is asked here"),
    show: () => {},
    searchHistory: () => assert.fail("nothing was said here"),
    ...overrides,
  };
}

/** What came of a call: the error as a model reads it where there was one. */
export type Outcome = { readonly text: string; readonly events: readonly NewEvent[]; readonly images: number };

export type FileTools = TestWorkspace & {
  call(tool: string, input: object, overrides?: Partial<ToolContext>): Promise<Outcome>;
};

/** Tools at work on real files; what they learn about a file they know in the next call, as in a conversation. */
export async function fileTools(
  t: Pick<TestContext, "after">,
  options: Parameters<typeof testWorkspace>[1] = {},
): Promise<FileTools> {
  const place = await testWorkspace(t, options);
  const toolkit = openToolkit(builtins);
  const known = new Map<string, { hash: string; isWhole: boolean }>();
  const knownHash: ToolContext["knownHash"] = (path, wanted) => {
    const seen = known.get(path);
    return wanted === undefined || seen?.isWhole ? seen?.hash : undefined;
  };
  const note = (event: Extract<NewEvent, { type: "file.known" | "file.changed" }>) => {
    const [before, hash] =
      event.type === "file.known" ? [event.hash, event.hash] : [event.before?.hash, event.after?.hash];
    const earlier = known.get(event.path);
    // What was seen whole stays so, and a change of what was seen in part does not show the rest.
    const wasWhole = earlier?.hash === before ? earlier?.isWhole : undefined;
    const isShown = event.type === "file.known" && event.part !== true;
    if (hash !== undefined)
      known.set(event.path, { hash, isWhole: isShown || (wasWhole ?? event.type === "file.changed") });
  };
  let count = 0;
  return {
    ...place,
    async call(tool, input, overrides = {}) {
      count += 1;
      const found = toolkit.open({ id: "1", name: tool, arguments: JSON.stringify(input) });
      if (!found.ok) return { text: errorForModel(found.failure), events: [], images: 0 };
      const { workspace } = place;
      const own = { workspace, key: `key-${count}`, knownHash };
      const output = await found.value.opened.run(toolContext({ ...own, ...overrides }));
      if (!output.ok) return { text: errorForModel(output.failure), events: [], images: 0 };
      const { text, events = [], images = [] } = output.value;
      for (const event of events) if (event.type === "file.known" || event.type === "file.changed") note(event);
      return { text, events, images: images.length };
    },
  };
}

/** A tool that writes a line into a file each time it runs, so that a test can count what really happened. */
export function effectTool(
  name: string,
  effectClass: EffectClass,
  file: string,
  options: { asks?: boolean; delayMs?: number } = {},
): Tool {
  return defineTool({
    name,
    description: `Leave a mark (${effectClass}). For tests.`,
    class: effectClass,
    input: z.object({ mark: z.string().describe("What is written.") }),
    ...(options.asks
      ? { ask: () => ({ kind: "approval" as const, reason: "it leaves a mark", risk: "medium" as const }) }
      : {}),
    async run({ mark }, { key, clock, signal }) {
      appendFileSync(file, `${JSON.stringify({ name, mark, key })}\n`);
      if (options.delayMs !== undefined) await clock.wait(options.delayMs, signal);
      return ok({ text: `${name} left ${mark}` });
    },
  });
}

/** A tool that never ends and does not listen. */
export const deafTool = defineTool({
  name: "deaf",
  description: "Never ends. For tests.",
  input: z.object({}),
  run: () => new Promise(() => {}),
});

/** A tool that ends when the test lets it. */
export function heldTool(name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isHeld = false;
  const tool = defineTool({
    ...{ name, description: "Waits. For tests.", input: z.object({}) },
    async run() {
      isHeld = true;
      await promise;
      isHeld = false;
      return ok({ text: name });
    },
  });
  return { tool, isHeld: () => isHeld, release: resolve };
}
