import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type PlayedProgram, playedSandbox } from "../../../test/world/played-sandbox.ts";
import { fileTools } from "../../../test/world/tools.ts";
import type { WorkspaceLimits } from "../../workspace/workspace.ts";

const output = (stream: "stdout" | "stderr", said: string | Buffer) => [
  { kind: "output", stream, bytes: Buffer.from(said) } as const,
];
const says = (text: string | Buffer) => output("stdout", text);
const complains = (text: string) => output("stderr", text);
const value = (text: string) => [{ kind: "result", type: "text", bytes: Buffer.from(text) } as const];
const figure = (path: string) => ({ kind: "result", type: "png", bytes: Buffer.from(path) }) as const;

/** Tools at work on real files, and programs that are played in them by way of the real service. */
async function codeTools(t: TestContext, limits: Partial<WorkspaceLimits> = {}) {
  const tools = await fileTools(t, { limits });
  return { ...tools, ending: (program: PlayedProgram = {}) => playedSandbox(t, tools, program) };
}

test("a program's output, its last value, how it ended and what it did to files are told in one result [X1][T6]", async (t) => {
  const { ending, ...tools } = await codeTools(t, { keptFileBytesMax: 5 });
  await tools.workspace.write("uploads/b.csv", "before");
  await tools.workspace.write("temp/c", "c");
  const { sandbox } = ending({
    does(folder) {
      writeFileSync(join(folder, "outputs/a.csv"), "x".repeat(1_536));
      writeFileSync(join(folder, "outputs/figure-1.png"), "x".repeat(9));
      writeFileSync(join(folder, "uploads/b.csv"), "after");
      rmSync(join(folder, "temp/c"));
    },
    says: [...says("42\n"), ...complains("careful\n"), ...value("'x'"), figure("outputs/figure-1.png")],
  });
  const { text, events, images } = await tools.call("execute_code", { code: "…" }, { sandbox });
  assert.deepEqual(text.split("\n"), [
    ...["--- stdout", "42", "--- stderr", "careful", "--- value", "'x'", "[exit code 0, less than 1 s]", "Files:"],
    "+ outputs/figure-1.png (9 bytes) figure",
    "+ outputs/a.csv (1.5 KB)",
    "- temp/c",
    "~ uploads/b.csv (5 bytes) undo cannot bring back what was there before",
  ]);
  assert.equal(images, 0);
  const changed = events.find((event) => event.type === "file.changed" && event.path === "uploads/b.csv");
  assert.partialDeepStrictEqual(changed, {
    ...{ type: "file.changed", call: "call-1", by: "tool", program: true, lost: "too_large" },
    ...{ before: { bytes: 6 }, after: { bytes: 5 } },
  });
  assert.equal(events.length, 4);
});

test("how a program ended stands in the first line, and a failed program is no failed tool [X1][T6]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const cases: [PlayedProgram, string, string][] = [
    [{ ends: { code: 1 } }, "Failed (exit code 1)", "Command failed (exit code 1)"],
    [
      { ends: { how: "timeout", code: undefined }, takesMs: 2_050 },
      "Error: Code timeout (2s)",
      "Error: Command timeout (2s)",
    ],
    [{ ends: { code: undefined, signal: "SIGSEGV" } }, "Failed (ended by SIGSEGV)", "Failed (ended by SIGSEGV)"],
  ];
  for (const [program, ofCode, ofCommand] of cases) {
    const { sandbox } = ending({ ...program, says: complains("Traceback\n") });
    const code = await tools.call("execute_code", { code: "x", timeout: 2 }, { sandbox });
    const command = await tools.call("run_bash_command", { command: "x", timeout: 2 }, { sandbox });
    assert.deepEqual(
      [code, command].map(({ text }) => text.split("\n").slice(0, 3)),
      [
        [ofCode, "--- stderr", "Traceback"],
        [ofCommand, "--- stderr", "Traceback"],
      ],
    );
  }
  for (const how of ["out_of_memory", "lost", "killed"] as const) {
    const { text } = await tools.call("execute_code", { code: "x" }, ending({ ends: { how, code: undefined } }));
    assert.match(text, /^Failed \([^\n]+\)[^\n]*\n\(no output\)\n\[less than 1 s\]$/, how);
  }
});

test("output that was cut says where the rest is [X1]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const said = `${"a".repeat(30_000)}${"b".repeat(30_000)}`;
  const { text } = await tools.call(
    "run_bash_command",
    { command: "yes" },
    ending({ says: says(said), takesMs: 3_400 }),
  );
  const [, ...told] = text.split("\n");
  const [, cutBytes, path = ""] =
    /^\[(\d+) bytes of stdout are left out above; read_file (temp\/\S+) has all of it\]$/.exec(told.at(-2) ?? "") ?? [];
  assert.ok(Number(cutBytes) >= 20_000 && Number(cutBytes) < 25_000, text.slice(-200));
  assert.equal(told.at(-1), "[exit code 0, 3 s]");
  const kept = await tools.workspace.read(path);
  assert.ok(kept.ok && kept.value.bytes.equals(Buffer.from(said)));
});

test("variables that are gone are told, and only those [X1]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const told = async (program: PlayedProgram, ...earlier: object[]) => {
    const earlierCalls = () => earlier.map((input) => ({ arguments: JSON.stringify(input) }));
    const { text } = await tools.call("execute_code", { code: "x" }, { ...ending(program), earlierCalls });
    return text.split("\n").slice(0, -1);
  };
  const [anew, ended] = [
    "[Python was started anew; earlier variables are gone]",
    "[Python was ended; its variables are gone]",
  ];
  const fresh = { isPythonNew: true, says: says("1") } as const;
  assert.deepEqual(await told(fresh), ["1"]);
  assert.deepEqual(await told(fresh, { code: "ls", language: "bash" }), ["1"]);
  assert.deepEqual(await told(fresh, { code: "x = 1" }), ["1", anew]);
  assert.deepEqual(await told(fresh, { code: "x = 1", language: "python3" }), ["1", anew]);
  const late = { how: "timeout", code: undefined } as const;
  assert.deepEqual(await told({ ends: late }), ["Error: Code timeout (1s)", "(no output)"]);
  assert.deepEqual(await told({ ends: { ...late, isPythonLost: true } }), [
    "Error: Code timeout (1s)",
    "(no output)",
    ended,
  ]);
  const full = { how: "out_of_memory", code: 137 } as const;
  const noMemory = "Failed (out of memory). Work on less data at once.";
  assert.deepEqual(await told({ ends: full }), [noMemory, "(no output)"]);
  assert.deepEqual(await told({ ends: { ...full, isPythonLost: true } }), [noMemory, "(no output)", ended]);
});

test("a figure is shown to a model that sees, if it is a small whole image, and only named to others [X6]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const program = (name: string): PlayedProgram => ({
    does(folder) {
      mkdirSync(join(folder, "outputs", name));
      writeFileSync(join(folder, "outputs", name, "a.png"), png);
      writeFileSync(join(folder, "outputs", name, "b.png"), "no image");
    },
    says: ["a", "b"].map((of) => figure(`outputs/${name}/${of}.png`)),
  });
  const seen = await tools.call("execute_code", { code: "x" }, { ...ending(program("1")), seesImages: true });
  assert.deepEqual(
    [seen.images, seen.text.split("\n").slice(-2)],
    [1, ["+ outputs/1/a.png (70 bytes) figure, shown with this result", "+ outputs/1/b.png (8 bytes) figure"]],
  );
  assert.equal((await tools.call("execute_code", { code: "x" }, ending(program("2")))).images, 0);
});

test("arguments are taken as models write them; times in seconds, or plainly in milliseconds [T1][X1]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const { sandbox, asked } = ending();
  await tools.call("execute_code", { script: "ls", lang: "Shell", timeout_ms: 5_000 }, { sandbox });
  await tools.call("execute_code", { source: "1", language: "js", timeout_seconds: "90" }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeout: 0.5 }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeoutMs: "1500" }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeout_ms: 9_000_000, timeout: null }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeout: 5_000 }, { sandbox });
  assert.deepEqual(asked, [
    ["bash", "ls", 5_000],
    ["javascript", "1", 90_000],
    ["bash", "ls", 500],
    ["bash", "ls", 1_500],
    ["bash", "ls", 3_600_000],
    ["bash", "ls", 5_000],
  ]);
});

test("code is run under the names that models know the tool by, without the fence around it [T1][X1]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const { sandbox, asked } = ending();
  const names = ["python", "execute_python", "run_python", "code_interpreter", "run_code"];
  for (const name of names) await tools.call(name, { code: "```python\nprint(1)\n```\n" }, { sandbox });
  const quoted = "s = '''\n```\nx\n```\n'''";
  await tools.call("execute_code", { code: "```\na\n\n```", language: "ts" }, { sandbox });
  await tools.call("execute_code", { code: quoted }, { sandbox });
  await tools.call("run_bash_command", { command: "```bash\nls\n```" }, { sandbox });
  assert.deepEqual(
    asked.map((wanted) => wanted.slice(0, 2)),
    [...names.map(() => ["python", "print(1)"]), ["javascript", "a\n"], ["python", quoted], ["bash", "ls"]],
  );
});

test("colours and what a progress bar wrote over are left out of what models read [X1]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const { sandbox } = ending({
    says: [
      ...says("a\rb\r\n\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007\r\n中文\n"),
      ...complains(Array.from({ length: 101 }, (_, index) => `\r${index}%`).join("")),
    ],
  });
  const { text } = await tools.call("execute_code", { code: "x" }, { sandbox });
  assert.deepEqual(text.split("\n").slice(0, 6), ["--- stdout", "b", "red link", "中文", "--- stderr", "100%"]);
});

test("where code may write, and whose files they may be, is said where it matters [X1][W6]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const both = Promise.withResolvers<void>();
  let count = 0;
  const { sandbox } = ending({
    async does(folder) {
      count += 1;
      writeFileSync(join(folder, `outputs/${count}`), "x");
      if (count === 3) both.resolve();
      if (count > 1) await both.promise;
    },
    says: complains("OSError: [Errno 30] Read-only file system: 'a'"),
  });
  const call = () => tools.call("execute_code", { code: "x", language: "bash" }, { sandbox });
  const alone = (await call()).text.split("\n").slice(2);
  assert.deepEqual(alone, [
    "[Write into outputs/ or temp/: code can write only there and in uploads/]",
    ...["[exit code 0, less than 1 s]", "Files:", "+ outputs/1 (1 bytes)"],
  ]);
  const together = (await Promise.all([call(), call()])).map(({ text }) => text).join("\n");
  assert.deepEqual(together.match(/^\+ .*/gm)?.sort(), ["+ outputs/2 (1 bytes)", "+ outputs/3 (1 bytes)"]);
  assert.deepEqual(
    new Set(together.match(/^Files.*/gm)),
    new Set(["Files (also by programs that ran at the same time):"]),
  );
});

test("a reset comes before the code, and needs none [X1]", async (t) => {
  const { ending, ...tools } = await codeTools(t);
  const { sandbox, asked } = ending();
  await tools.call("execute_code", { code: "0" }, { sandbox });
  const only = await tools.call("execute_code", { code: "", reset: true }, { sandbox });
  assert.equal(only.text, "[Python was started anew; earlier variables are gone]");
  await tools.call("execute_code", { code: "1", reset: true }, { sandbox });
  assert.deepEqual([asked.map((wanted) => (wanted === "reset" ? wanted : wanted[1]))], [["0", "reset", "reset", "1"]]);
});
