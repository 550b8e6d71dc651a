import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { ok } from "../../src/base/result.ts";
import { type McpParts, type McpServerSettings, openMcp } from "../../src/mcp/mcp.ts";
import type { Logger } from "../../src/observe/observe.ts";
import { localOwner, type OwnerId } from "../../src/protocol/ids.ts";
import type { Tool, ToolContext, ToolOutput } from "../../src/tools/tools.ts";
import { openSecrets, type Secrets } from "../../src/users/users.ts";
import { openWeb } from "../../src/web/web.ts";
import { openDatabase } from "./database.ts";
import { toolContext } from "./tools.ts";
import { webSettings } from "./web.ts";

// Real MCP servers from npm, as programs and behind addresses, and one of ours that misbehaves.

const packages = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol");
const env = { PATH: process.env.PATH ?? "", HOME: tmpdir(), LANG: "C.UTF-8" };

type Wanted = Partial<Omit<McpServerSettings, "id">>;

export function program(
  id: string,
  args: readonly string[],
  wanted: Wanted & { readonly env?: object; readonly command?: string } = {},
): McpServerSettings {
  const { env: own, command = process.execPath, ...rest } = wanted;
  const reached = { by: "program", command, args, cwd: tmpdir(), env: { ...env, ...own } } as const;
  return { ...common, id, reached, ...rest };
}

export function address(id: string, url: string, wanted: Wanted = {}): McpServerSettings {
  const reached = { by: "address", url, headers: {}, client: undefined, issuer: undefined, scope: undefined } as const;
  return { ...common, id, reached, ...wanted };
}

const common = { isOn: true, startTimeoutMs: 60_000, callTimeoutMs: undefined, tools: new Map() };

export const everything = (id = "everything", wanted?: Wanted & { env?: object }) =>
  program(id, [join(packages, "server-everything/dist/index.js"), "stdio"], wanted);
export const memory = (file: string) =>
  program("memory", [join(packages, "server-memory/dist/index.js")], { env: { MEMORY_FILE_PATH: file } });
export const filesystem = (folder: string) =>
  program("files", [join(packages, "server-filesystem/dist/index.js"), folder]);
export const odd = (manner: string, wanted?: Wanted, count = 1) =>
  program("odd", [join(import.meta.dirname, "mcp-program.mjs"), manner, String(count)], wanted);

/** The same server behind an address: `streamableHttp`, or `sse` as the first servers of all. */
export async function everythingAt(t: TestContext, way: "streamableHttp" | "sse", port?: number) {
  for (let tries = 1; ; tries += 1) {
    const taken = port ?? (await freePort());
    const end = await startEverything(t, way, taken);
    // It says that it listens, also where somebody else has the port by then.
    if (await isServed(taken))
      return { url: `http://127.0.0.1:${taken}/${way === "sse" ? "sse" : "mcp"}`, port: taken, end };
    await end();
    if (tries === 20) throw new Error(`port ${taken} is somebody else's`);
  }
}

async function startEverything(t: TestContext, way: string, port: number): Promise<() => Promise<void>> {
  const script = join(packages, "server-everything/dist/index.js");
  const child = spawn(process.execPath, [script, way], { env: { ...env, PORT: String(port) } });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  t.after(end);
  child.stdout.resume();
  for await (const line of createInterface({ input: child.stderr })) if (/on port/.test(line)) break;
  child.stderr.resume();
  return end;
}

async function isServed(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: "close" } });
    await answer.text();
    return answer.headers.get("x-powered-by") === "Express";
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const place = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof place === "object" && place !== null ? place.port : 0;
}

export type TestMcp = Awaited<ReturnType<typeof startMcp>>;

/** The servers on a data directory of their own, with what was told to the log. */
export async function startMcp(t: TestContext, servers: readonly McpServerSettings[], parts: Partial<McpParts> = {}) {
  const dataDir = parts.dataDir ?? (await mkdtemp(join(tmpdir(), "agentyard-mcp-")));
  const told: string[] = [];
  const note = (message: string, fields: object = {}) => void told.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = {
    ...{ path: undefined, error: note, warn: note, info: note, debug: note },
    ...{ flush: async () => {}, close: async () => {} },
  };
  const secrets = parts.secrets ?? openTestSecrets(t);
  const mcp = openMcp({
    ...{ servers, dataDir, clock: systemClock, ids: systemIds, logger, version: "0.0.0-test" },
    web: openWeb({ clock: systemClock, settings: () => webSettings, proxyEnv: () => ({}) }),
    ...parts,
    secrets,
  });
  t.after(async () => {
    await mcp.close();
    if (parts.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  });
  return {
    ...{ mcp, told, dataDir, secrets },
    /** Started, with its tools. */
    async ready(id: string, owner: OwnerId = localOwner) {
      const server = await mcp.restart(owner, id);
      if (!server.ok) throw new Error(server.failure.code);
      return server.value;
    },
    tool: (name: string, owner: OwnerId = localOwner) => toolNamed(mcp.tools(owner), name),
    /** The result, or the code of the failure and what it is about. */
    async call(name: string, input: object = {}, how: Partial<ToolContext> & { owner?: OwnerId } = {}) {
      const { owner = localOwner, ...context } = how;
      const opened = toolNamed(mcp.tools(owner), name).open({ ...input });
      if (!opened.ok) return { failure: opened.failure };
      const output = await opened.value.run(toolContext(context));
      return output.ok ? output.value : { failure: output.failure };
    },
  };
}

/** As the product seals them, in a database of their own. */
function openTestSecrets(t: TestContext): Secrets {
  const key = () => ok("a key of the test, which is long enough");
  return openSecrets({
    ...{ storage: openDatabase(t), key: { find: key, make: key } },
    ...{ clock: systemClock, ids: systemIds },
  });
}

export function textOf(output: ToolOutput | { readonly failure: object }): string {
  return "text" in output ? output.text : JSON.stringify(output.failure);
}

function toolNamed(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no ${name} among ${tools.map((tool) => tool.name).join(", ")}`);
  return found;
}

/** Whether a process is there, other than as one that only waits to be taken note of. */
export async function isAlive(pid: number): Promise<boolean> {
  const { readFile } = await import("node:fs/promises");
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}
