import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { z } from "zod";

// A Docker engine as far as its API goes. Containers are plain processes of this machine, without any wall: what is tried
// with it is how the provider speaks with an engine, and what it does when that goes wrong.

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

export type PlayedEngine = {
  readonly socketPath: string;
  /** Ids of containers that are there. */
  containers(): readonly string[];
  /** Folders and files of the machine that any container was given. */
  mounted(): readonly string[];
  /** From now on. */
  breaks(faults: EngineFaults): void;
  /** As if it were killed: every connection breaks, and nobody answers any more. */
  vanish(): void;
};

type Container = {
  readonly id: string;
  readonly name: string;
  readonly body: z.infer<typeof wantedBody>;
  readonly waiting: ServerResponse[];
  attached: Duplex | undefined;
  child: ChildProcess | undefined;
};

const wantedBody = z.object({
  Entrypoint: z.array(z.string()),
  Labels: z.record(z.string(), z.string()),
  /** An image's own would run otherwise. */
  Healthcheck: z.object({ Test: z.tuple([z.literal("NONE")]) }),
  HostConfig: z.object({ Mounts: z.array(z.object({ Source: z.string(), Target: z.string() })) }),
});

/** What the canary of a good engine would have found. */
const goodFacts = {
  ...{ capabilities: 0, noNewPrivs: "1", seccomp: "2", descriptors: [0, 1, 2], canNestUsers: false, writable: [] },
  ...{ interfaces: ["lo"], routes: 0, canSeeFirst: false, libraries: [], hasChinese: true, hasNode: false },
};
const info = {
  ...{ OSType: "linux", Architecture: process.arch === "arm64" ? "aarch64" : "x86_64", Runtimes: { runc: {} } },
  ...{ MemoryLimit: true, PidsLimit: true, CpuCfsQuota: true, SecurityOptions: [] },
};

type State = {
  readonly user: number;
  readonly all: Map<string, Container>;
  readonly mounted: string[];
  faults: EngineFaults;
};

export async function playEngine(
  t: { after(action: () => void): void },
  { folder, user }: { readonly folder: string; readonly user: number },
): Promise<PlayedEngine> {
  const state: State = { user, all: new Map(), mounted: [], faults: {} };
  const open = new Set<Duplex>();
  const socketPath = join(folder, "docker.sock");
  const server = createServer((request, response) => void answer(state, request, response));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
  });
  server.on("upgrade", (request, socket) => attach(state, request.url, socket));
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  const vanish = () => {
    for (const { child } of state.all.values()) child?.kill("SIGKILL");
    for (const socket of open) socket.destroy();
    server.close();
  };
  t.after(vanish);
  const breaks = (wanted: EngineFaults) => {
    state.faults = wanted;
  };
  return { socketPath, breaks, vanish, mounted: () => state.mounted, containers: () => Array.from(state.all.keys()) };
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
    return say(200, { ...info, ...faults.info });
  if (path === "/containers/json")
    return say(
      200,
      Array.from(all.values(), ({ id, body }) => ({ Id: id, Labels: body.Labels })),
    );
  if (path === "/containers/create") {
    const id = `${all.size + 1}`.padStart(12, "0");
    const name = new URL(url, "http://docker").searchParams.get("name") ?? id;
    const body = wantedBody.parse(JSON.parse(Buffer.concat(pieces).toString("utf8")));
    all.set(id, { id, name, body, waiting: [], attached: undefined, child: undefined });
    state.mounted.push(...body.HostConfig.Mounts.map(({ Source }) => Source));
    return say(201, { Id: id });
  }
  const container = find(state, path);
  if (container === undefined) return say(404, { message: "no such container" });
  if (method === "DELETE") {
    remove(state, container, 137);
    return say(204);
  }
  if (path.endsWith("/wait")) return void container.waiting.push(response);
  if (path.endsWith("/json")) return say(200, { State: { Pid: 0 } });
  if (path.endsWith("/stats")) return say(200, usage);
  if (faults.start !== undefined) {
    container.attached?.end();
    await setImmediate(); // The stream ends before the answer comes, as it does with a real one.
    return say(500, { message: faults.start });
  }
  begin(state, container);
  return say(204);
}

function begin(state: State, container: Container): void {
  const { attached, body } = container;
  const write = (stream: number, bytes: Buffer) => {
    const head = Buffer.alloc(8);
    head.writeUInt8(stream, 0);
    head.writeUInt32BE(bytes.length, 4);
    attached?.write(Buffer.concat([head, bytes]));
  };
  const isCanary = body.Entrypoint.some((word) => word.endsWith("canary.py"));
  const user = [state.user, state.user, 1];
  if (isCanary) return write(1, Buffer.from(`${JSON.stringify({ ...goodFacts, user })}\n`));
  const inside = body.HostConfig.Mounts.find(({ Target }) => Target === "/run/agentyard")?.Source ?? "";
  const own = body.Entrypoint.map((word) => word.replace(/^\/run\/agentyard/, inside));
  const [program = "", ...args] = state.faults.command ?? own;
  const child = spawn(program, args, { stdio: "pipe", env: { PATH: process.env.PATH } });
  container.child = child;
  child.stdin.on("error", () => {});
  attached?.on("data", (bytes: Buffer) => void child.stdin.write(bytes));
  attached?.once("close", () => child.stdin.end());
  child.stdout.on("data", (bytes: Buffer) => write(1, bytes));
  child.stderr.on("data", (bytes: Buffer) => write(2, bytes));
  child.once("close", (code) => remove(state, container, code ?? 137));
}

/** As `AutoRemove` does it. */
function remove({ all }: State, container: Container, code: number): void {
  container.child?.kill("SIGKILL");
  all.delete(container.id);
  container.attached?.end();
  for (const response of container.waiting.splice(0)) response.writeHead(200).end(JSON.stringify({ StatusCode: code }));
}

const usage = {
  ...{
    memory_stats: { usage: 4096 },
    pids_stats: { current: 3 },
    cpu_stats: { cpu_usage: { total_usage: 5_000_000 } },
  },
};
