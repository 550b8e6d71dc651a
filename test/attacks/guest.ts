import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { noLogs } from "../../src/observe/observe.ts";
import { connectGuest, type GuestConnection } from "../../src/sandbox/guest/connection.ts";
import { guestEnvironment } from "../../src/sandbox/guest/environment.ts";
import { architectureOf, seccompProgram } from "../../src/sandbox/guest/seccomp.ts";
import { supervisorProgram } from "../../src/sandbox/guest/supervisor-program.ts";
import { absent, judged, refused, unsupported } from "../../src/sandbox/guest/syscalls.ts";
import { readBwrap } from "../../src/sandbox/local/bwrap.ts";
import { openGroups } from "../../src/sandbox/local/groups.ts";
import { type Launched, launchGuest } from "../../src/sandbox/local/launch.ts";
import { openLocalSandbox } from "../../src/sandbox/local/local.ts";
import type { GuestProgram, LaunchSettings } from "../../src/sandbox/local/start.ts";
import type {
  Execution,
  Guest,
  GuestLimits,
  GuestWanted,
  GuestWorkspace,
  LackName,
  SandboxProvider,
} from "../../src/sandbox/provider.ts";
import { wordsFor } from "../../src/words/words.ts";
import { bwrapPath, guestTest as test, limits as usualLimits } from "../contracts/sandbox-guests.ts";
import { isOnDocker, openDocker } from "../contracts/sandbox-on-docker.ts";
import { isContained, isOnKubernetes, openReal } from "../contracts/sandbox-on-kubernetes.ts";
import { isOnRemote, openWithHost } from "../contracts/sandbox-on-remote.ts";
import { outcomeOf } from "../world/bare-supervisor.ts";

const isRoot = process.geteuid?.() === 0;
/** Whom the guests of an attack belong to when the tests are run by root. */
export const attackerUid = isRoot ? 54_400 : undefined;
const mebibyte = 1024 * 1024;
export const limits: GuestLimits = { ...usualLimits, fileBytesMax: 4 * mebibyte, tmpBytesMax: 8 * mebibyte };

export type Attacked = {
  readonly guest: Omit<Guest, "usage" | "sharedFiles" | "unnamedBytes"> & Partial<Pick<Guest, "unnamedBytes">>;
  /** Its workspace as the host has it. */
  readonly folder: string;
};

type Wanted = {
  readonly weakness?: Weakness | undefined;
  /** Instead of a conversation's workspace that was made for it. */
  readonly workspace?: GuestWorkspace;
  readonly uid?: number | undefined;
};

/** The Node that runs the tests is not always below /usr. */
const node = { path: process.execPath, inside: "/opt/node" };
const ends: (() => Promise<void> | void)[] = [];

/** Ends all guests that were opened here. Each file of attacks calls it after its tests. */
export async function endGuests(): Promise<void> {
  shared.clear();
  probed = undefined;
  for (const end of ends.splice(0).reverse()) await end();
}

/** A guest of the product; less one layer when a weakness is named. It ends with the test file. */
export async function openAttacked({ weakness, workspace, uid = attackerUid }: Wanted = {}): Promise<Attacked> {
  const guestWorkspace = workspace ?? conversation(newFolder());
  const wanted = { id: systemIds.hex(16), workspace: guestWorkspace, limits, uid, env: {} };
  if (weakness !== undefined) return { guest: await openWeak(wanted, weakness), folder: guestWorkspace.folder };
  const opened = await openProvider().open(wanted);
  assert.ok(opened.ok, opened.ok ? "" : `${opened.failure.why}: ${opened.failure.said}`);
  return { guest: opened.value, folder: guestWorkspace.folder };
}

/** The product's own, with another bwrap when it is told one. */
export function openProvider(bwrap?: string): SandboxProvider {
  const provider = openTried(bwrap);
  ends.push(() => provider.close());
  return provider;
}

function openTried(bwrap: string | undefined): SandboxProvider {
  if (isOnDocker) return openDocker();
  if (isOnKubernetes) return openReal();
  return isOnRemote && bwrap === undefined ? openWithHost() : openLocal(bwrap);
}

function openLocal(bwrap: string | undefined): SandboxProvider {
  return openLocalSandbox({
    ...{
      installation: `attack${systemIds.hex(12)}`,
      clock: systemClock,
      ids: systemIds,
      words: wordsFor("en").sandbox,
      logger: noLogs,
    },
    ...{ javascript: process.execPath, bwrap, startTimeoutMs: 60_000 },
  });
}

/** Put together as the product does it, from the same parts. */
async function openWeak(wanted: GuestWanted, weakness: Weakness): Promise<GuestConnection> {
  const guestLimits = { ...wanted.limits, ...weakness.limits };
  const program = supervisorProgram("/usr/bin/python3", "/run/agentyard/guest");
  const files = Object.entries(program.files).map(([path, bytes]) => [path, weakened(path, bytes, weakness)]);
  const connected = Promise.withResolvers<GuestConnection>();
  let oomKills = () => 0;
  const greet: GuestProgram["greet"] = async (control) => {
    const guest = await connectGuest(control, {
      ...{ id: wanted.id, workspace: wanted.workspace?.inside ?? "/tmp", javascript: [node.inside] },
      ...{ env: { ...guestEnvironment(wanted), ...weakness.env }, limits: guestLimits, oomKills: () => oomKills() },
      ...{ helloTimeoutMs: 60_000, clock: systemClock, ids: systemIds },
    });
    if (guest.ok) connected.resolve(guest.value);
    return guest.ok ? undefined : guest.failure;
  };
  const launched = await launch(
    { command: program.command, files: Object.fromEntries(files), programs: [node], greet },
    { workspace: wanted.workspace, limits: guestLimits, uid: wanted.uid, weakness },
  );
  oomKills = () => launched.group.oomKills();
  return await connected.promise;
}

type Launch = {
  readonly workspace?: GuestWorkspace | undefined;
  readonly limits?: GuestLimits;
  readonly uid?: number | undefined;
  readonly weakness?: Weakness;
};

/** Any program as a guest's first process. */
export async function launch(
  program: GuestProgram,
  { workspace, limits: wantedLimits = limits, uid = attackerUid, weakness = {} }: Launch = {},
): Promise<Launched> {
  const host = await openHost(weakness);
  const wanted = { id: systemIds.hex(16), workspace, limits: wantedLimits, uid, env: {} };
  const launched = await launchGuest(wanted, program, host);
  assert.ok(launched.ok, launched.ok ? "" : `${launched.failure.why}: ${launched.failure.said}`);
  ends.push(async () => {
    launched.value.kill();
    await launched.value.ended;
  });
  return launched.value;
}

/** An installation of its own, with the layers that the weakness leaves. */
export async function openHost(weakness: Weakness = {}): Promise<LaunchSettings> {
  const bwrap = await readBwrap(bwrapPath);
  const architecture = architectureOf(process.arch);
  assert.ok(bwrap !== undefined && architecture !== undefined);
  const installation = `attack${systemIds.hex(12)}`;
  const groups = openGroups({ installation, clock: systemClock, ...(weakness.hasNoGroups && { proc: "/nowhere" }) });
  ends.push(async () => {
    await groups.reap();
    groups.close();
  });
  return {
    bwrap:
      weakness.arguments === undefined ? bwrap : { ...bwrap, path: editingBwrap(weakness.arguments, weakness.plant) },
    seccomp: weakness.hasNoFilter ? letAllPass : seccompProgram(architecture),
    ...{ groups, installation, clock: systemClock, startTimeoutMs: 60_000 },
  };
}

/** BPF that lets everything pass. */
const letAllPass = Buffer.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);

/** A program in place of bwrap that changes its arguments and then becomes it: the product has no switch for that. */
export function editingBwrap(edits: readonly (readonly [from: string, to: string])[], plant = ""): string {
  const path = join(newFolder(), "bwrap");
  const nul = (text: string) =>
    text
      .split(" ")
      .filter(Boolean)
      .map((word) => `${word}\0`)
      .join("");
  const script = `#!/usr/bin/python3 -IS
import json, os, sys
if "--args" not in sys.argv:
    os.execv("${bwrapPath}", ["bwrap", *sys.argv[1:]])
text = b""
while piece := os.read(7, 65536):
    text += piece
for wanted, given in json.loads(${JSON.stringify(JSON.stringify(edits.map((edit) => edit.map(nul))))}):
    assert wanted.encode() in text, wanted
    text = text.replace(wanted.encode(), given.encode())
edited = os.memfd_create("args", 0)
os.write(edited, text)
os.lseek(edited, 0, os.SEEK_SET)
os.dup2(edited, 7)
os.close(edited)
${plant}
os.execv("${bwrapPath}", ["bwrap", *sys.argv[1:]])
`;
  writeFileSync(path, script, { mode: 0o755 });
  return path;
}

function weakened(path: string, bytes: Uint8Array, { supervisor = [] }: Weakness): Uint8Array {
  let text = Buffer.from(bytes).toString("utf8");
  for (const [file, from, to] of supervisor.filter(([name]) => name === basename(path))) {
    assert.ok(text.includes(from), `${file} holds ${from}`);
    text = text.replace(from, to);
  }
  return Buffer.from(text);
}

/** A folder that the guest's user can get to, and that is gone after the test file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-attack-"));
  chmodSync(folder, 0o711);
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The workspace of a conversation, with a skill in it. */
export function conversation(folder: string): GuestWorkspace {
  for (const name of ["skills", "uploads", "outputs", "temp"]) {
    const path = join(folder, name);
    mkdirSync(path, { recursive: true });
    if (attackerUid !== undefined) chownSync(path, attackerUid, attackerUid);
  }
  const skill = join(folder, "skills/SKILL.md");
  writeFileSync(skill, "read me");
  // The attacker's own: it is the mount that keeps it.
  if (attackerUid !== undefined) chownSync(skill, attackerUid, attackerUid);
  return { folder, inside: "/workspace/c1", writable: ["uploads", "outputs", "temp"] };
}

/** What Python code of an attack can use: `say` is its answer, `call` calls the kernel by name or number. */
const prelude = `
import ctypes, errno, json, os, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
numbers = json.loads('${JSON.stringify(callNumbers())}')
def say(value):
    print(json.dumps(value), flush=True)
def name_of(number):
    return errno.errorcode.get(number, str(number))
def error_of(action, *args):
    try:
        action(*args)
    except OSError as error:
        return name_of(error.errno)
    return "done"
def call(name, *args):
    words = [arg if isinstance(arg, (bytes, ctypes.Array, ctypes.Structure, type(None))) else ctypes.c_long(arg) for arg in args]
    result = libc.syscall(ctypes.c_long(numbers.get(name, name)), *words)
    return "done" if result >= 0 else name_of(ctypes.get_errno())
def ended(pid):
    status = os.waitpid(pid, 0)[1]
    code = os.waitstatus_to_exitcode(status)
    return signal.Signals(-code).name if code < 0 else code
def in_child(action):
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read_end)
        try:
            answer = action()
        except BaseException as error:
            answer = repr(error)
        os.write(write_end, json.dumps(answer).encode())
        os._exit(0)
    os.close(write_end)
    text = os.fdopen(read_end).read()
    end = ended(pid)
    return json.loads(text) if text else end
def text_of(path):
    with open(path, errors="replace") as file:
        return file.read()
`;

function callNumbers(): Record<string, number> {
  const column = process.arch === "arm64" ? 1 : 0;
  const others: Readonly<Record<string, readonly [number, number]>> = {
    ...{ pidfd_open: [434, 434], pidfd_send_signal: [424, 424], prlimit64: [302, 261], listmount: [458, 458] },
    ...{
      sched_setscheduler: [144, 119],
      shmget: [29, 194],
      shmat: [30, 196],
      setpriority: [141, 140],
      statmount: [457, 457],
    },
  };
  const all = Object.entries({ ...refused, ...absent, ...unsupported, ...judged, ...others });
  return Object.fromEntries(
    all.flatMap(([name, entry]) => (entry[column] === undefined ? [] : [[name, entry[column]]])),
  );
}

type Attempt = {
  readonly language?: Execution["language"];
  readonly code: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Its Python, and what that started, stay. */
  readonly isKept?: true;
};

/** Runs the code of an attack; its answer is what it said, or how it ended when it said nothing. */
export async function attempt(
  { guest }: Attacked,
  { language = "python", code, env, timeoutMs, isKept }: Attempt,
): Promise<unknown> {
  const text = language === "python" ? `${prelude}\n${code}` : code;
  const execution = { id: systemIds.hex(32), agent: "attacker", timeoutMs: timeoutMs ?? 30_000, env };
  const outcome = await outcomeOf(guest.run({ ...execution, language, code: text }));
  // The next attack has a Python that this one did not touch.
  if (language === "python" && !isKept) await guest.reset("attacker");
  const line = outcome.stdout.trimEnd().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line);
  } catch {
    const told = [line, outcome.stderr.trimEnd().split("\n").at(-1), outcome.end];
    return told.filter(Boolean).join(" | ");
  }
}

/** A guest that lacks one layer, made from outside: the product has no way to leave one out. */
export type Weakness = {
  /** Of bwrap: what is replaced by what; words are parted by a space. */
  readonly arguments?: readonly (readonly [from: string, to: string])[];
  /** Python that runs before bwrap, when its arguments are edited. */
  readonly plant?: string;
  readonly hasNoFilter?: true;
  readonly hasNoGroups?: true;
  /** In the supervisor's files. */
  readonly supervisor?: readonly (readonly [file: string, from: string, to: string])[];
  readonly limits?: Partial<GuestLimits>;
  /** Handed to the guest as a whole, past what an execution may say. */
  readonly env?: Readonly<Record<string, string>>;
};

const noNesting: readonly (readonly [string, string])[] = [["--disable-userns", ""]];

const dumpable: readonly (readonly [string, string, string])[] = [
  ["processes.py", "libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)", "pass"],
];

/** By what a control takes away. */
export const weaknesses = {
  "the call filter": { hasNoFilter: true },
  "the call filter and the rule against nested users": { hasNoFilter: true, arguments: noNesting },
  "the call filter and the dropped capabilities": {
    hasNoFilter: true,
    arguments: [...noNesting, ["--cap-drop ALL", "--cap-add ALL"]],
  },
  "the dropped capabilities": { arguments: [...noNesting, ["--cap-drop ALL", "--cap-add ALL"]] },
  "the call filter and the supervisor's shield": { hasNoFilter: true, supervisor: dumpable },
  "the supervisor's shield": { supervisor: dumpable },
  "the network namespace": { arguments: [["--unshare-net", ""]] },
  "the process namespace": {
    arguments: [
      ["--unshare-pid", ""],
      ["--as-pid-1", ""],
      ["--proc /proc", "--ro-bind /proc /proc"],
    ],
  },
  "the IPC namespace": { arguments: [["--unshare-ipc", ""]] },
  "the name of its own": {
    arguments: [
      ["--unshare-uts", ""],
      ["--hostname sandbox", ""],
    ],
  },
  "the read-only root": { arguments: [["--remount-ro / ", ""]] },
  "the mounts of its own": {
    arguments: [["--ro-bind /usr /usr", "--ro-bind /usr /usr --ro-bind /etc /etc-of-the-host"]],
  },
  "control groups": { hasNoGroups: true },
  "the size of /tmp": { limits: { tmpBytesMax: 64 * 1024 * 1024 } },
  "the limit of a file": { limits: { fileBytesMax: 2 ** 42 } },
  "the limit of output": { limits: { outputBytesMax: 64 * 1024 * 1024 } },
  "the reset of signals": {
    supervisor: [
      ["processes.py", "    reset_signals()\n    signal.signal(signal.SIGPIPE", "    signal.signal(signal.SIGPIPE"],
    ],
  },
  "the limit of core dumps": { supervisor: [["processes.py", "    limit(resource.RLIMIT_CORE, CORE_BYTES_MAX)", ""]] },
  "the refusal of variables": { env: { BASH_ENV: "/workspace/c1/outputs/evil.sh" } },
  "the check of tokens": { supervisor: [["supervisor.py", "if token != execution.token:", "if False:"]] },
} satisfies Readonly<Record<string, Weakness>>;

/** One attack by code inside a guest. */
export type Attack = {
  /** Of the design study's list; own ones go on from there. */
  readonly number: string;
  /** What the attacker wants, as a gerund. */
  readonly name: string;
  readonly stoppedBy: string;
  readonly language?: Execution["language"];
  readonly code: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** The answer when it is stopped. */
  readonly expected: unknown;
  /** Another answer that is as good. */
  readonly also?: unknown;
  /** What the kernel holds for a process outlives it for a moment, so that the whole guest may have to end. */
  readonly mayEndGuest?: true;
  /** Where the machine lacks this limit the attack may succeed, because the operator is told so. */
  readonly lack?: LackName;
  readonly control?: Control;
  /** In a container it is stopped all the same, but the answer is another one; `differs`: what is so there, and why it may. */
  readonly onDocker?: { readonly expected: unknown } | { readonly differs: string };
};

/** The same code without that layer, and the answer that shows the attack at work. */
type Control = { readonly without: keyof typeof weaknesses; readonly shows: unknown };

/** Controls need the rights to take a layer away and still have all others; an engine takes none away. */
const hasControls = process.geteuid?.() === 0 && !isContained;

/** Those that the provider under test is held to, with the answers that it gives. */
function forProvider(attacks: readonly Attack[]): readonly Attack[] {
  if (!isContained) return attacks;
  return attacks.flatMap(({ onDocker, ...attack }) => {
    if (onDocker === undefined) return [attack];
    return "differs" in onDocker ? [] : [{ ...attack, ...onDocker }];
  });
}

/** Attacks whose control can be shown here. */
function controlled(attacks: readonly Attack[]): (Attack & { readonly control: Control })[] {
  return attacks.flatMap((attack) => (attack.control && hasControls ? [{ ...attack, control: attack.control }] : []));
}

/** Tries each attack, and shows by its control that it would work without what stops it. */
export function tryAttacks(attacks: readonly Attack[], ids: string): void {
  for (const attack of forProvider(attacks))
    test(`attack ${attack.number}: ${attack.name} is stopped by ${attack.stoppedBy} ${ids}`, () => isStopped(attack));
  for (const attack of controlled(attacks))
    test(`control ${attack.number}: ${attack.name} works without ${attack.control.without} ${ids}`, () =>
      worksWithout(attack));
}

/** The attack is stopped, and the guest lives on; or it belongs to what the probe says is missing. */
async function isStopped(attack: Attack): Promise<void> {
  const attacked = await sharedGuest("nothing");
  const answer = await attempt(attacked, attack);
  const isStillAlive = await isAlive(attacked);
  if (!isStillAlive) shared.delete("nothing");
  if (attack.mayEndGuest && !isStillAlive && String(answer).startsWith("out_of_memory ")) return;
  const answered = [answer, isStillAlive];
  const good = [attack.expected, ...("also" in attack ? [attack.also] : [])];
  if (good.some((value) => isDeepStrictEqual(answered, [value, true]))) return;
  if (attack.lack !== undefined && (await lacks()).includes(attack.lack)) return;
  assert.deepEqual(answered, [attack.expected, true]);
}

async function worksWithout({ control, ...attack }: Attack & { readonly control: Control }): Promise<void> {
  assert.deepEqual(await attempt(await sharedGuest(control.without), attack), control.shows);
}

/** It still runs what it is told to. */
export async function isAlive(attacked: Attacked): Promise<boolean> {
  return (await attempt(attacked, { language: "bash", code: "echo 1" })) === 1;
}

const shared = new Map<string, Promise<Attacked>>();

/** One for all attacks of a test file, as long as it lives. */
export async function sharedGuest(without: keyof typeof weaknesses | "nothing"): Promise<Attacked> {
  const weakness: Weakness | undefined = without === "nothing" ? undefined : weaknesses[without];
  const opened = shared.get(without) ?? openAttacked({ weakness });
  shared.set(without, opened);
  return await opened;
}

let probed: Promise<readonly LackName[]> | undefined;

/** What this machine cannot limit, as its operator is told. */
async function lacks(): Promise<readonly LackName[]> {
  probed ??= openProvider()
    .probe()
    .then(({ degraded }) => degraded.map(({ name }) => name));
  return await probed;
}
