import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  legacyStatelessFallback,
} from "@modelcontextprotocol/server";
import type { Clock } from "../base/clock.ts";
import { openGate, untilTaken } from "../base/gate.ts";
import type { Ids } from "../base/ids.ts";
import { makeFailure } from "../protocol/failure.ts";
import { mcpLimits } from "./limits.ts";
import { makeServer } from "./make-server.ts";
import { inWords, Offer } from "./offer.ts";
import { rpcRefusal } from "./rpc.ts";
import { type Session, Sessions } from "./sessions.ts";
import type { Visitor } from "./visitor.ts";

/** A request for `/mcp` of somebody who was let in; `body` is its JSON, undefined where it has none. */
export type McpRequest = { readonly request: Request; readonly body: unknown; readonly visitor: Visitor };

export interface McpDoor {
  serve(asked: McpRequest): Promise<Response>;
  /** Lets running calls answer, then ends all streams. */
  close(): Promise<void>;
}

type Parts = {
  readonly version: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: ConstructorParameters<typeof Offer>[0]["log"];
};

const { batchMax, subscriptionsMax, subscriptionsPerUserMax, sessionsPerUserMax } = mcpLimits;
const closeMsMax = 1_000;

/** The streamable HTTP of both generations: stateless requests of the newer one, sessions of the older one. */
export function openMcpDoor({ version, clock, ids, log }: Parts): McpDoor {
  const offer = new Offer({ log });
  const sessions = new Sessions({ clock, ids });
  const make = () => makeServer(version, offer);
  // Always a stream: a turn takes its time, and proxies end what is silent.
  const modern = createMcpHandler(make, { legacy: "reject", responseMode: "sse", maxSubscriptions: subscriptionsMax });
  const stateless = legacyStatelessFallback(make);
  // Streams without an end: the library counts those of all together, and one user must not take them all.
  const enter = openGate(subscriptionsPerUserMax);

  return {
    async serve({ request, body, visitor }) {
      const { owner } = visitor;
      const authInfo = { token: "", clientId: owner, scopes: [], extra: { visitor } };
      const options = { authInfo, ...(body !== undefined && { parsedBody: body }) };
      if (Array.isArray(body) && body.length > batchMax)
        return rpcRefusal(400, { code: -32_600, message: visitor.words.mcpServer.batchTooLong({ max: batchMax }) });
      if (!(await isLegacyRequest(request, body))) {
        if (!isListening(body)) return modern.fetch(request, options);
        const leave = enter(owner);
        if (leave === undefined) return refuseFull(visitor, subscriptionsPerUserMax);
        return untilTaken(modern.fetch(request, options), leave);
      }
      const answerIn = (session: Session) =>
        sessions.use(session, () => session.transport.handleRequest(request, options));
      const id = request.headers.get("mcp-session-id");
      if (id !== null) {
        const session = sessions.find(id, owner);
        return session === undefined
          ? rpcRefusal(404, { code: -32_001, message: "Session not found" })
          : answerIn(session);
      }
      if (!isInitializeRequest(body)) return stateless(request, options);
      const begun = await sessions.begin(owner, make());
      if (begun !== undefined) return answerIn(begun);
      return refuseFull(visitor, sessionsPerUserMax);
    },
    async close() {
      await Promise.race([offer.settled(), clock.wait(closeMsMax)]);
      await sessions.close();
      await modern.close();
    },
  };
}

function refuseFull({ words }: Visitor, limit: number): Response {
  const { code, detail } = inWords(words, makeFailure("mcp_full", { what: "connections", limit }));
  return rpcRefusal(429, { code: -32_000, message: detail, data: { code } });
}

function isListening(body: unknown): boolean {
  return typeof body === "object" && body !== null && "method" in body && body.method === "subscriptions/listen";
}
