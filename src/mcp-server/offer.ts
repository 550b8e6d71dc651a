import {
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type ToolAnnotations,
} from "@modelcontextprotocol/server";
import type { z } from "zod";
import { assert } from "../base/assert.ts";
import { whenOver } from "../base/background.ts";
import type { ClientFailure } from "../client/client.ts";
import { makeFailure } from "../protocol/failure.ts";
import { failureWords, type Words } from "../words/words.ts";
import { mcpLimits } from "./limits.ts";
import { Visitor } from "./visitor.ts";

/** One call of a tool, as the tool sees it. */
export type ToolCall = Visitor & {
  /** Fires when the client cancels the call, or is gone. */
  readonly signal: AbortSignal;
  /** The client can put a form to a person. */
  readonly canAsk: boolean;
  /** What came back to the questions of the round before, and what was noted with them; both may be anything. */
  readonly answers: Readonly<Record<string, unknown>> | undefined;
  readonly noted: unknown;
  /** Tells the client that something goes on, where it wants to know. */
  tell(message: string): void;
};

type Answer = CallToolResult | InputRequiredResult;

type ToolDefinition<Input extends z.ZodObject> = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly hints: ToolAnnotations;
  run(input: z.output<Input>, call: ToolCall): Promise<Answer>;
};

/** Puts a tool on a server. */
export type OfferedTool = (server: McpServer, offer: Offer) => void;

export function defineTool<Input extends z.ZodObject>(tool: ToolDefinition<Input>): OfferedTool {
  const { name, title, description, input: inputSchema, hints: annotations } = tool;
  return (server, offer) => {
    const run = (input: z.output<Input>, context: ServerContext) =>
      offer.run(server, context, (call) => tool.run(input, call));
    // Its type of a callback asks which schema it is, which a function for all of them cannot answer.
    const register: Register = server.registerTool.bind(server);
    register(name, { title, description, inputSchema, annotations }, (input, context) =>
      run(inputSchema.parse(input), context),
    );
  };
}

type Register = (
  name: string,
  about: { title: string; description: string; inputSchema: z.ZodObject; annotations: ToolAnnotations },
  run: (input: object, context: ServerContext) => Promise<Answer>,
) => unknown;

type Log = { readonly error: (message: string, fields: { readonly error: unknown }) => void };

/** What all servers of a process share: who calls, how many calls of theirs run, and where our own mistakes are told. */
export class Offer {
  readonly #log: Log;
  readonly #usual: Visitor | undefined;
  readonly #running = new Map<string, Set<Promise<unknown>>>();
  readonly #reading = new Map<string, number>();

  /** `usual`: who calls where the transport does not say. */
  constructor({ log, usual }: { readonly log: Log; readonly usual?: Visitor | undefined }) {
    this.#log = log;
    this.#usual = usual;
  }

  visitorOf(context: ServerContext): Visitor {
    const visitor = context.http?.authInfo?.extra?.visitor ?? this.#usual;
    assert(visitor instanceof Visitor, "nobody calls without being known");
    return visitor;
  }

  /** A mouth: what is thrown in a tool is our mistake, told in the log, and the client gets its number. */
  async run(server: McpServer, context: ServerContext, tool: (call: ToolCall) => Promise<Answer>): Promise<Answer> {
    const visitor = this.visitorOf(context);
    const running = this.#running.get(visitor.owner) ?? new Set();
    const { callsPerUserMax: limit } = mcpLimits;
    if (running.size >= limit)
      return refused(inWords(visitor.words, makeFailure("mcp_full", { what: "calls", limit })));
    const call = tool(callOf(server, context, visitor));
    this.#running.set(visitor.owner, running.add(call));
    try {
      return await call;
    } catch (error) {
      this.#log.error("a tool of the MCP server broke down", { error });
      return refused(inWords(visitor.words, makeFailure("internal", { id: String(context.mcpReq.id).slice(0, 64) })));
    } finally {
      running.delete(call);
      if (running.size === 0) this.#running.delete(visitor.owner);
    }
  }

  /** Reads something whole for the one who calls, as long as few others of theirs are being read. */
  async read<T>(context: ServerContext, work: (visitor: Visitor) => Promise<T>): Promise<T> {
    const visitor = this.visitorOf(context);
    const { readsPerUserMax: limit } = mcpLimits;
    const reading = this.#reading.get(visitor.owner) ?? 0;
    if (reading >= limit) {
      const { detail } = inWords(visitor.words, makeFailure("mcp_full", { what: "calls", limit }));
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, detail, { code: "mcp_full" });
    }
    this.#reading.set(visitor.owner, reading + 1);
    try {
      return await work(visitor);
    } finally {
      const left = (this.#reading.get(visitor.owner) ?? 1) - 1;
      if (left === 0) this.#reading.delete(visitor.owner);
      else this.#reading.set(visitor.owner, left);
    }
  }

  /** When no call runs any more. */
  async settled(): Promise<void> {
    for (const running of this.#running.values()) for (const call of running) await whenOver(call);
  }
}

function callOf(server: McpServer, { mcpReq }: ServerContext, visitor: Visitor): ToolCall {
  const { signal, inputResponses, _meta: meta } = mcpReq;
  const token = meta?.progressToken;
  let progress = 0;
  return {
    ...visitor,
    signal,
    canAsk: asksForms(server.server.getClientCapabilities()?.elicitation),
    answers: inputResponses,
    noted: mcpReq.requestState(),
    tell(message) {
      if (token === undefined || signal.aborted) return;
      progress += 1;
      const params = { progressToken: token, progress, message };
      // Nobody waits for it, and a client that is gone is told of by the signal.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    },
  };
}

/** Clients from before there were other ways of asking say nothing of forms, and mean them. */
function asksForms(elicitation: { readonly form?: unknown; readonly url?: unknown } | undefined): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

export function inWords(words: Words, failure: { readonly code: string; readonly params: object }) {
  return { code: failure.code, detail: failureWords(words, failure).join(words.terminal.gap) };
}

/** A result that is read as text, with the same as an object for software. */
export function answer(text: string, structured?: Readonly<Record<string, unknown>>): CallToolResult {
  return {
    content: [{ type: "text", text }],
    ...(structured !== undefined && { structuredContent: { ...structured } }),
  };
}

/** Why it was not done, and what to do about it; the code is for software. */
export function refused({ code, detail }: Pick<ClientFailure, "code" | "detail">): CallToolResult {
  return { isError: true, content: [{ type: "text", text: detail }], _meta: { [codeKey]: code } };
}

const codeKey = "agentyard/code";
