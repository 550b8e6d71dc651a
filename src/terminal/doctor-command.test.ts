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

test("doctor: where sandboxes are containers or pods, the image stands for what is in them [P2][X3]", () => {
  const cluster = { namespace: "boxes", image: "own:1", runtimeClass: "gvisor" };
  const lines = [{ docker: { image: "own:1", runtime: "runsc" } }, { cluster }].map((where) =>
    diagnose({ ...good, sandbox: { ...sandbox, ...where } }, words).flatMap(({ name, text }) =>
      ["sandbox", "python", "bash", "javascript", "fonts"].includes(name) ? [text] : [],
    ),
  );
  assert.deepEqual(lines, [
    ["Code runs in containers of Docker (image own:1, runtime runsc)"],
    ["Code runs in pods of Kubernetes (namespace boxes, image own:1, runtime class gvisor)"],
  ]);
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
    [{ sandbox: missing }, ["no_bwrap", "no_seccomp"].map((name) => [name, "missing"] as const)],
    [{ sandbox: degraded }, ["no_cjk_fonts", "bash"].map((name) => [name, "degraded"] as const)],
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

test("a folder with blanks and quotes is one word of the command that mends it [P2]", () => {
  const folder = "/srv/it's mine/data";
  const [check] = complaints({ ...good, data: { ...data, folder, mode: 0o755 } });
  assert.equal(check?.command, "chmod 700 '/srv/it'\\''s mine/data'");
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

test("--fix changes nothing where the answer is anything but yes, or the person leaves [P2]", async () => {
  for (const answer of ["n\n", "\n", "maybe\n", undefined]) {
    const terminal = openTestTerminal();
    const machine = mendableMachine();
    const ended = doctor({ json: false, fix: true }, { ...terminal.streams, ...machine });
    await terminal.waitFor("Run it? [y/N] ");
    if (answer === undefined) terminal.streams.input.end();
    else terminal.type(answer);
    assert.equal(await ended, 1);
    assert.deepEqual(machine.ran, []);
  }
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
