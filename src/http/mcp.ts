import { inBackground } from "../base/background.ts";
import { createClient, type Fetch } from "../client/client.ts";
import type { McpDoor } from "../mcp-server/mcp-server.ts";
import { makeFailure } from "../protocol/failure.ts";
import { bodyBytes } from "../protocol/route.ts";
import { wordsFor } from "../words/words.ts";
import { readBody } from "./body.ts";
import { bodyAsItComes } from "./bytes.ts";
import { actsAsNamed, ownerOf } from "./caller.ts";
import { type App, closingSignal, doorOf, goneSignal, type HandOn, type HttpCall } from "./door.ts";
import type { Parts } from "./handler.ts";
import { problemOf, refuse, thrownLog } from "./problem.ts";
import { whileLetIn } from "./while-let-in.ts";

const path = "/mcp";
const methods = ["POST", "GET", "DELETE"];

/** The yard as an MCP server. Who calls was asked by the door; what they call goes through it again, as one of them. */
export function bindMcp(app: App, parts: Parts, handOn: HandOn | undefined): void {
  const { clock, ids, version, logger } = parts;
  // Most of who serves never need it, and it takes a moment to read.
  const load = () => import("../mcp-server/mcp-server.ts");
  let opened: Promise<McpDoor> | undefined;
  const listened = new WeakSet<AbortSignal>();

  const open = async (): Promise<McpDoor> => {
    const { openMcpDoor } = await load();
    return openMcpDoor({ version, clock, ids, log: thrownLog(logger, "mcp") });
  };

  const closeWith = (closing: AbortSignal, door: McpDoor) => {
    if (listened.has(closing)) return;
    listened.add(closing);
    const close = () => void inBackground(thrownLog(logger, "mcp"), "closing", door.close());
    closing.addEventListener("abort", close, { once: true });
  };

  app.on(methods, path, async (c) => {
    const owner = ownerIn(c);
    if (!owner.ok) return refuse(c, owner.failure);
    // Sessions and their streams are kept by one process.
    const elsewhere = await handOn?.(c, `u:${owner.value}`, bodyAsItComes(c.req.raw));
    if (elsewhere !== undefined) return elsewhere;
    const { Visitor, rpcRefusal } = await load();
    opened ??= open();
    const door = await opened;
    const closing = closingSignal(c);
    closeWith(closing, door);
    const language = c.get("language");
    const body = c.req.method === "POST" ? await readBody(c.req.raw, bodyBytes.large) : undefined;
    if (body?.ok === false) {
      const { status, code, detail } = problemOf(body.failure, { language, requestId: c.get("requestId") });
      return send(
        c,
        rpcRefusal(status, { code: code === "bad_json" ? -32_700 : -32_600, message: detail, data: { code } }),
      );
    }
    const client = createClient({
      ...{ fetch: insideOf(app, c), language, clock, newKey: ids.uuid },
      ...(c.get("caller").signedIn === undefined && { actsAs: owner.value }),
    });
    const visitor = new Visitor({ owner: owner.value, client, words: wordsFor(language), clock, closing });
    return send(c, await door.serve({ request: askedOf(c), body: body?.value.json, visitor }));
  });
  app.all(path, (c) => {
    const allowed = methods.join(", ");
    c.header("allow", allowed);
    return refuse(c, makeFailure("method_not_allowed", { method: c.req.method.slice(0, 20), allowed }));
  });
}

function ownerIn(c: HttpCall) {
  const actsAs = actsAsNamed(c.req.header("x-account-id"));
  return actsAs.ok ? ownerOf(c.get("caller"), actsAs.value) : actsAs;
}

/** Our own routes, as whoever sent this request. */
function insideOf(app: App, c: HttpCall): Fetch {
  const { door, basePath, address, closing } = doorOf(c);
  const admitted = { caller: c.get("caller"), arrival: c.get("arrival") };
  return async (url, init) =>
    app.fetch(new Request(url, init), { door, basePath, address, admitted, ...(closing !== undefined && { closing }) });
}

/** Without its body, which was read; and gone, also when what let the caller in was taken away. */
function askedOf(c: HttpCall): Request {
  const { url, method, headers } = c.req.raw;
  return new Request(url, { method, headers, signal: goneSignal(c) });
}

/** With the headers that every answer of ours has. */
function send(c: HttpCall, response: Response): Response {
  return c.newResponse(response.body && whileLetIn(c, response.body), response);
}
