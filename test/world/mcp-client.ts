import type { TestContext } from "node:test";
import {
  type CallToolResult,
  Client,
  type ElicitRequest,
  type ElicitResult,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { systemClock } from "../../src/base/clock.ts";
import { type App, listen } from "../../src/http/http.ts";

// The official client, as an IDE uses it.

/** `auto` asks for the newer generation and gets it, `legacy` speaks the older one. */
export const generations = ["auto", "legacy"] as const;
export type Generation = (typeof generations)[number];

export type ClientOptions = {
  readonly generation?: Generation;
  /** A person who fills in forms; without one the client says that it cannot ask anybody. */
  readonly elicit?: (request: ElicitRequest) => ElicitResult | Promise<ElicitResult>;
};

export async function connect(t: TestContext, transport: Transport, options: ClientOptions = {}): Promise<Client> {
  const { generation = "auto", elicit } = options;
  const client = new Client(
    { name: "ide", version: "1.0.0" },
    {
      versionNegotiation: { mode: generation },
      capabilities: elicit === undefined ? {} : { elicitation: { form: {} } },
      // The tests look at every answer of a person.
      inputRequired: { maxRounds: 20 },
    },
  );
  if (elicit !== undefined) client.setRequestHandler("elicitation/create", async (request) => elicit(request));
  await client.connect(transport);
  t.after(() => client.close());
  return client;
}

/** A yard behind a port of its own. */
export async function mcpAddress(t: TestContext, app: App): Promise<URL> {
  const listening = await listen(app, { host: "127.0.0.1", port: 0 }, { clock: systemClock });
  if (!listening.ok) throw new Error(listening.failure.said);
  t.after(() => listening.value.close());
  return new URL(`${listening.value.address}/mcp`);
}

export function overHttp(url: URL, headers: Record<string, string> = {}): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
}

export type Called = {
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The code of the failure; empty where there was none. */
  readonly code: string;
  readonly isError: boolean;
  readonly content: CallToolResult["content"];
};

/** Calls a tool and takes its result apart. */
export async function callTool(
  client: Client,
  name: string,
  input: Record<string, unknown> = {},
  options: Parameters<Client["callTool"]>[1] = {},
): Promise<Called> {
  const result = await client.callTool({ name, arguments: input }, options);
  const content = result.content;
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const code = result._meta?.["agentyard/code"];
  const data = typeof result.structuredContent === "object" ? { ...result.structuredContent } : {};
  return { text, data, code: typeof code === "string" ? code : "", isError: result.isError === true, content };
}

/** One JSON-RPC message by hand. */
export async function post(
  app: App,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly text: string }> {
  const request = new Request("http://127.0.0.1:7420/mcp", {
    method: "POST",
    headers: {
      host: "127.0.0.1:7420",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const response = await app.fetch(request, { door: "tcp", address: "127.0.0.1" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
