import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";
import { letGo, type RunningContainer, startContainer } from "./played-container.ts";

// A Docker engine as far as its API goes. Containers are plain processes of this machine, without any wall, where it is
// tried how the provider speaks with an engine and what it does when that goes wrong; with `hasWalls` they are behind
// bubblewrap, and what the canary finds is what is there. Memory, processes and processors are not shared out.

/** What goes wrong, by the step; a text is what the engine says. */
export type EngineFaults = {
  readonly attach?: string;
  readonly start?: string;
  /** What a request (`DELETE /containers/1`) waits for before anything is done about it; may never come. */
  readonly before?: (asked: string, breakOff: () => void) => Promise<unknown> | undefined;
  /** What it says of itself, where that is something else. */
  readonly info?: Partial<typeof info>;
  /** Runs in place of a guest's own program. */
  readonly command?: readonly string[];
};

type Container = {
  readonly id: string;
  readonly name: string;
  readonly body: Body;
  readonly waiting: ServerResponse[];
  attached: Duplex | undefined;
  running: RunningContainer | undefined;
};

const wantedBody = z.object({
  Entrypoint: z.array(z.string()),
  ...{ Labels: z.record(z.string(), z.string()), User: z.string(), WorkingDir: z.string() },
  ...{ OpenStdin: z.literal(true), StdinOnce: z.boolean(), Tty: z.literal(false) },
  /** An image's own would run otherwise. */
  Healthcheck: z.object({ Test: z.tuple([z.literal("NONE")]) }),
  HostConfig: z.object({
    ...{ AutoRemove: z.literal(true), Privileged: z.literal(false), NetworkMode: z.literal("none") },
    LogConfig: z.object({ Type: z.literal("none") }),
    SecurityOpt: z.tuple([z.literal("no-new-privileges:true")]),
    ...{ ReadonlyRootfs: z.boolean(), CapDrop: z.array(z.string()), ShmSize: z.number() },
    /** By their places inside, what `mount` is told. */
    Tmpfs: z.record(z.string(), z.string()),
    Mounts: z.array(
      z.object({ Type: z.literal("bind"), Source: z.string(), Target: z.string(), ReadOnly: z.boolean() }),
    ),
  }),
});

type Body = z.infer<typeof wantedBody>;

/** What the canary of a good engine would have found. */
const goodFacts = {
  ...{ capabilities: 0, noNewPrivs: "1", seccomp: "2", descriptors: [0, 1, 2], canNestUsers: false, writable: [] },
  ...{ interfaces: ["lo"], routes: 0, canSeeFirst: false, libraries: [], hasChinese: true, hasNode: false },
};
const info = {
  ...{ OSType: "linux", Architecture: process.arch === "arm64" ? "aarch64" : "x86_64", Runtimes: { runc: {} } },
  ...{ MemoryLimit: true, PidsLimit: true, CpuCfsQuota: true, SecurityOptions: [] },
};
/** What an engine says of itself that limits nothing. */
const unlimited = { MemoryLimit: false, PidsLimit: false, CpuCfsQuota: false };

type EngineOptions = {
  /** For its socket. */
  readonly folder: string;
  /** Whom a canary without walls has seen. */
  readonly user: number;
  readonly hasWalls?: boolean;
};

type State = {
  readonly options: EngineOptions;
  readonly all: Map<string, Container>;
  readonly mounted: string[];
  faults: EngineFaults;
};

export async function playEngine(t: { after(action: () => void): void }, options: EngineOptions) {
  const state: State = { options, all: new Map(), mounted: [], faults: {} };
  const open = new Set<Duplex>();
  const socketPath = join(options.folder, "docker.sock");
  const server = createServer((request, response) => void answer(state, request, response));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
  });
  server.on("upgrade", (request, socket) => attach(state, request.url, socket));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  /** As if it were killed: every connection breaks, and nobody answers any more. */
  const vanish = () => {
    for (const { running } of state.all.values()) running?.kill();
    for (const socket of open) socket.destroy();
    server.close();
  };
  t.after(vanish);
  const breaks = (wanted: EngineFaults) => {
    state.faults = wanted;
  };
  /** As if whoever attached to containers were killed. */
  const breakStreams = () => {
    for (const { attached } of state.all.values()) attached?.destroy();
  };
  return {
    ...{ socketPath, breaks, breakStreams, vanish },
    /** Folders and files of the machine that any container was given. */
    mounted: (): readonly string[] => state.mounted,
    /** Ids of containers that are there. */
    containers: () => Array.from(state.all.keys()),
  };
}

function find({ all }: State, url = ""): Container | undefined {
  const name = /\/containers\/([^/?]+)/.exec(url)?.[1] ?? "";
  return all.get(name) ?? [...all.values()].find((container) => container.name === name);
}

function attach(state: State, url: string | undefined, socket: Duplex): void {
  const container = find(state, url);
  const refusal = container === undefined ? "no such container" : state.faults.attach;
  if (container === undefined || refusal !== undefined) {
    const text = JSON.stringify({ message: refusal });
    socket.end(`HTTP/1.1 409 Conflict\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    return;
  }
  container.attached = socket;
  socket.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { all, faults } = state;
  const { method, url = "" } = request;
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const say = (status: number, value?: unknown) => {
    response.writeHead(status, { "Api-Version": "1.41" }).end(value === undefined ? "" : JSON.stringify(value));
  };
  const path = url.replace(/^\/v1\.41/, "").replace(/\?.*/, "");
  await faults.before?.(`${method} ${path}`, () => request.socket.destroy());
  if (path === "/_ping" || path === "/info" || path.startsWith("/images/"))
    return say(200, { ...info, ...(state.options.hasWalls ? unlimited : {}), ...faults.info });
  if (path === "/containers/json") return say(200, listed(state, url));
  if (path === "/containers/create") {
    const id = randomBytes(32).toString("hex");
    const name = new URL(url, "http://docker").searchParams.get("name") ?? id;
    const body = wantedBody.parse(JSON.parse(Buffer.concat(pieces).toString("utf8")));
    const sources = body.HostConfig.Mounts.map(({ Source }) => Source);
    const lacking = sources.find((source) => !existsSync(source));
    if (lacking !== undefined) return say(400, { message: `bind source path does not exist: ${lacking}` });
    all.set(id, { id, name, body, waiting: [], attached: undefined, running: undefined });
    state.mounted.push(...sources);
    return say(201, { Id: id });
  }
  const container = find(state, path);
  if (container === undefined) return say(404, { message: "no such container" });
  if (method === "DELETE") {
    await end(state, container);
    return say(204);
  }
  if (path.endsWith("/wait")) return void container.waiting.push(response);
  if (path.endsWith("/json")) return say(200, { State: { Pid: 0 } });
  if (path.endsWith("/stats")) return say(200, statsOf(state, container));
  if (faults.start !== undefined) {
    container.attached?.end();
    await setImmediate(); // The stream ends before the answer comes, as it does with a real one.
    return say(500, { message: faults.start });
  }
  begin(state, container);
  return say(204);
}

const wantedFilters = z.object({ label: z.array(z.string()) });

/** Those that have all the labels that are asked for, by name or by name and value. */
function listed({ all }: State, url: string) {
  const { label } = wantedFilters.parse(JSON.parse(new URL(url, "http://docker").searchParams.get("filters") ?? ""));
  const isChosen = ({ Labels }: Body) =>
    label.every((wanted) =>
      Object.entries(Labels).some(([name, value]) => [name, `${name}=${value}`].includes(wanted)),
    );
  const chosen = Array.from(all.values()).filter(({ body }) => isChosen(body));
  return chosen.map(({ id, body }) => ({ Id: id, Labels: body.Labels }));
}

function begin(state: State, container: Container): void {
  const { attached, body } = container;
  const write = (stream: number, bytes: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt8(stream, 0);
    head.writeUInt32BE(bytes.length, 4);
    attached?.write(Buffer.concat([head, bytes]));
  };
  const { hasWalls, user } = state.options;
  const isCanary = body.Entrypoint.some((word) => word.endsWith("canary.py"));
  if (isCanary && !hasWalls)
    return write(1, Buffer.from(`${JSON.stringify({ ...goodFacts, user: [user, user, 1] })}\n`));
  const running = (hasWalls ? startWalled : startPlain)(body, state.faults.command);
  const { child } = running;
  container.running = running;
  child.stdin.on("error", () => {});
  attached?.on("data", (bytes: Buffer) => void child.stdin.write(bytes));
  if (body.StdinOnce) attached?.once("close", () => child.stdin.end());
  child.stdout.on("data", (bytes: Buffer) => write(1, bytes));
  child.stderr.on("data", (bytes: Buffer) => write(2, bytes));
  child.once("close", (code) => {
    running.clean();
    remove(state, container, code ?? 137);
  });
}

function startPlain({ Entrypoint, HostConfig }: Body, command: readonly string[] | undefined): RunningContainer {
  const inside = HostConfig.Mounts.find(({ Target }) => Target === "/run/agentyard")?.Source ?? "";
  const own = Entrypoint.map((word) => word.replace(/^\/run\/agentyard/, inside));
  const [program = "", ...args] = command ?? own;
  const child = spawn(program, args, { stdio: "pipe", env: { PATH: process.env.PATH } });
  const kill = () => {
    child.kill("SIGKILL");
    letGo(child);
  };
  return { child, kill, clean() {} };
}

function startWalled(
  { User, WorkingDir, Entrypoint, HostConfig }: Body,
  command: readonly string[] | undefined,
): RunningContainer {
  const [user = 0, group = 0] = User.split(":").map(Number);
  const { ReadonlyRootfs, CapDrop, ShmSize, Tmpfs, Mounts } = HostConfig;
  return startContainer({
    ...{ user, group, folder: WorkingDir, command: command ?? Entrypoint, sharedMemoryBytes: ShmSize },
    ...{ isRootReadOnly: ReadonlyRootfs, hasNoCapabilities: CapDrop.includes("ALL"), hasNetwork: false },
    mounts: [
      ...Object.entries(Tmpfs).map(([inside, told]) => ({ inside, bytes: /\bsize=(\d+)/.exec(told)?.[1] ?? "0" })),
      ...Mounts.map(({ Source, Target, ReadOnly }) => ({ inside: Target, source: Source, readOnly: ReadOnly })),
    ],
  });
}

/** Whoever asked for it is answered when nothing runs in it any more; without walls nobody can tell. */
async function end(state: State, container: Container): Promise<void> {
  const { running } = container;
  if (running === undefined || !state.options.hasWalls) return remove(state, container, 137);
  const over = new Promise((resolve) => running.child.once("close", resolve));
  running.kill();
  if (state.all.has(container.id)) await over;
}

/** As `AutoRemove` does it. */
function remove({ all }: State, container: Container, code: number): void {
  container.running?.kill();
  all.delete(container.id);
  container.attached?.end();
  for (const response of container.waiting.splice(0)) response.writeHead(200).end(JSON.stringify({ StatusCode: code }));
}

function statsOf({ options }: State, { running }: Container) {
  const pid = running?.child.pid;
  const used = options.hasWalls && pid !== undefined ? usedBelow(pid) : { memoryBytes: 4096, processes: 3, cpuMs: 5 };
  return {
    memory_stats: { usage: used.memoryBytes },
    pids_stats: { current: used.processes },
    cpu_stats: { cpu_usage: { total_usage: used.cpuMs * 1e6 } },
  };
}

const pageBytes = 4096;
const ticksPerMs = 0.1;

/** What all processes below one use, as the kernel tells it of each; those that are gone count for their parents. */
function usedBelow(pid: number): { memoryBytes: number; processes: number; cpuMs: number } {
  const below = textOf(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
  const used = { memoryBytes: 0, processes: 0, cpuMs: 0 };
  for (const child of below) {
    const deeper = usedBelow(child);
    // After the name, which may have spaces: of these the 12th to the 15th are its time and that of its children.
    const fields = textOf(`/proc/${child}/stat`).split(") ").at(-1)?.split(" ").map(Number) ?? [];
    const ticks = fields.slice(11, 15).reduce((sum, count) => sum + count, 0);
    used.memoryBytes += deeper.memoryBytes + Number(textOf(`/proc/${child}/statm`).split(" ")[1] ?? 0) * pageBytes;
    used.processes += deeper.processes + 1;
    used.cpuMs += deeper.cpuMs + ticks / ticksPerMs;
  }
  return used;
}

/** Empty where the process is gone. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
