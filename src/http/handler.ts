import type { z } from "zod";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Documents } from "../documents/documents.ts";
import type { Homes } from "../homes/homes.ts";
import type { Log } from "../log/log.ts";
import type { Lookup } from "../lookup/lookup.ts";
import type { Engine } from "../loop/loop.ts";
import type { Mcp } from "../mcp/mcp.ts";
import type { Entering, Models } from "../models/models.ts";
import type { Metrics, Tracer } from "../observe/observe.ts";
import type { Operators } from "../operators/operators.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Route } from "../protocol/route.ts";
import type { RouteName, routes } from "../protocol/routes.ts";
import type { BrokenToolFile, ListedTool } from "../protocol/tool.ts";
import type { Sandbox, SandboxSettings } from "../sandbox/sandbox.ts";
import type { Storage } from "../storage/storage.ts";
import type { SignInService, Users } from "../users/users.ts";
import type { Language } from "../words/words.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { Arrival } from "./arrival.ts";
import type { IncomingBytes } from "./bytes.ts";
import type { Caller, Passes } from "./door.ts";
import type { Download } from "./download.ts";
import type { ServerSettings } from "./settings.ts";

type Table = typeof routes;

/** What the door stands before. */
export type Parts = {
  readonly engine: Omit<Engine, "recover" | "close">;
  readonly log: Log;
  readonly workspaces: Workspaces;
  readonly sandbox: Omit<Sandbox, "close">;
  /** Takes over what was changed in the settings: before a session or a program begins. */
  readonly freshen: () => Promise<void>;
  readonly sandboxSettings: () => Pick<SandboxSettings, "limits" | "uploads" | "executionTimeoutMsMax">;
  /** Who has what, for callers whom nothing else names, and whether events can be stored. */
  readonly storage: Pick<
    Storage,
    | "ownersOfConversation"
    | "findConversation"
    | "conversationByNumber"
    | "received"
    | "searchConversations"
    | "ownerOfExecution"
    | "check"
    | "beginOnce"
    | "endOnce"
    | "dropOnceBefore"
  >;
  /** For how long nobody used what is moved to the trash, unless the caller says otherwise. */
  readonly cleanAfterMs: () => number;
  /** The MCP servers of others. */
  readonly mcp: Omit<Mcp, "close" | "change">;
  readonly models: Pick<Models, "get">;
  /** Filling their slots while it runs. */
  readonly entering: Entering;
  readonly documents: Pick<Documents, "search" | "describe" | "tidy" | "view" | "typeOf">;
  readonly lookup: Pick<Lookup, "find">;
  /** All tools that were found for a user, and files that hold none that can be used. */
  readonly tools: (owner: OwnerId) => {
    readonly items: readonly ListedTool[];
    readonly broken: readonly BrokenToolFile[];
  };
  readonly operators: Operators;
  /** Looks for model servers on this machine. */
  readonly detectServers: () => Promise<Answer<"listModels">["found"]>;
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  /** Hears of our own mistakes, one line each; callers only get an id. */
  readonly logger?: ((line: string) => void) | undefined;
  readonly users: Users;
  /** Where else people can sign in. */
  readonly signInService?: SignInService | undefined;
  /** As the settings are now. */
  readonly server: () => ServerSettings;
  /** Where other servers share the data: which of them serves what, and what they believe each other. */
  readonly peers?: { readonly homes: Homes; readonly passes: Passes } | undefined;
  /** Where the browser app was built; undefined where nobody asked for it. */
  readonly webDir?: string | undefined;
};

/** One request, parsed by the schemas of its route. */
export type Call<N extends RouteName> = {
  readonly params: z.output<Table[N]["params"]>;
  readonly query: z.output<Table[N]["query"]>;
  readonly body: z.output<Table[N]["body"]>;
  /** The body of a route that takes bytes; of others nothing. */
  readonly bytes: IncomingBytes;
  readonly owner: OwnerId;
  /** Who `x-account-id` names; undefined when it was not sent. */
  readonly actsAs: OwnerId | undefined;
  readonly caller: Caller;
  /** From where and under which name. */
  readonly arrival: Arrival;
  /** The call came under an `Idempotency-Key`. */
  readonly once: Once | undefined;
  readonly header: (name: string) => string | undefined;
  readonly language: Language;
  /** The caller is this process or came over the local socket, so it is the same user on the same machine. */
  readonly isLocal: boolean;
  readonly requestId: string;
  readonly lastEventId: string | undefined;
  /** Fires when the caller is gone or the server closes. */
  readonly signal: AbortSignal;
  /** The same two apart: a stream tells its reader that the server closes. */
  readonly gone: AbortSignal;
  readonly closing: AbortSignal;
  /** Has fired: it still serves, and balancers are to go elsewhere. */
  readonly leaving: AbortSignal;
};

/** Ids made from `seed` are the same when the call is repeated; `isRetry`: it began before, and may have been done in part. */
export type Once = { readonly seed: string; readonly isRetry: boolean };

/** With status 204 nothing of it is sent. */
export type Answer<N extends RouteName> = Table[N] extends { streams: true }
  ? ReadableStream<Uint8Array>
  : Table[N] extends { givesBytes: true }
    ? Download
    : Table[N]["status"] extends 204
      ? unknown
      : z.output<Table[N]["answer"]> | (Table[N] extends { mayStream: true } ? ReadableStream<Uint8Array> : never);

/** Translates and hands on; decides nothing. */
type Handler<N extends RouteName> = (call: Call<N>) => Promise<Answered<N>>;

/**
 * `status` where it is not that of the route; `beside` goes with the failure's own fields. `again`: what a repeat under
 * the same key is told instead, and all that is kept of the answer: a secret is shown once.
 */
export type Answered<N extends RouteName> = (
  | { readonly ok: true; readonly value: Answer<N>; readonly status?: Route["status"]; readonly again?: Answer<N> }
  | { readonly ok: false; readonly failure: Failure; readonly beside?: Readonly<Record<string, unknown>> }
) & { readonly headers?: Readonly<Record<string, string>> };
export type Handlers = { readonly [N in RouteName]: Handler<N> };
