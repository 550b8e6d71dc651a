import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { SandboxExecution } from "../../src/protocol/sandbox-resources.ts";
import type { Home, Program } from "./program.ts";
import { cannotRunCode } from "./sandbox.ts";
import { requestOf, type Sent } from "./sent.ts";

/** `agentyard sandbox` as an operator starts it, and requests to it over its port. */
export type Platform = {
  readonly service: Program;
  readonly address: string;
  send(method: string, path: string, sent?: Sent): Promise<Reply>;
  /** Runs a program in a user's session and waits for its end. */
  run(user: string, code: string, wanted?: Readonly<Record<string, unknown>>): Promise<SandboxExecution>;
  /** Starts one; answers its id. */
  start(user: string, code: string, wanted?: Readonly<Record<string, unknown>>): Promise<string>;
  execution(id: string): Promise<SandboxExecution>;
  stop(): Promise<void>;
};

/** `json` is empty where the answer is none. */
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly json: Readonly<Record<string, unknown>>;
};

export async function startPlatform(home: Home): Promise<Platform> {
  const service = home.start("sandbox", "--port", "0");
  const [, address = ""] = await service.until("output", /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/);
  const send = async (method: string, path: string, sent: Sent = {}) => {
    const response = await fetch(`${address}/api/v1${path}`, requestOf(method, sent));
    const bytes = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get("content-type")?.includes("json") === true && bytes.length > 0;
    return { status: response.status, headers: response.headers, bytes, json: isJson ? JSON.parse(`${bytes}`) : {} };
  };
  const place = (user: string) => `/executions/sessions/sb-session-${user}`;
  return {
    ...{ service, address, send },
    async run(user, code, wanted = {}) {
      const ran = await send("POST", `${place(user)}/execute-sync`, { json: { code, ...wanted } });
      assert.equal(ran.status, 200, `${ran.bytes}`);
      return SandboxExecution.parse(ran.json);
    },
    async start(user, code, wanted = {}) {
      const started = await send("POST", `${place(user)}/execute`, { json: { code, ...wanted } });
      assert.equal(started.status, 201, `${started.bytes}`);
      return String(started.json.execution_id);
    },
    async execution(id) {
      const found = await send("GET", `/executions/${id}/status`);
      assert.equal(found.status, 200, `${found.bytes}`);
      return SandboxExecution.parse(found.json);
    },
    async stop() {
      service.child.kill("SIGTERM");
      await service.ended;
    },
  };
}

/** What ran, in one value. */
export function told({ status, stdout, stderr }: SandboxExecution) {
  return { status, stdout, stderr };
}

/** Why data cannot be worked on with the usual libraries here; false where it can. CI has all of it. */
export const cannotWorkOnData =
  cannotRunCode ||
  (spawnSync("/usr/bin/python3", ["-c", "import pandas, matplotlib"]).status !== 0 &&
    "pandas or matplotlib is not here");
