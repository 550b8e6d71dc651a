import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Result } from "../../src/base/result.ts";
import { noLogs } from "../../src/observe/observe.ts";
import { architectureOf, seccompProgram } from "../../src/sandbox/guest/seccomp.ts";
import { readBwrap } from "../../src/sandbox/local/bwrap.ts";
import { openGroups } from "../../src/sandbox/local/groups.ts";
import { type Launched, launchGuest } from "../../src/sandbox/local/launch.ts";
import { type LocalSandboxOptions, openLocalSandbox } from "../../src/sandbox/local/local.ts";
import type { GuestProgram, LaunchSettings } from "../../src/sandbox/local/start.ts";
import type { GuestWanted, SandboxFault, SandboxProvider } from "../../src/sandbox/provider.ts";
import { wordsFor } from "../../src/words/words.ts";

export const bwrapPath = "/usr/bin/bwrap";
export const isRoot = process.geteuid?.() === 0;
/** Why a test cannot run on this machine; false where it can. CI has all of it. */
export const cannotStart =
  !(existsSync(bwrapPath) && existsSync("/usr/bin/python3")) && "bubblewrap or /usr/bin/python3 is not here";
/** A test that needs guests, and is skipped where none can be had. */
export const guestTest = cannotStart ? (test.skip as typeof test) : test;
/** For what is not to be had at all without root. */
export const cannotLimit = cannotStart || (!isRoot && "only root makes control groups here");

export const limits = {
  memoryBytes: 128 * 1024 * 1024,
  processesMax: 32,
  cpus: 1,
  fileBytesMax: 1024 * 1024,
  tmpBytesMax: 1024 * 1024,
  outputBytesMax: 1024 * 1024,
};
/** Whom the files of a test's conversation belong to when the tests are run by root. */
export const ownerUid = isRoot ? 54_321 : undefined;

/** A whole provider, with an installation of its own. */
export function openProvider(changes: Partial<LocalSandboxOptions> = {}): SandboxProvider {
  return openLocalSandbox({
    installation: `test${systemIds.hex(12)}`,
    clock: systemClock,
    ids: systemIds,
    words: wordsFor("en").sandbox,
    logger: noLogs,
    javascript: process.execPath,
    startTimeoutMs: 60_000,
    ...changes,
  });
}

/** An installation of its own: nothing that other tests do at the same time is touched. */
export async function openHost(t: TestContext, changes: Partial<LaunchSettings> = {}): Promise<LaunchSettings> {
  const bwrap = await readBwrap(bwrapPath);
  const architecture = architectureOf(process.arch);
  assert.ok(bwrap !== undefined && architecture !== undefined);
  const installation = `test${systemIds.hex(12)}`;
  const groups = openGroups({ installation, clock: systemClock });
  t.after(async () => {
    await groups.reap();
    groups.close();
  });
  const seccomp = seccompProgram(architecture);
  return { bwrap, seccomp, groups, installation, clock: systemClock, startTimeoutMs: 60_000, ...changes };
}

/** A workspace folder that the guest's user can get to. */
export function workspaceFolder(t: TestContext, parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "agentyard-guest-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o711);
  return folder;
}

type Inside = Partial<GuestWanted> & Partial<Pick<GuestProgram, "programs">>;

/** Starts a guest whose first process is this Python; it has `say(value)`, and what it says first is the answer. */
export async function startPython(
  host: LaunchSettings,
  code: string,
  { programs = [], ...wanted }: Inside = {},
): Promise<Result<Launched & { readonly answer: unknown }, SandboxFault>> {
  let answer: unknown;
  const launched = await launchGuest(
    { id: systemIds.hex(16), workspace: undefined, limits, uid: ownerUid, env: {}, ...wanted },
    {
      command: ["/usr/bin/python3", "-I", "-S", "/run/program.py"],
      files: { "/run/program.py": `${sayInPython}\n${code}` },
      programs,
      greet: async (control) => {
        answer = JSON.parse(await firstLine(control));
        return undefined;
      },
    },
    host,
  );
  return launched.ok ? { ok: true, value: { ...launched.value, answer } } : launched;
}

/** What the code says; the guest is ended then. */
export async function askPython(host: LaunchSettings, code: string, inside: Inside = {}): Promise<unknown> {
  const started = await startPython(host, code, inside);
  assert.ok(started.ok, started.ok ? "" : `${started.failure.why}: ${started.failure.said}`);
  started.value.kill();
  await started.value.ended;
  return started.value.answer;
}

/** It stays until the host ends it: what was said is not lost. */
const sayInPython = `
import json, os, sys
def say(value):
    os.write(3, json.dumps(value).encode() + b"\\n")
    os.read(3, 1)
def error_of(action):
    try:
        action()
    except OSError as error:
        return error.strerror
`;

function firstLine(control: Duplex): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    control.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8");
      if (text.includes("\n")) resolve(text);
    });
  });
}

export const serverPath = fileURLToPath(import.meta.resolve("./sandbox-server.ts"));

/** Another process with a guest of this installation, and the guest's process id. */
export async function keepGuest(t: TestContext, installation: string): Promise<{ child: ChildProcess; pid: number }> {
  const child = spawn(process.execPath, [serverPath, "keep", "say(1)", installation], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const pid = await new Promise<number>((resolve) => child.stdout.once("data", (bytes) => resolve(Number(bytes))));
  return { child, pid };
}

/** One that is dead and only waits to be counted is not. */
export function isAlive(pid: number): boolean {
  return textOf(`/proc/${pid}/cmdline`) !== "";
}

/** The bwrap of a guest: everything inside ends with it. */
export function bwrapOf(name: string): number {
  const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
  const found = pids.find((pid) => textOf(`/proc/${pid}/cmdline`).includes(`\0${name}\0`));
  assert.ok(found !== undefined, "the guest has a bwrap");
  return Number(found);
}

/** All processes below one, as the host counts. */
export function descendantsOf(pid: number): number[] {
  const children = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Empty where there is nothing to read, or not for us. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
