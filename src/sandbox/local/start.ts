import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync } from "node:fs";
import { Duplex, PassThrough } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { keepFirstWords } from "../guest/first-words.ts";
import { readText } from "../guest/group-places.ts";
import { canReach, type Opened, type ProgramWanted, type Sources } from "../guest/sources.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import { type Bwrap, descriptors, hiddenArguments, type Plan, type Source, visibleArguments } from "./bwrap.ts";
import { endProcess, type Groups } from "./groups.ts";
import { canStage, stagedCommand, stagedPath } from "./stage.ts";

/** What runs as the guest's first process, with the control socket as descriptor 3. */
export type GuestProgram = {
  readonly command: readonly string[];
  /** By their place inside. */
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly programs: readonly ProgramWanted[];
  /** By their place inside, where they lead. */
  readonly links?: Readonly<Record<string, string>> | undefined;
  /** Resolves when it said that it is ready; with what is wrong when it said something else. */
  greet(control: Duplex): Promise<SandboxFault | undefined>;
};

/** What all guests of a provider are started with. */
export type LaunchSettings = {
  readonly bwrap: Bwrap;
  readonly seccomp: Uint8Array;
  readonly groups: Groups;
  /** Marks this installation, see `openGroups`. */
  readonly installation: string;
  readonly clock: Clock;
  readonly startTimeoutMs: number;
};

/** `said`: the beginning of what the first process, or bwrap, had to say for itself. */
export type End = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly said: string;
};

/** bwrap at work. The program inside waits until it is released. */
export type Started = {
  /** The program's process, as the host counts; never resolves when bwrap ends before. */
  readonly pid: Promise<number>;
  readonly control: Duplex;
  readonly network: Duplex | undefined;
  readonly ended: Promise<End>;
  release(): void;
  kill(): void;
};

type Order = {
  readonly wanted: GuestWanted;
  readonly program: GuestProgram;
  readonly host: LaunchSettings;
  /** Whom bwrap runs as when we are root. */
  readonly uid: number | undefined;
  readonly sources: Sources;
};

/** Nothing of this process goes in: no variable, no argument that others could read, no descriptor but those named. */
export function startBwrap(order: Order): Started {
  const { wanted, program, host, uid, sources } = order;
  const opened = openedOf(sources);
  const files = Object.entries({ ...etcFiles, ...program.files });
  const isStaged = uid !== undefined && needsStage(opened, uid, host.bwrap);
  // Only what bwrap consumes is handed to it: an open folder of the host would be a way out of the guest.
  const handed = isStaged || !host.bwrap.hasBindFd ? [] : opened.map(({ fd }) => fd);
  const network = wanted.network === undefined ? [] : (["pipe"] as const);
  const first = descriptors.first + network.length;
  const plan = planFor(order, { opened, handed, files, isStaged, first });
  const bwrap = [host.bwrap.path, ...visibleArguments(plan, program.command)];
  const [command = "", ...args] = isStaged ? stagedCommand({ opened, uid }, bwrap) : bwrap;
  // Made before there is a process: what is wrong with it leaves none behind.
  const hidden = hiddenArguments(plan)
    .map((argument) => `${argument}\0`)
    .join("");
  const child = spawnClean(command, args, {
    handed: [...network, ...handed, ...files.map(() => "pipe" as const)],
    user: uid === undefined || isStaged ? {} : { uid, gid: uid },
  });

  const give = (fd: number, content: string | Uint8Array) => pipeOf(child, fd).end(content);
  give(descriptors.seccomp, host.seccomp);
  give(descriptors.args, hidden);
  for (const [index, file] of plan.files.entries()) give(file.fd, files[index]?.[1] ?? "");
  return {
    pid: readPid(pipeOf(child, descriptors.status)),
    control: pipeOf(child, descriptors.control),
    network: network.length === 0 ? undefined : pipeOf(child, descriptors.first),
    ended: readEnd(child, host.clock),
    release: () => give(descriptors.block, "."),
    kill: () => killWithChildren(child),
  };
}

/** What programs look up about the user and the machine. */
const etcFiles = {
  "/etc/passwd": "guest:x:1000:1000::/tmp:/bin/bash\n",
  "/etc/group": "guest:x:1000:\n",
  "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
  "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
};

function openedOf({ workspace, programs, packages }: Sources): Opened[] {
  const installed = packages === undefined ? [] : [packages];
  return [...foldersOf(workspace), ...programs.map(({ opened }) => opened), ...installed];
}

function foldersOf(workspace: Sources["workspace"]): Opened[] {
  if (workspace === undefined) return [];
  const { root, writable, skills, skillCopies } = workspace;
  const below = writable === "all" ? [] : writable.map(({ opened }) => opened);
  return [root, ...below, ...[skills, skillCopies].filter((opened) => opened !== undefined)];
}

/** Where bwrap binds by path only (a staged path is ours, nobody can swap it), and where the guest's user cannot reach one. */
function needsStage(opened: readonly Opened[], uid: number, { hasBindFd }: Bwrap): boolean {
  return canStage() && opened.some(({ path }) => !hasBindFd || !canReach(path, uid));
}

type Mounts = {
  readonly opened: readonly Opened[];
  readonly handed: readonly number[];
  readonly files: readonly (readonly [inside: string, content: unknown])[];
  readonly isStaged: boolean;
  /** The descriptor of the first that is handed in. */
  readonly first: number;
};

function planFor(
  { wanted, program, host, sources: { workspace, programs, packages } }: Order,
  { opened, handed, files, isStaged, first }: Mounts,
): Plan {
  const sourceOf = (source: Opened): Source => {
    const index = opened.indexOf(source);
    if (isStaged) return { path: stagedPath(index) };
    return handed.length > 0 ? { fd: first + index } : { path: source.path };
  };
  return {
    name: `${host.installation}.${wanted.id}`,
    workspace: workspace && {
      inside: workspace.inside,
      root: sourceOf(workspace.root),
      writable:
        workspace.writable === "all"
          ? "all"
          : workspace.writable.map(({ name, opened: folder }) => ({ name, source: sourceOf(folder) })),
      skills: workspace.skills && sourceOf(workspace.skills),
      skillCopies: workspace.skillCopies && sourceOf(workspace.skillCopies),
    },
    files: files.map(([inside], index) => ({ fd: first + handed.length + index, inside })),
    programs: programs.map(({ opened: source, inside }) => ({ source: sourceOf(source), inside })),
    links: program.links ?? {},
    packages: packages && sourceOf(packages),
    env: wanted.env,
    tmpBytesMax: wanted.limits.tmpBytesMax,
    hasNetwork: wanted.network !== undefined,
    hasDisableUserns: host.bwrap.hasDisableUserns,
  };
}

/**
 * A descriptor that this process itself was started with would go on into the guest: only Node's own are closed by an
 * exec. Node cannot close it there, but it can put /dev/null in its place. In a session of its own: Ctrl+C in a terminal
 * would end the guest before its program hears of it.
 */
function spawnClean(
  command: string,
  args: readonly string[],
  { handed, user }: { handed: readonly (number | "pipe")[]; user: { uid?: number; gid?: number } },
): ChildProcess {
  const nothing = openSync("/dev/null", "r");
  try {
    const stdio: StdioOptions = ["ignore", "pipe", "pipe", "pipe", "pipe", "pipe", "pipe", "pipe", ...handed];
    for (const fd of inheritable().filter((fd) => fd >= stdio.length)) {
      while (stdio.length < fd) stdio.push("ignore");
      stdio.push(nothing);
    }
    return spawn(command, args, { ...user, stdio, cwd: "/", env: {}, detached: true });
  } finally {
    closeSync(nothing);
  }
}

const closedByExec = 0o2000000;

function inheritable(): number[] {
  const isInheritable = (fd: number) => {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readText(`/proc/self/fdinfo/${fd}`) ?? "")?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closedByExec) === 0;
  };
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter(isInheritable)
    .sort((a, b) => a - b);
}

/** An empty one when the command could not be started at all. */
function pipeOf(child: ChildProcess, fd: number): Duplex {
  const streams: readonly unknown[] = child.stdio ?? [];
  const stream = streams[fd];
  const pipe = stream instanceof Duplex ? stream : new PassThrough();
  // Whoever reads at the other end may be gone; that is told by its end.
  if (pipe.listenerCount("error") === 0) pipe.on("error", () => {});
  return pipe;
}

/**
 * bwrap takes the guest along when it dies, but not before the guest was released: one that waits would take the end of
 * our pipe for the word to begin.
 */
function killWithChildren(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  const children = (readText(`/proc/${pid}/task/${pid}/children`) ?? "").split(" ").map(Number);
  for (const inner of children.filter((number) => number > 1)) endProcess(inner);
  child.kill("SIGKILL");
}

const statusCharactersMax = 4096;

function readPid(status: Duplex): Promise<number> {
  return new Promise((resolve) => {
    let text = "";
    status.on("data", (bytes: Buffer) => {
      if (text.length < statusCharactersMax) text += bytes.toString("latin1");
      const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
      if (pid !== undefined) resolve(Number(pid));
    });
  });
}

/** How long a process that outlives bwrap may hold its output. */
const lastWordsMs = 1000;

function readEnd(child: ChildProcess, clock: Clock): Promise<End> {
  const said = keepFirstWords();
  const silent = [child.stdout, child.stderr].map((stream) => {
    stream?.on("data", said.add);
    return new Promise<void>((resolve) => (stream === null ? resolve() : stream.once("close", resolve)));
  });
  return new Promise((resolve) => {
    const finish = (code: number | null, signal: string | null) => {
      const answer = () => resolve({ code, signal, said: said.text() });
      const cancel = clock.after(lastWordsMs, answer);
      void Promise.all(silent).then(() => {
        cancel();
        answer();
      });
    };
    child.once("exit", finish);
    child.once("error", (error) => {
      said.add(Buffer.from(error.message));
      finish(null, null);
    });
  });
}
