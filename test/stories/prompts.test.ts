import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import { defineTool } from "../../src/tools/tools.ts";
import { all } from "../world/events.ts";
import { type Answer, type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

/** A tool that fails in the ways the world has. */
const work = defineTool({
  name: "work",
  description: "Works on some pieces. For tests.",
  class: "pure",
  timeoutMs: 50,
  input: z.object({ pieces: z.number().describe("How many."), name: z.string().optional().describe("What they are.") }),
  run({ pieces, name }) {
    if (name === "glass") throw new Error("broken at /somewhere/inside");
    return pieces > 10 ? new Promise(() => {}) : ok({ text: `${pieces} pieces done` });
  },
});

type Call = readonly [name: string, written: string];

/** The first call goes wrong; the second is read from what the error says, and from nothing else. */
const recoveries: readonly [what: string, first: Call, error: RegExp, next: (error: string, first: Call) => Call][] = [
  [
    "a wrong name: the first of the names it proposes",
    ["current_now", '{"timezone": "UTC"}'],
    /^Error: tool_not_found: /,
    (error, [, written]) => [found(error, /Use one of: (\w+)/), written],
  ],
  [
    "an unknown time zone: the arguments of the example",
    ["now", '{"timezone": "Beijing"}'],
    /^Error: timezone_unknown: /,
    (error) => [found(error, /Call (\w+) with/), found(error, /(\{.*?\})/)],
  ],
  [
    "a word that is no status: the first of those in the form",
    ["todo_write", '{"todos": [{"content": "a", "status": "someday"}]}'],
    /^Error: tool_arguments_unfit: .*todos\.0\.status/,
    (error, [, written]) => [
      found(error, /Call (\w+) again/),
      written.replace("someday", found(error, /status: "(\w+)"/)),
    ],
  ],
  [
    "a missing argument: the one that is named",
    ["work", "{}"],
    /^Error: tool_arguments_unfit: .*pieces is missing/,
    (error) => [found(error, /Call (\w+) again/), `{"${found(error, /: (\w+) is missing/)}": 1}`],
  ],
  [
    "a list where an object is needed: one object",
    ["todo_write", '[{"content": "a", "status": "pending"}]'],
    /^Error: tool_arguments_(cut|broken): /,
    (error, [, written]) => [found(error, /Call (\w+) again/), `{"todos": ${written}}`],
  ],
  [
    "broken JSON: one whole object",
    ["now", '{"timezone": "UTC'],
    /^Error: tool_arguments_(cut|broken): /,
    (error, [, written]) => [found(error, /Call (\w+) again/), `${written}"}`],
  ],
  [
    "a call that takes too long: less at once",
    ["work", '{"pieces": 100}'],
    /^Error: tool_timeout: .*less to do at once/,
    (error) => [found(error, /Call (\w+) again/), '{"pieces": 5}'],
  ],
  [
    "a tool that breaks down: other arguments",
    ["work", '{"pieces": 5, "name": "glass"}'],
    /^Error: tool_crashed: .*Change the arguments/,
    (error) => [found(error, /before you call (\w+) again/), '{"pieces": 5, "name": "wood"}'],
  ],
];

test("a model that does what the error says gets on [R1][L5]", async () => {
  await using model = await modelServer();
  await using yard = await startYard({ model, tools: [work] });
  for (const [what, first, error, next] of recoveries) {
    model.answerWith((request) => answerTo(request, first, next));
    const { answer, events } = await yard.ask("go");
    const results = all(events, "call.finished");
    assert.deepEqual([answer, ...results.map(({ outcome }) => outcome)], ["done", "error", "ok"], what);
    assert.match(results[0]?.text ?? "", error, what);
    assert.doesNotMatch(results[0]?.text ?? "", /\/somewhere|\n\s+at /, what);
  }
});

test("a model that left out the question asks it as it is told to, and gets the answer [R1][H3]", async () => {
  const ask = (error: string): Call => ["ask_human", `{"${found(error, /: (\w+) is missing/)}": "Which one?"}`];
  await using model = await modelServer((request) => answerTo(request, ["ask_human", "{}"], ask));
  await using yard = await startYard({ model });
  const { conversation, status } = await yard.ask("go");
  assert.equal(status, "waiting");
  const { decisions } = await must(yard.client.call("getState", { params: { id: conversation } }));
  assert.equal(decisions[0]?.question, "Which one?");
  const params = { id: conversation, decision: decisions[0]?.id ?? "" };
  await must(yard.client.call("decide", { params, body: { verdict: "answer", answer: "the red one" } }));
  const { answer, events } = await yard.whenAtRest(conversation);
  assert.deepEqual([answer, all(events, "call.finished").at(-1)?.text], ["done", "the red one"]);
});

test("arguments in the forms that models really write are taken at once [R1]", async () => {
  const forms: Call[] = [
    ["todo_write", '{"todos": "[{\\"content\\": \\"a\\", \\"status\\": \\"done\\"}]"}'],
    ["todo_write", '"{\\"todos\\": [{\\"content\\": \\"b\\", \\"status\\": \\"进行中\\"}]}"'],
    ["work", '{"pieces": "5"}'],
    ["now", '{"tz": "Asia/Shanghai", "format": "long"}'],
  ];
  await using model = await modelServer([
    calls(...forms.map(([name, written]): [string, unknown] => [name, written])),
    says("done"),
  ]);
  await using yard = await startYard({ model, tools: [work] });
  const { events } = await yard.ask("go");
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome }) => outcome),
    ["ok", "ok", "ok", "ok"],
  );
});

test("a small model gets the short prompt, the few tools and a worked example; a large one the whole [R1][M1]", async () => {
  const small = await askedWith({ MODEL_BASIC_CONTEXT_WINDOW: "8192" });
  const full = await askedWith({ MODEL_BASIC_CONTEXT_WINDOW: "128000" });
  assert.deepEqual(
    [small.tools, full.tools],
    [
      [
        ...["ask_human", "edit_file", "execute_code", "find_files", "list_files"],
        ...["read_file", "search_file", "write_file"],
      ],
      [
        ...[
          "ask_human",
          "compact_context",
          "delegate_task",
          "edit_file",
          "execute_code",
          "fetch_web",
          "find_files",
          "find_tools",
        ],
        ...[
          "list_files",
          "read_file",
          "remember",
          "run_bash_command",
          "search_file",
          "todo_write",
          "transfer_to_simple",
          "use_tool",
          "write_file",
        ],
      ],
    ],
  );
  assert.deepEqual(
    [small, full].map(({ system }) => [/# Example/.test(system), /todo_write/.test(system)]),
    [
      [true, false],
      [false, true],
    ],
  );
});

async function askedWith(env: Record<string, string>): Promise<{ tools: string[]; system: string }> {
  await using model = await modelServer([says("done")]);
  await using yard = await startYard({ model, env });
  await yard.ask("go");
  const { tools = [], messages } = model.asked[0]?.body ?? { messages: [] };
  return { tools: tools.map((tool) => tool.function.name), system: String(messages[0]?.content) };
}

/** The first call; after an error what it proposes; after a result the end. */
function answerTo(request: AskedRequest, first: Call, next: (error: string, first: Call) => Call): Answer {
  const newest = request.body.messages.at(-1);
  const text = String(newest?.content);
  if (newest?.role !== "tool") return calls([...first]);
  return text.startsWith("Error: ") ? calls([...next(text, first)]) : says("done");
}

function found(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[1] ?? assert.fail(`${pattern} is not in: ${text}`);
}
