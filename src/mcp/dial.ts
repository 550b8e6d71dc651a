import type { AuthProvider, Client, ElicitRequest, ElicitResult, Transport } from "@modelcontextprotocol/client";
import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import type { Web } from "../web/web.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { type ChildTransport, childCloseMsMax, childTransport } from "./child-transport.ts";
import { type Fault, faultOf } from "./faults.ts";
import type { ToolDefinition } from "./known-tools.ts";
import { type BrokenTools, listTools, takeOutBroken } from "./listed-tools.ts";
import { ownCode, throwMistake } from "./own-code.ts";
import type { McpReached, McpServerSettings } from "./settings.ts";
import type { SignIn } from "./sign-in.ts";

type Sdk = typeof import("@modelcontextprotocol/client");

/** A server that answers. */
export type Dialled = {
  readonly client: Client;
  readonly generation: "legacy" | "modern";
  readonly tools: readonly ToolDefinition[];
  /** How its program ended, where it is one. */
  ending(): string;
  /** Ends the session and, where it is a program, everything that it started. */
  close(): Promise<void>;
};

export type DialParts = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Shows who asks, where the server wants to know. */
  readonly auth: SignIn | undefined;
  /** The way to its address, where it has one. */
  readonly web: Pick<Web, "fetchFor">;
  /** It is known to speak the older generation: nothing need be tried. */
  readonly isLegacy: boolean;
  readonly elicit: (request: ElicitRequest) => Promise<ElicitResult>;
  readonly onToolsChanged: (tools: readonly ToolDefinition[]) => void;
  readonly onClose: () => void;
};

/**
 * How long a program may be silent about the newer generation before it is taken for one of the older. Most say at once
 * that they do not know it; one that has to be downloaded first is silent for a while, too.
 */
const probeTimeoutMs = 10_000;
const probeShare = 1 / 3;

/** Starts or reaches a server, agrees on a generation, and reads its tools: all of it within one limit of time. */
export async function dial(
  server: McpServerSettings,
  parts: DialParts,
  signal: AbortSignal,
): Promise<Result<Dialled, Fault>> {
  // Large, and not needed before a server is.
  const sdk = await import("@modelcontextprotocol/client");
  const stop = new AbortController();
  const end = () => stop.abort();
  const cancelTimer = parts.clock.after(server.startTimeoutMs, end);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    let last: Result<Dialled, Fault> = failed({ why: "closed", said: "" });
    for (const way of waysTo(server.reached, parts.isLegacy)) {
      last = await attempt(server, { ...parts, sdk, way, signal: stop.signal });
      // Whoever asks who we are has understood us.
      if (last.ok || parts.auth?.needsPerson() === true || !isWorthAnother(way, last.failure)) break;
    }
    return last.ok || !stop.signal.aborted ? last : failed({ why: signal.aborted ? "closed" : "time", said: "" });
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", end);
  }
}

/** `auto` asks for the newer generation first; `sse` is the transport of the first servers of all. */
type Way = "auto" | "legacy" | "sse";

function waysTo({ by }: McpReached, isLegacy: boolean): readonly Way[] {
  if (by === "address") return ["auto", "sse"];
  return isLegacy ? ["legacy"] : ["auto", "legacy"];
}

/** Some programs end when they are asked for what they do not know; some addresses know nothing of our requests. */
function isWorthAnother(way: Way, { why, said }: Fault): boolean {
  if (way !== "auto") return false;
  if (why === "start") return !/^E[A-Z]+$/.test(said);
  return why === "ended" || why === "protocol" || (why === "http" && /^4(?!01|03)/.test(said));
}

type Attempt = DialParts & { readonly sdk: Sdk; readonly way: Way; readonly signal: AbortSignal };

async function attempt(server: McpServerSettings, how: Attempt): Promise<Result<Dialled, Fault>> {
  const { sdk, way, signal, version } = how;
  const probeMs = Math.min(probeTimeoutMs, server.startTimeoutMs * probeShare);
  const transport = transportOf(server, how);
  const broken = takeOutBroken(transport);
  const learn = async () => {
    const tools = await listTools(client, broken, { signal });
    if (tools.ok) how.onToolsChanged(tools.value);
  };
  const client = new sdk.Client(
    { name: "agentyard", version },
    {
      // Nothing for models to use, and no folders of ours: servers that ask for these are told so.
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: "auto", probe: server.reached.by === "program" ? { timeoutMs: probeMs } : {} },
      // What a tool answers goes to a model, which takes any form of it.
      jsonSchemaValidator: {
        getValidator: () => (value) => ({ valid: true, data: value as never, errorMessage: undefined }),
      },
      listChanged: {
        tools: {
          // Read here, one by one where it must be.
          autoRefresh: false,
          onChanged: () => void inBackground(how.logger, "tools of an MCP server could not be read", learn()),
        },
      },
    },
  );
  client.setRequestHandler("elicitation/create", (request) => {
    const asked = how.elicit(request);
    // The client tells the server alone what ended it.
    void inBackground(how.logger, "what an MCP server wants to know could not be asked", asked, { server: server.id });
    return asked;
  });
  let connected: Result<Agreed, Fault> | undefined;
  try {
    connected = await connect(client, transport, { way, broken, signal });
  } finally {
    if (connected?.ok !== true) await close(client, transport, how.clock);
  }
  if (!connected.ok) return failed(withEnding(connected.failure, transport));
  client.onclose = how.onClose;
  const { tools, generation } = connected.value;
  return ok({
    ...{ client, tools, generation },
    ending: () => endingOf(transport),
    close: () => close(client, transport, how.clock),
  });
}

function transportOf({ id, reached }: McpServerSettings, { sdk, way, auth, web, clock, logger }: Attempt): Transport {
  if (reached.by === "program") {
    return childTransport(reached, { server: id, clock, logger });
  }
  const options = {
    requestInit: { headers: reached.headers },
    fetch: auth?.fetch ?? ownCode(boundedFetch(web.fetchFor(reached.url))),
    ...(auth === undefined ? {} : { authProvider: ownSignIn(auth) }),
  };
  const url = new URL(reached.url);
  return way === "sse" ? new sdk.SSEClientTransport(url, options) : new sdk.StreamableHTTPClientTransport(url, options);
}

function ownSignIn(auth: SignIn): AuthProvider {
  return {
    token: ownCode(() => auth.token()),
    onUnauthorized: ownCode((refused) => auth.onUnauthorized(refused)),
  };
}

type Connecting = { readonly way: Way; readonly broken: BrokenTools; readonly signal: AbortSignal };
type Agreed = Pick<Dialled, "tools" | "generation">;

/** The limit ends it also where the client itself does not listen to the signal. */
async function connect(
  client: Client,
  transport: Transport,
  { way, broken, signal }: Connecting,
): Promise<Result<Agreed, Fault>> {
  if (signal.aborted) return failed({ why: "time", said: "" });
  const stopped = new Promise<Result<Agreed, Fault>>((resolve) =>
    signal.addEventListener("abort", () => resolve(failed({ why: "time", said: "" })), { once: true }),
  );
  return Promise.race([stopped, agree(client, transport, { way, broken, signal })]);
}

async function agree(
  client: Client,
  transport: Transport,
  { way, broken, signal }: Connecting,
): Promise<Result<Agreed, Fault>> {
  try {
    await client.connect(transport, { signal, ...(way === "auto" ? {} : { prior: { kind: "legacy" } }) });
  } catch (error) {
    return failed(faultOf(error));
  }
  const tools = await listTools(client, broken, { signal });
  return tools.ok ? ok({ tools: tools.value, generation: client.getProtocolEra() ?? "legacy" }) : tools;
}

function endingOf(transport: Transport): string {
  return "ending" in transport ? (transport as ChildTransport).ending : "";
}

/**
 * A program that is not there, or ended at once, tells more than that the connection was closed. One that answered was ended
 * by us: what it said counts.
 */
function withEnding(fault: Fault, transport: Transport): Fault {
  const ending = endingOf(transport);
  return ending === "" || fault.isBroken !== true ? fault : { why: "start", said: ending };
}

/** A server that is told so can forget us; one that does not answer is left. */
const goodbyeMsMax = 1_000;

async function close(client: Client, transport: Transport, clock: Clock): Promise<void> {
  client.onclose = () => {};
  const said = new AbortController();
  try {
    await Promise.race([leave(client, transport), clock.wait(goodbyeMsMax + childCloseMsMax, said.signal)]);
  } finally {
    said.abort();
  }
}

/** Whatever one of them throws, the others are done. A server that is gone already, or knows no such request, is left. */
async function leave(client: Client, transport: Transport): Promise<void> {
  try {
    await endSession(transport).catch(throwMistake);
  } finally {
    try {
      await client.close().catch(throwMistake);
    } finally {
      await transport.close().catch(throwMistake);
    }
  }
}

async function endSession(transport: Transport): Promise<void> {
  if ("terminateSession" in transport && typeof transport.terminateSession === "function")
    await transport.terminateSession();
}
