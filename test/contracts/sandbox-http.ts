import assert from "node:assert/strict";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { listen } from "../../src/http/http.ts";
import { SandboxExecution } from "../../src/protocol/sandbox-resources.ts";
import type { LocalSandboxOptions } from "../../src/sandbox/local/local.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { until as untilSo } from "../world/events.ts";
import { startYard, type TestYard, type TestYardOptions } from "../world/yard.ts";
import { openProvider } from "./sandbox-guests.ts";

/** What came back; `body` is empty when it has none. */
export type Reply = { readonly status: number; readonly headers: Headers; readonly body: Body };
type Body = Readonly<Record<string, unknown>>;
type Sent = { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> };

/** A whole yard with a real sandbox behind a real port. */
export type Door = {
  readonly yard: TestYard;
  readonly url: string;
  get(path: string, sent?: Sent): Promise<Reply>;
  post(path: string, body?: unknown, sent?: Sent): Promise<Reply>;
  remove(path: string, sent?: Sent): Promise<Reply>;
  /** The execution as it ended. */
  run(code: string, wanted?: Body, session?: string): Promise<SandboxExecution>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function openDoor(options: TestYardOptions = {}): Promise<Door> {
  const yard = await startYard({ runsCode: true, ...options });
  const server = await listen(yard.app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  assert.ok(server.ok);
  const { address: url, close } = server.value;
  const send =
    (method: string) =>
    async (path: string, { body, headers }: Sent = {}) => {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/v1${path}`, {
        ...{ method, ...json, headers: { "content-type": "application/json", ...headers } },
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
    };
  const post = send("POST");
  return {
    yard,
    url,
    get: send("GET"),
    remove: send("DELETE"),
    post: (path, body, sent) => post(path, { ...sent, body }),
    async run(code, wanted = {}, session = "sess-agent-default") {
      const ran = await post(`/executions/sessions/${session}/execute-sync`, { body: { code, ...wanted } });
      assert.equal(ran.status, 200, JSON.stringify(ran.body));
      return SandboxExecution.parse(ran.body);
    },
    async [Symbol.asyncDispose]() {
      await close();
      await yard[Symbol.asyncDispose]();
    },
  };
}

/** A real sandbox on a provider that is opened otherwise than usual. */
export function sandboxWith(changes: Partial<LocalSandboxOptions>): NonNullable<TestYardOptions["openSandbox"]> {
  return ({ config, storage, clock, logger }) => {
    const provider = openProvider(changes);
    const words = wordsFor("en");
    const sandbox = openSandbox({ provider, storage, clock, ids: systemIds, logger, words, settings: config.sandbox });
    return {
      ...sandbox,
      async close() {
        await sandbox.close();
        await provider.close();
      },
    };
  };
}

/** Asks again and again; others get their turn in between. */
export function until(isTrue: () => Promise<boolean>): Promise<void> {
  return untilSo("what the door was asked for", isTrue);
}
