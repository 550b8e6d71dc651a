import { ok, type Result } from "../../base/result.ts";
import type { McpServer } from "../../mcp/mcp.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { McpServerInfo } from "../../protocol/mcp-routes.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../../words/words.ts";
import type { Arrival } from "../arrival.ts";
import type { Handlers, Parts } from "../handler.ts";
import type { ServerSettings } from "../settings.ts";

type Names =
  | ("listMcpServers" | "restartMcpServer" | "signInToMcpServer" | "signOutOfMcpServer")
  | ("finishMcpSignIn" | "comeBackFromMcpSignIn" | "listMcpResources" | "attachMcpResource")
  | ("listMcpPrompts" | "fillMcpPrompt");

/** The MCP servers of others. */
export function mcpHandlers({ mcp, engine, log, server, freshen }: Parts): Pick<Handlers, Names> {
  return {
    async listMcpServers({ owner, language }) {
      await freshen();
      return ok({ items: mcp.servers(owner).map((one) => shown(one, language)) });
    },
    restartMcpServer: async ({ owner, params, language }) =>
      shownResult(await mcp.restart(owner, params.server), language),
    async signInToMcpServer({ owner, params, arrival, isLocal }) {
      const back = callbackOf(arrival, { isLocal, settings: server() });
      const begun = await mcp.beginSignIn(owner, params.server, back);
      return begun.ok ? ok({ url: begun.value.url, back }) : begun;
    },
    signOutOfMcpServer: async ({ owner, params, language }) =>
      shownResult(await mcp.signOut(owner, params.server), language),
    async finishMcpSignIn({ owner, body, language }) {
      const { searchParams } = URL.parse(body.address.trim(), "http://here") ?? new URL("http://here");
      const given = (name: string) => searchParams.get(name) ?? undefined;
      const answer = { state: given("state") ?? "", code: given("code"), iss: given("iss"), error: given("error") };
      return shownResult(await mcp.finishSignIn(owner, answer), language);
    },
    async comeBackFromMcpSignIn({ owner, query, language }) {
      const { state, code, iss, error, error_description: more } = query;
      const done = await mcp.finishSignIn(owner, { state, code, iss, error: more ?? error });
      if (!done.ok) return done;
      const { signedIn, notYet } = wordsFor(language).mcp;
      const { reason } = shown(done.value, language);
      return ok(reason === null ? signedIn({ server: done.value.id }) : notYet({ server: done.value.id, reason }));
    },
    async listMcpResources({ owner, params, signal }) {
      const items = await mcp.resources(owner, params.server, signal);
      return items.ok ? ok({ items: [...items.value] }) : items;
    },
    async attachMcpResource({ owner, params, body, caller, signal }) {
      // What a server has is read as the user, and their key for files alone lists none of it either.
      if (!caller.scopes.includes("chat")) return failure("scope_missing", { scope: "chat" });
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const file = await mcp.readResource(owner, { server: body.server, uri: body.uri }, signal);
      if (!file.ok) return file;
      const { name, bytes } = file.value;
      const { server } = body;
      const announcedBytes = bytes.length;
      return engine.upload(row.value, { name, chunks: piecesOf(bytes), announcedBytes, keep: true, server });
    },
    async listMcpPrompts({ owner, params, signal }) {
      const items = await mcp.prompts(owner, params.server, signal);
      return items.ok ? ok({ items: items.value.map((one) => ({ ...one, arguments: [...one.arguments] })) }) : items;
    },
    fillMcpPrompt: ({ owner, params, body, signal }) =>
      mcp.fillPrompt(owner, { server: params.server, name: params.prompt, arguments: body.arguments }, signal),
  };
}

function shown(
  { id, state, failure: why, reachedBy, generation, tools }: McpServer,
  language: Language,
): McpServerInfo {
  const reason = why === undefined ? null : failureWordsOverHttp(wordsFor(language), why).join(" ");
  return {
    ...{ id, state, reason, reachedBy, generation: generation ?? null },
    tools: tools.map(({ name, own, description, left }) => ({ name, own, description, left: left ?? null })),
  };
}

function shownResult(server: Result<McpServer, Failure>, language: Language): Result<McpServerInfo, Failure> {
  return server.ok ? ok(shown(server.value, language)) : server;
}

/** As the caller's browser knows us; who calls without a network is told where the server would be. */
function callbackOf(
  { scheme = "http", host, prefix }: Arrival,
  { isLocal, settings }: { readonly isLocal: boolean; readonly settings: ServerSettings },
): string {
  const base = isLocal ? `http://127.0.0.1:${settings.port}${settings.basePath}` : `${scheme}://${host}${prefix}`;
  return `${base}/api/v1/mcp/callback`;
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
