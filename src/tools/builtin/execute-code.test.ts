import assert from "node:assert/strict";
import { test } from "node:test";
import { fileTools } from "../../../test/world/tools.ts";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { ProgramReport, ProgramWanted } from "../../sandbox/sandbox.ts";
import type { ToolSandbox } from "../tools.ts";

const nothing = { text: "", cutBytes: 0, path: undefined };
const quiet: ProgramReport = {
  ...{ how: "done", exitCode: 0, signal: undefined, stdout: nothing, stderr: nothing },
  ...{ value: undefined, returned: undefined, figures: [], changes: [], startedAt: 1_000, endedAt: 1_120 },
  metrics: { durationMs: 120, cpuMs: 1, memoryPeakBytes: 1, readBytes: 0, writtenBytes: 0 },
};
const says = (text: string) => ({ ...nothing, text });
const state = (bytes: number, hash = "h") => ({ hash, bytes, mode: 0o644 });

/** A sandbox in which every program ends like this; it keeps what was asked of it. */
function ending(report: Partial<ProgramReport>) {
  const asked: (Omit<ProgramWanted, "signal"> | "reset")[] = [];
  const sandbox: ToolSandbox = {
    async run(wanted) {
      asked.push(wanted);
      return ok({
        id: "1",
        output: (async function* () {})(),
        report: Promise.resolve({ ...quiet, ...report }),
        kill() {},
      });
    },
    reset: async () => void asked.push("reset"),
    probe: async () => ({ missing: [], degraded: [] }),
    checkSession: async () => undefined,
  };
  return { sandbox, asked };
}

test("a program's output, its last value, how it ended and what it did to files are told in one result [X1][T6]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox } = ending({
    stdout: says("42\n"),
    stderr: says("careful\n"),
    value: "'x'",
    figures: ["outputs/figure-1.png"],
    changes: [
      { path: "outputs/a.csv", before: undefined, after: state(1_536), lost: undefined },
      { path: "outputs/figure-1.png", before: undefined, after: state(9), lost: undefined },
      { path: "uploads/b.csv", before: state(7, "g"), after: state(5), lost: "too_large" },
      { path: "temp/c", before: state(3), after: undefined, lost: undefined },
    ],
  });
  const { text, events, images } = await tools.call("execute_code", { code: "…" }, { sandbox });
  assert.deepEqual(text.split("\n"), [
    ...["--- stdout", "42", "--- stderr", "careful", "--- value", "'x'", "[exit code 0, less than 1 s]", "Files:"],
    "+ outputs/figure-1.png (9 bytes) figure",
    "+ outputs/a.csv (1.5 KB)",
    "~ uploads/b.csv (5 bytes) undo cannot bring back what was there before",
    "- temp/c",
  ]);
  assert.equal(images, 0);
  assert.deepEqual(events[2], {
    type: "file.changed",
    ...{ path: "uploads/b.csv", call: "call-1", by: "tool", program: true, lost: "too_large" },
    ...{ before: state(7, "g"), after: state(5) },
  });
  assert.equal(events.length, 4);
});

test("how a program ended stands in the first line, and a failed program is no failed tool [X1][T6]", async (t) => {
  const tools = await fileTools(t);
  const end = { stderr: says("Traceback\n") };
  const cases: [Partial<ProgramReport>, string, string][] = [
    [{ exitCode: 1 }, "Failed (exit code 1)", "Command failed (exit code 1)"],
    [
      { how: "timeout", exitCode: undefined, endedAt: 3_050 },
      "Error: Code timeout (2s)",
      "Error: Command timeout (2s)",
    ],
    [{ exitCode: undefined, signal: "SIGSEGV" }, "Failed (ended by SIGSEGV)", "Failed (ended by SIGSEGV)"],
  ];
  for (const [report, ofCode, ofCommand] of cases) {
    const { sandbox } = ending({ ...end, ...report });
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
  for (const how of ["out_of_memory", "disk_full", "lost", "killed"] as const) {
    const { text } = await tools.call("execute_code", { code: "x" }, ending({ how, exitCode: undefined }));
    assert.match(text, /^Failed \([^\n]+\)[^\n]*\n\(no output\)\n\[less than 1 s\]$/, how);
  }
});

test("a program that left too much in the workspace is done, and the model hears what to do [X4]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox } = ending({ isOverLimit: true, stdout: says("done\n") });
  assert.deepEqual((await tools.call("execute_code", { code: "x" }, { sandbox })).text.split("\n"), [
    "done",
    "[The workspace holds more than it may: remove files that are no longer needed. Programs that take more room are ended.]",
    "[exit code 0, less than 1 s]",
  ]);
});

test("output that was cut says where the rest is [X1]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox } = ending({ stdout: { text: "a…b", cutBytes: 900, path: "temp/output-1.txt" }, endedAt: 4_400 });
  const { text } = await tools.call("run_bash_command", { command: "yes" }, { sandbox });
  assert.equal(
    text,
    "a…b\n[900 bytes of stdout are left out above; read_file temp/output-1.txt has all of it]\n[exit code 0, 3 s]",
  );
});

test("output that was not all kept says how much of it is in the file [X1][X4]", async (t) => {
  const tools = await fileTools(t);
  const stdout = { text: "a…b", cutBytes: 90_000_000, path: "temp/output-1.txt", keptBytes: 16 * 2 ** 20 };
  const { text } = await tools.call("run_bash_command", { command: "yes" }, ending({ stdout }));
  assert.equal(
    text.split("\n")[1],
    "[90000000 bytes of stdout are left out above; read_file temp/output-1.txt has the first 16 MB of it; the rest was not kept]",
  );
});

test("variables that are gone are told, and only those [X1]", async (t) => {
  const tools = await fileTools(t);
  const told = async (report: Partial<ProgramReport>, ...earlier: object[]) => {
    const earlierCalls = () => earlier.map((input) => ({ arguments: JSON.stringify(input) }));
    const { text } = await tools.call("execute_code", { code: "x" }, { ...ending(report), earlierCalls });
    return text.split("\n").slice(0, -1);
  };
  const [anew, ended] = [
    "[Python was started anew; earlier variables are gone]",
    "[Python was ended; its variables are gone]",
  ];
  const fresh = { isPythonNew: true, stdout: says("1") } as const;
  assert.deepEqual(await told(fresh), ["1"]);
  assert.deepEqual(await told(fresh, { code: "ls", language: "bash" }), ["1"]);
  assert.deepEqual(await told(fresh, { code: "x = 1" }), ["1", anew]);
  assert.deepEqual(await told(fresh, { code: "x = 1", language: "python3" }), ["1", anew]);
  const late = { how: "timeout", exitCode: undefined } as const;
  assert.deepEqual(await told(late), ["Error: Code timeout (1s)", "(no output)"]);
  assert.deepEqual(await told({ ...late, isPythonLost: true }), ["Error: Code timeout (1s)", "(no output)", ended]);
  const full = { how: "out_of_memory", exitCode: 137 } as const;
  const noMemory = "Failed (out of memory). Work on less data at once.";
  assert.deepEqual(await told(full), [noMemory, "(no output)"]);
  assert.deepEqual(await told({ ...full, isPythonLost: true }), [noMemory, "(no output)", ended]);
});

test("code that ends its own Python is told so, and not as a fault of the sandbox [X1]", async (t) => {
  const tools = await fileTools(t);
  const head = async (report: Partial<ProgramReport>) => {
    const lost = ending({ how: "lost", isPythonLost: true, ...report });
    return (await tools.call("execute_code", { code: "x" }, lost)).text.split("\n").slice(0, 2);
  };
  assert.deepEqual(
    [
      await head({ exitCode: 0 }),
      await head({ exitCode: undefined, signal: "SIGSEGV" }),
      await head({ exitCode: undefined }),
    ],
    [
      ["Failed (the code ended Python itself: exit code 0). Variables are gone.", "(no output)"],
      ["Failed (the code ended Python itself: SIGSEGV). Variables are gone.", "(no output)"],
      [
        "Failed (the sandbox broke down). Files are as they are, variables are gone; the next call starts anew.",
        "(no output)",
      ],
    ],
  );
});

test("many files are counted, figures are named first [X1][X6]", async (t) => {
  const tools = await fileTools(t);
  const changes = Array.from({ length: 40 }, (_, index) => ({
    ...{ path: `outputs/${index}`, before: undefined, after: state(1), lost: undefined },
  }));
  const { sandbox } = ending({ changes, figures: ["outputs/39"] });
  const lines = (await tools.call("execute_code", { code: "x" }, { sandbox })).text.split("\n");
  assert.deepEqual(
    [lines[3], lines.length, lines.at(-1)],
    ["+ outputs/39 (1 bytes) figure", 3 + 30 + 1, "[10 more: list_files shows them]"],
  );
});

test("a figure is shown to a model that sees, if it is a small whole image, and only named to others [X6]", async (t) => {
  const tools = await fileTools(t);
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await tools.workspace.write("outputs/a.png", png);
  await tools.workspace.write("outputs/b.png", "no image");
  const figures = ["outputs/a.png", "outputs/b.png"];
  const changes = figures.map((path) => ({ path, before: undefined, after: state(png.length), lost: undefined }));
  const seen = await tools.call("execute_code", { code: "x" }, { ...ending({ figures, changes }), seesImages: true });
  assert.deepEqual(
    [seen.images, seen.text.split("\n").slice(-2)],
    [1, ["+ outputs/a.png (70 bytes) figure, shown with this result", "+ outputs/b.png (70 bytes) figure"]],
  );
  assert.equal((await tools.call("execute_code", { code: "x" }, ending({ figures, changes }))).images, 0);
});

test("arguments are taken as models write them; times in seconds, or plainly in milliseconds [T1][X1]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox, asked } = ending({});
  await tools.call("execute_code", { script: "ls", lang: "Shell", timeout_ms: 5_000 }, { sandbox });
  await tools.call("execute_code", { source: "1", language: "js", timeout_seconds: "90" }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeout: 0.5 }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeoutMs: "1500" }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeout_ms: 9_000_000, timeout: null }, { sandbox });
  await tools.call("bash", { cmd: "ls", timeout: 5_000 }, { sandbox });
  const shown = (wanted: (typeof asked)[number]) =>
    wanted === "reset" ? wanted : [wanted.language, wanted.code, wanted.timeoutMs];
  assert.deepEqual(asked.map(shown), [
    ["bash", "ls", 5_000],
    ["javascript", "1", 90_000],
    ["bash", "ls", 500],
    ["bash", "ls", 1_500],
    ["bash", "ls", 3_600_000],
    ["bash", "ls", 5_000],
  ]);
});

test("code is run under the names that models know the tool by, without the fence around it [T1][X1]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox, asked } = ending({});
  const names = ["python", "execute_python", "run_python", "code_interpreter", "run_code"];
  for (const name of names) await tools.call(name, { code: "```python\nprint(1)\n```\n" }, { sandbox });
  const quoted = "s = '''\n```\nx\n```\n'''";
  await tools.call("execute_code", { code: "```\na\n\n```", language: "ts" }, { sandbox });
  await tools.call("execute_code", { code: quoted }, { sandbox });
  await tools.call("run_bash_command", { command: "```bash\nls\n```" }, { sandbox });
  assert.deepEqual(
    asked.map((wanted) => (wanted === "reset" ? wanted : [wanted.language, wanted.code])),
    [...names.map(() => ["python", "print(1)"]), ["javascript", "a\n"], ["python", quoted], ["bash", "ls"]],
  );
});

test("colours and what a progress bar wrote over are left out of what models read [X1]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox } = ending({
    stdout: says("a\rb\r\n\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007\r\n中文\n"),
    stderr: says(Array.from({ length: 101 }, (_, index) => `\r${index}%`).join("")),
  });
  const { text } = await tools.call("execute_code", { code: "x" }, { sandbox });
  assert.deepEqual(text.split("\n").slice(0, 6), ["--- stdout", "b", "red link", "中文", "--- stderr", "100%"]);
});

test("of output that is no text only a glance is shown, and where all of it is [X1]", async (t) => {
  const tools = await fileTools(t);
  const bytes = Buffer.from(Array.from({ length: 3_000 }, (_, index) => (index * 7) % 256));
  const raw = { text: bytes.toString(), cutBytes: 97_000, path: "temp/output-1-stdout.txt" };
  const cut = await tools.call("run_bash_command", { command: "cat x" }, ending({ stdout: raw }));
  const [head = "", ...rest] = cut.text.split(/\n(?=\[[be])/);
  assert.deepEqual(
    [head.length, rest],
    [
      200,
      ["[binary output, or not UTF-8, about 97.7 KB, in temp/output-1-stdout.txt]", "[exit code 0, less than 1 s]"],
    ],
  );
  assert.doesNotMatch(cut.text, /[^\P{Cc}\n\t]/u);
  const small = await tools.call("execute_code", { code: "x" }, ending({ stdout: says("a\0b"), stderr: says("中文") }));
  assert.equal(
    small.text,
    "--- stdout\na\ufffdb\n[binary output, or not UTF-8, about 3 bytes]\n--- stderr\n中文\n[exit code 0, less than 1 s]",
  );
  const little = says(`${"x".repeat(20)}\ufffd`);
  assert.match((await tools.call("execute_code", { code: "x" }, ending({ stdout: little }))).text, /^x+\ufffd\n\[exit/);
});

test("where code may write, and whose files they may be, is said where it matters [X1][W6]", async (t) => {
  const tools = await fileTools(t);
  const changes = [{ path: "outputs/a", before: undefined, after: state(1), lost: undefined }];
  const report = { stderr: says("OSError: [Errno 30] Read-only file system: 'a'"), changes, hadCompany: true } as const;
  const { text } = await tools.call("execute_code", { code: "x" }, ending(report));
  assert.deepEqual(text.split("\n").slice(2), [
    "[Write into outputs/ or temp/: code can write only there and in uploads/]",
    "[exit code 0, less than 1 s]",
    "Files (also by programs that ran at the same time):",
    "+ outputs/a (1 bytes)",
  ]);
});

test("a reset comes before the code, and needs none [X1]", async (t) => {
  const tools = await fileTools(t);
  const { sandbox, asked } = ending({});
  const only = await tools.call("execute_code", { code: "", reset: true }, { sandbox });
  assert.equal(only.text, "[Python was started anew; earlier variables are gone]");
  await tools.call("execute_code", { code: "1", reset: true }, { sandbox });
  assert.deepEqual(
    asked.map((wanted) => (wanted === "reset" ? wanted : wanted.code)),
    ["reset", "reset", "1"],
  );
});

test("a sandbox that cannot run code is a failure with its reason, a stopped program is a stopped call [X3][X1]", async (t) => {
  const tools = await fileTools(t);
  const refusing: ToolSandbox = {
    ...ending({}).sandbox,
    run: async () => failure("sandbox_unavailable", { reason: "bubblewrap is not installed.", fix: "Install it." }),
  };
  assert.deepEqual(
    [
      (await tools.call("execute_code", { code: "1" }, { sandbox: refusing })).text,
      (await tools.call("run_bash_command", { command: "ls" }, ending({ how: "cancelled" }))).text.slice(0, 22),
    ],
    [
      "Error: sandbox_unavailable: Code cannot be run here: bubblewrap is not installed. Tell the user why, and that this helps (Install it.); go on without code.",
      "Error: tool_cancelled:",
    ],
  );
});
