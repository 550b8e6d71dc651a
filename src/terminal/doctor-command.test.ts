import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestPipe, openTestTerminal } from "../../test/world/pty.ts";
import { ok } from "../base/result.ts";
import { failure, makeFailure } from "../protocol/failure.ts";
import { wordsFor } from "../words/words.ts";
import { doctor } from "./doctor-command.ts";
import { type Check, type DoctorFacts, diagnose, isFit } from "./doctor-report.ts";

const words = wordsFor("en");
const install = "apt-get install -y bubblewrap";
const noBwrap = { name: "no_bwrap", reason: "bubblewrap is not installed.", fix: install };
const sandbox = {
  ...{ missing: [], degraded: [], bwrap: "0.8.0", python: "3.11.2", bash: "5.2.15", chineseFont: "Noto Sans CJK" },
  libraries: [{ name: "numpy", version: "1.24.2" }],
};
const good: DoctorFacts = {
  ...{ node: "v26.0.0", system: "Debian, linux 6.1 x64", problems: [], notes: [], otherPeople: 0, sandbox },
  images: undefined,
  data: { folder: "/srv/data", state: "there", freeBytes: 50 * 1024 ** 3, mode: 0o700 },
  database: ok({ format: 3, pid: undefined }),
  decisions: ok({ decisions: 2, faults: [], more: 0 }),
  models: [{ slot: "base", model: "qwen3", server: "127.0.0.1:11434" }],
};
const data = { folder: "/srv/data", state: "there", freeBytes: 50 * 1024 ** 3, mode: 0o700 } as const;

/** What is not as it should be. */
const complaints = (facts: DoctorFacts) => diagnose(facts, words).filter(({ status }: Check) => status !== "ok");

test("a machine that has everything is told so, line by line [P2]", async () => {
  const { streams, written } = openTestPipe("");
  const parts = { ...streams, words, version: "1.2.3", look: async () => good, run: async () => 0 };
  assert.equal(await doctor({ json: false, fix: false }, parts), 0);
  assert.deepEqual(written, {
    output: `AgentYard 1.2.3 on this machine
✓ Node v26.0.0, Debian, linux 6.1 x64
✓ Data directory: /srv/data (50 GB free)
✓ Database opens (format 3)
✓ Record of decisions: 2 checked, all hold
✓ Model of base: qwen3 (127.0.0.1:11434); \`agentyard model test\` tries it
✓ Code runs in a sandbox (bubblewrap 0.8.0)
✓ Python 3.11.2 with numpy 1.24.2
✓ bash 5.2.15
✓ JavaScript: Node v26.0.0
✓ Chinese in charts: Noto Sans CJK

Everything is there.
`,
    errors: "",
  });
});

test("where sandboxes are containers, the image stands for what is in them [P2][P4][X3]", () => {
  const lines = (language: "en" | "zh", runtime: string | undefined) =>
    diagnose({ ...good, sandbox: { ...sandbox, docker: { image: "own:1", runtime } } }, wordsFor(language)).flatMap(
      ({ name, text }) => (["sandbox", "python", "bash", "javascript", "fonts"].includes(name) ? [text] : []),
    );
  assert.deepEqual(
    [lines("en", undefined), lines("en", "runsc"), lines("zh", "runsc")],
    [
      ["Code runs in containers of Docker (image own:1)"],
      ["Code runs in containers of Docker (image own:1, runtime runsc)"],
      ["代码在 Docker 容器中运行（镜像 own:1，运行时 runsc）"],
    ],
  );
});

test("where sandboxes are pods, the cluster stands for what is in them [P2][P4][X3]", () => {
  const cluster = { namespace: "boxes", image: "own:1", runtimeClass: "gvisor" };
  const lines = (language: "en" | "zh") =>
    diagnose({ ...good, sandbox: { ...sandbox, cluster } }, wordsFor(language)).flatMap(({ name, text }) =>
      ["sandbox", "python", "bash", "javascript", "fonts"].includes(name) ? [text] : [],
    );
  assert.deepEqual(
    [lines("en"), lines("zh")],
    [
      ["Code runs in pods of Kubernetes (namespace boxes, image own:1, runtime class gvisor)"],
      ["代码在 Kubernetes 的 Pod 中运行（命名空间 boxes，镜像 own:1，RuntimeClass gvisor）"],
    ],
  );
});

test("advice that several lines share stands once, below the last of them [P2]", async () => {
  const { streams, written } = openTestPipe("");
  const lack = (name: string, fix: string) => ({ name, reason: `${name} is missing.`, fix });
  const degraded = [lack("one", "Run it as root."), lack("two", "Run it as root."), lack("three", "Buy one.")];
  const look = async () => ({ ...good, sandbox: { ...sandbox, degraded } });
  await doctor({ json: false, fix: false }, { ...streams, words, version: "1.2.3", look, run: async () => 0 });
  assert.ok(
    written.output.includes(
      "! one is missing.\n! two is missing.\n  → Run it as root.\n! three is missing.\n  → Buy one.\n",
    ),
    written.output,
  );
});

test("each shortcoming has its line, its advice and its weight [P2][X3]", () => {
  const lack = (name: string, fix: string) => ({ name, reason: `${name}.`, fix });
  const missing = { ...sandbox, missing: [lack("no_bwrap", install), lack("no_seccomp", "Use another kernel.")] };
  const degraded = { ...sandbox, bash: undefined, degraded: [lack("no_cjk_fonts", "sudo dnf install -y fonts")] };
  const problem = makeFailure("setting_invalid", { name: "MAX_LOOPS", value: "x", instead: "a number" });
  const fault = { conversation: "c", seq: 7, what: "made_changed" } as const;
  const tried: readonly (readonly [Partial<DoctorFacts>, readonly (readonly [string, Check["status"]])[]])[] = [
    [{}, []],
    [{ problems: [problem], data: undefined, database: undefined, models: [] }, [["settings", "missing"]]],
    [{ notes: ["A name is unknown."] }, [["settings", "degraded"]]],
    [{ brokenTools: [{ file: "tools/a.ts", line: 3, why: "no database" }] }, [["tool", "degraded"]]],
    [{ data: { ...data, state: "read_only" } }, [["data", "missing"]]],
    [{ data: { ...data, mode: 0o755 } }, [["data_mode", "degraded"]]],
    [{ data: { ...data, freeBytes: 1024 ** 3 } }, [["space", "degraded"]]],
    [{ data: { ...data, freeBytes: 1024 ** 2 } }, [["space", "missing"]]],
    [{ otherPeople: 2 }, [["loopback", "degraded"]]],
    [{ database: { ok: false, failure: makeFailure("storage_busy", {}) } }, [["database", "missing"]]],
    [{ decisions: { ok: false, failure: makeFailure("storage_busy", {}) } }, [["decisions", "missing"]]],
    [{ decisions: ok({ decisions: 2, faults: [fault], more: 0 }) }, [["decisions", "missing"]]],
    [{ models: [] }, [["model", "degraded"]]],
    [{ documents: { segmenter: ok(undefined), embedding: undefined } }, []],
    [
      { documents: { segmenter: failure("segmenter_missing", { segmentation: "jieba" }), embedding: undefined } },
      [["documents", "missing"]],
    ],
    [{ images: failure("images_unusable", { why: "no_root", said: "" }) }, [["images", "missing"]]],
    [
      { sandbox: missing },
      [
        ["no_bwrap", "missing"],
        ["no_seccomp", "missing"],
      ],
    ],
    [
      { sandbox: degraded },
      [
        ["no_cjk_fonts", "degraded"],
        ["bash", "degraded"],
      ],
    ],
  ];
  assert.deepEqual(
    tried.map(([change]) => complaints({ ...good, ...change }).map(({ name, status }) => [name, status])),
    tried.map(([, found]) => found),
  );
  assert.deepEqual(
    tried.map(([change]) => isFit(diagnose({ ...good, ...change }, words))),
    tried.map(([, found]) => found.every(([, status]) => status === "degraded")),
  );
  const all = tried.flatMap(([change]) => complaints({ ...good, ...change }));
  const speechless = all.filter(({ advice, command }) => advice === null && command === null);
  assert.deepEqual(
    speechless.map(({ text }) => text),
    ["A name is unknown."],
  );
});

test("tools of the operator's own are named with their files, and those that cannot be used with the line [P2][T3]", () => {
  const tools = [{ file: "tools/a.ts", tool: "count" }];
  const brokenTools = [{ file: "tools/b.ts", line: 3, why: "no database" }];
  const lines = (language: "en" | "zh") =>
    diagnose({ ...good, tools, brokenTools }, wordsFor(language)).flatMap(({ name, status, text }) =>
      name === "tool" ? [[status, text]] : [],
    );
  assert.deepEqual(lines("en"), [
    ["ok", "Tool: count (tools/a.ts) runs outside of the sandbox"],
    ["degraded", "Tool: tools/b.ts:3 cannot be used: no database"],
  ]);
  assert.deepEqual(lines("zh"), [
    ["ok", "工具：count（tools/a.ts），在沙箱之外运行"],
    ["degraded", "工具：tools/b.ts:3 无法使用：no database"],
  ]);
});

test("what is a command and what is advice is the same in every language [P4][X3]", () => {
  const about = { detail: "", sudo: "sudo ", install: "sudo apt-get install -y something" };
  const commandsIn = (language: "en" | "zh") =>
    Object.entries(wordsFor(language).sandbox.lacks).flatMap(([name, text]) => {
      const [reason, fix] = text(about);
      const [check] = complaints({ ...good, sandbox: { ...sandbox, missing: [{ name, reason, fix }] } });
      return check?.command === null ? [] : [name];
    });
  assert.deepEqual(commandsIn("zh"), commandsIn("en"));
  assert.deepEqual(commandsIn("en"), [
    ...["no_bwrap", "no_userns", "apparmor_userns", "no_python", "no_data_libraries", "no_cjk_fonts"],
  ]);
});

test("what is not there yet and what is in use is no fault [P2][P3]", () => {
  const facts: DoctorFacts = { ...good, data: { ...data, state: "new", mode: undefined } };
  const texts = [ok({ format: undefined, pid: undefined }), ok({ format: 3, pid: 4711 })].map((database) =>
    diagnose({ ...facts, database }, words).flatMap(({ name, status, text }) =>
      ["data", "database"].includes(name) ? [`${status} ${text}`] : [],
    ),
  );
  const place = "ok Data directory: /srv/data, made at the first start (50 GB free)";
  assert.deepEqual(texts, [
    [place, "ok Database: made at the first start"],
    [place, "ok Database opens (format 3); process 4711 works with it"],
  ]);
});

test("skills that can be used are counted, and what keeps one from it is told with its line and advice [P2][K1]", () => {
  const faults = [{ place: "~/.agents/skills/tabs/SKILL.md:5", what: "A tab stands there.", instead: "Use blanks." }];
  const skills = (usable: number, more: typeof faults) =>
    diagnose({ ...good, skills: { usable, faults: more } }, words)
      .filter(({ name }) => name.startsWith("skill"))
      .map(({ name, status, text, advice }) => [name, status, text, advice]);
  assert.deepEqual(skills(0, []), []);
  assert.deepEqual(skills(2, faults), [
    ["skills", "ok", "Skills: 2 can be used", null],
    ["skill", "degraded", "Skill ~/.agents/skills/tabs/SKILL.md:5: A tab stands there.", "Use blanks."],
  ]);
});

test("a folder with blanks and quotes is one word of the command that mends it [P2]", () => {
  const folder = "/srv/it's mine/data";
  const [check] = complaints({ ...good, data: { ...data, folder, mode: 0o755 } });
  assert.equal(check?.command, "chmod 700 '/srv/it'\\''s mine/data'");
});

test("--json is one line with stable names [P2]", async () => {
  const { streams, written } = openTestPipe("");
  const look = async () => ({ ...good, sandbox: { ...sandbox, missing: [noBwrap] } });
  const parts = { ...streams, words, version: "1.2.3", look, run: async () => 0 };
  assert.equal(await doctor({ json: true, fix: false }, parts), 1);
  const { checks, ...rest } = JSON.parse(written.output);
  assert.deepEqual(rest, { version: "1.2.3", ok: false });
  assert.deepEqual(checks.at(-1), {
    ...{ name: "no_bwrap", status: "missing", text: "bubblewrap is not installed." },
    ...{ advice: null, command: install },
  });
});

/** A machine on which a command brings what is missing, and then shows that something else is. */
function mendableMachine() {
  const fonts = { name: "no_cjk_fonts", reason: "No font.", fix: "apt-get install -y fonts" };
  const ran: string[] = [];
  const look = async () => {
    const isMended = ran.includes(install);
    return { ...good, sandbox: { ...sandbox, missing: isMended ? [] : [noBwrap], degraded: isMended ? [fonts] : [] } };
  };
  const run = async (command: string) => ran.push(command) - 1;
  return { ran, look, run, words, version: "1.2.3" };
}

test("--fix shows each command, runs it after a yes, and looks again [P2]", async () => {
  const terminal = openTestTerminal();
  const machine = mendableMachine();
  const ended = doctor({ json: false, fix: true }, { ...terminal.streams, ...machine });
  await terminal.waitFor(`1 thing that is needed is missing.\n\n  $ ${install}\nRun it? [y/N] `);
  assert.deepEqual(machine.ran, []);
  terminal.type("y\n");
  await terminal.waitFor("✓ Done\n\nLooking again:\n");
  await terminal.waitFor("Ready; 1 line has advice.\n\n  $ apt-get install -y fonts\nRun it? [y/N] ");
  terminal.type("Y\n");
  await terminal.waitFor("✗ It ended with exit code 1. Where a package was not found, `apt-get update` may help.\n");
  assert.equal(await ended, 0);
  assert.deepEqual(machine.ran, [install, "apt-get install -y fonts"]);
});

for (const [what, answer] of [
  ["no", "n\n"],
  ["nothing", "\n"],
  ["something else", "maybe\n"],
]) {
  test(`--fix changes nothing where the answer is ${what} [P2]`, async () => {
    const terminal = openTestTerminal();
    const machine = mendableMachine();
    const ended = doctor({ json: false, fix: true }, { ...terminal.streams, ...machine });
    await terminal.waitFor("Run it? [y/N] ");
    terminal.type(answer ?? "");
    assert.equal(await ended, 1);
    assert.match(terminal.text(), /Not run\.\n$/);
    assert.deepEqual(machine.ran, []);
  });
}

test("--fix changes nothing when the person leaves [P2]", async () => {
  const terminal = openTestTerminal();
  const machine = mendableMachine();
  const ended = doctor({ json: false, fix: true }, { ...terminal.streams, ...machine });
  await terminal.waitFor("Run it? [y/N] ");
  terminal.streams.input.end();
  assert.equal(await ended, 1);
  assert.deepEqual(machine.ran, []);
});

test("--fix where nobody can be asked refuses and prints the commands [P2]", async () => {
  const { streams, written } = openTestPipe("y\n");
  const machine = mendableMachine();
  assert.equal(await doctor({ json: false, fix: true }, { ...streams, ...machine }), 6);
  const refusal =
    "✗ --fix asks before each change, and nobody is there to ask. Nothing was changed; the commands are:\n";
  assert.equal(written.errors, `${refusal}  ${install}\n`);
  assert.deepEqual(machine.ran, []);
});

test("MCP servers are named, and one whose program is not there is told what to do [P2][G1]", () => {
  const mcp = [
    { id: "tickets", what: "mcp.example.com", isThere: true },
    { id: "files", what: "npx", isThere: false },
  ];
  const lines = diagnose({ ...good, mcp }, words).filter(({ name }) => name === "mcp");
  assert.deepEqual(lines, [
    {
      ...{ name: "mcp", status: "ok", advice: null, command: null },
      text: "MCP server tickets: mcp.example.com; started at its first use",
    },
    {
      ...{ name: "mcp", status: "degraded", command: null },
      text: "MCP server files: there is no program npx.",
      advice: "Install it, or correct its `command` in mcp_servers.yaml; a path may be written out in full.",
    },
  ]);
});
