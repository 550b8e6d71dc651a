import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { ClientCommand } from "../../src/terminal/terminal.ts";
import { folderWith } from "../world/folder.ts";
import { type AskedRequest, calls, modelServer, says } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { openTestPipe, runInPipe } from "../world/pty.ts";
import { saidOf } from "../world/said.ts";
import { modelEnv } from "../world/served.ts";
import { effectTool } from "../world/tools.ts";
import { startYard } from "../world/yard.ts";

type Limits = NonNullable<Extract<ClientCommand, { name: "run" }>["limits"]>;

async function runWith(
  yard: Parameters<typeof runInPipe>[1],
  limits: Limits,
  output: "json" | "text" | "stream-json" = "json",
) {
  const pipe = openTestPipe("");
  const code = await runInPipe(pipe, yard, { name: "run", output, message: "go", limits });
  const lines = pipe.written.output.trimEnd().split("\n");
  return { code, lines, errors: pipe.written.errors };
}

/** As the command line reads them. */
function rules(...written: string[]): NonNullable<Limits["yes"]> {
  return written.map((one) => {
    const [tool = "", pattern] = one.split(":");
    return { tool, pattern, written: one };
  });
}

const marks = () => effectTool("mark", "unsafe", "/dev/null", { asks: true });

test("--yes allows what fits and says so; what does not fit still needs a person [P2][H2]", async () => {
  await using model = await modelServer([
    calls(["mark", { mark: "a" }], ["mark", { mark: "b" }]),
    says("Both are done."),
    calls(["mark", { mark: "c" }]),
  ]);
  await using yard = await startYard({ model, tools: [marks()] });
  const allowed = await runWith(yard, { yes: rules("other_tool", "mark") });
  assert.equal(allowed.code, 0);
  assert.equal(JSON.parse(allowed.lines[0] ?? "").answer, "Both are done.");
  assert.equal(allowed.errors, "✓ Allowed by --yes mark: mark\n✓ Allowed by --yes mark: mark\n");
  const refused = await runWith(yard, { yes: rules("mark:nothing like it", "other_tool") });
  assert.equal(refused.code, 6);
  assert.equal(JSON.parse(refused.lines[0] ?? "").finish, "waiting");
});

test("--yes * answers no question: nobody is here who could [P2][H3]", async () => {
  await using model = await modelServer([calls(["ask_human", { question: "Which?" }])]);
  await using yard = await startYard({ model });
  assert.equal((await runWith(yard, { yes: rules("*") })).code, 6);
});

const schema = {
  type: "object",
  properties: { city: { type: "string" }, people: { type: "integer" } },
  required: ["city", "people"],
};

test("--json-schema: an answer that does not fit is told to the model; what fits is a value of its own [P2]", async (t) => {
  const folder = folderWith(t, { "schema.json": JSON.stringify(schema) });
  const answerSchema = join(folder, "schema.json");
  await using model = await modelServer([
    says("It is Bern, with many people."),
    says('{"city":"Bern","people":"many"}'),
    says('Here it is:\n```json\n{"city":"Bern","people":134000}\n```'),
    says('{"city":"伯尔尼","people":1}'),
    ...Array.from({ length: 3 }, () => says("no")),
  ]);
  await using yard = await startYard({ model });
  const fitting = await runWith(yard, { answerSchema });
  const { structured, finish, steps, usage } = JSON.parse(fitting.lines[0] ?? "");
  assert.deepEqual(
    { code: fitting.code, structured, finish, steps, usage },
    ...[
      {
        code: 0,
        structured: { city: "Bern", people: 134000 },
        finish: "done",
        steps: 3,
        usage: { input: 300, output: 30 },
      },
    ],
  );
  const said = model.asked.map(({ body }) => JSON.stringify(body.messages.at(-1)));
  assert.match(said[0] ?? "", /must be JSON that fits this JSON Schema/);
  assert.match(said[1] ?? "", /does not fit the JSON Schema/);
  assert.match(said[2] ?? "", /people/);
  const text = await runWith(yard, { answerSchema }, "text");
  assert.deepEqual([text.code, ...text.lines], [0, '{"city":"伯尔尼","people":1}']);
  const unfit = await runWith(yard, { answerSchema });
  const last = JSON.parse(unfit.lines[0] ?? "");
  assert.deepEqual([unfit.code, last.structured, last.error.kind, last.finish], [1, null, "answer_unfit", "failed"]);
  const [what] = last.error.message.split(" Run it again");
  assert.equal(what, saidOf("answer_unfit", { why: whyIn(what) }));
});

/** The words between the colon and the advice: what the parser says is its own affair. */
function whyIn(message: string): string {
  return /asked for: (.+)\.$/.exec(message)?.[1] ?? "";
}

test("a schema that is missing, no JSON or no schema is wrong usage, and nothing is sent [P2]", async (t) => {
  const folder = folderWith(t, { "list.json": "[1]", "broken.json": "{", "odd.json": '{"type":"nothing"}' });
  await using model = await modelServer([]);
  await using yard = await startYard({ model });
  for (const name of ["list.json", "broken.json", "odd.json", "none.json"]) {
    const { code, lines } = await runWith(yard, { answerSchema: join(folder, name) });
    const { conversation_id, error } = JSON.parse(lines[0] ?? "");
    assert.deepEqual([code, conversation_id, error.kind], [2, null, "usage"], name);
    assert.ok(error.message.includes(name), error.message);
  }
  assert.equal(model.asked.length, 0);
});

test("a second machine: --url uses a server, --file - sends standard input as a file; one that is away is said [P2][F3]", async (t) => {
  await using model = await modelServer(({ body }: AskedRequest) =>
    says(JSON.stringify(body.messages.at(-1)).includes("uploads/stdin.txt") ? "I have the file." : "I have nothing."),
  );
  const home = makeHome(t, { env: modelEnv(model) });
  const url = await home.serve();
  const sent = home.start("run", "--url", `${url}/`, "--json", "--file", "-", "look");
  sent.child.stdin.end("a,b\n1,2\n");
  const { code, output, errors } = await sent.ended;
  assert.deepEqual(
    [code, JSON.parse(output).answer, JSON.parse(output).files[0]?.path],
    [0, "I have the file.", "uploads/stdin.txt"],
    errors,
  );
  const gone = await home.start("log", "--url", "http://127.0.0.1:9", "abc").ended;
  assert.deepEqual([gone.code, gone.output, /^✗ AgentYard cannot be reached/.test(gone.errors)], [1, "", true]);
});
