import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

// An MCP server that wants to know who asks, with its own sign-in service: OAuth 2.1 with registration, PKCE, and
// refresh tokens that work once; a second use of one ends all that came of it.

type Grant = { readonly scope: string; readonly challenge: string };

type Desk = ReturnType<typeof openDesk>;

export type AccountOptions = {
  readonly lastsSeconds?: number;
  /** An app that was registered by hand, with where its users come back to. */
  readonly app?: { readonly id: string; readonly back: string };
  /** The sign-in service that the server names; its own where nothing is said. */
  readonly signInAt?: () => string;
};

export async function accountServer(t: TestContext, options: AccountOptions = {}) {
  const { lastsSeconds = 3_600, app, signInAt = () => base() } = options;
  const desk = openDesk(lastsSeconds);
  if (app !== undefined) desk.clients.set(app.id, [app.back]);
  const [asked, shown, apps]: [string[], string[], string[]] = [[], [], []];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? "", base());
    const body = await textOf(request);
    if (pathname === "/mcp") {
      shown.push(request.headers.authorization ?? "");
      return answerMcp(request, response, { ...desk, body, base: base() });
    }
    asked.push(pathname);
    if (pathname === "/token") apps.push(request.headers.authorization ?? "");
    if (pathname === "/token") return exchange(new URLSearchParams(body), response, desk);
    if (pathname === "/authorize") return authorize(searchParams, response, { ...desk, issuer: base() });
    if (pathname === "/register") return register(JSON.parse(body), response, desk);
    if (pathname === "/.well-known/oauth-authorization-server") return json(response, 200, metadata(base()));
    if (pathname === "/.well-known/oauth-protected-resource/mcp")
      return json(response, 200, { resource: `${base()}/mcp`, authorization_servers: [signInAt()] });
    json(response, 404, {});
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** What it was asked, and what came as `authorization` with requests to its tools, and with those for tokens. */
    ...{ url: `${base()}/mcp`, issuer: base(), asked, shown, apps },
    /** All that were ever given out. */
    tokens: () => [...desk.scopes.keys()],
    /** All tokens that let somebody in now end. */
    expire: () => desk.access.clear(),
    /** The person forgets that they ever agreed: refresh tokens end, too. */
    revoke() {
      desk.access.clear();
      desk.refresh.clear();
    },
    /** A person follows the link and agrees; answers where their browser is sent back to. */
    async agree(link: string) {
      const response = await fetch(link, { redirect: "manual" });
      return new URL(response.headers.get("location") ?? "");
    },
  };
}

/** What the sign-in service knows: its apps, who agreed to what, and which tokens are out. */
function openDesk(lastsSeconds: number) {
  const desk = {
    ...{ codes: new Map<string, Grant>(), clients: new Map<string, readonly string[]>() },
    ...{ access: new Set<string>(), refresh: new Set<string>(), used: new Set<string>() },
    /** Of every token that was ever given out. */
    scopes: new Map<string, string>(),
    give(response: ServerResponse, scope: string): void {
      const tokens = { access_token: randomUUID(), refresh_token: randomUUID() };
      desk.access.add(tokens.access_token);
      desk.refresh.add(tokens.refresh_token);
      for (const token of Object.values(tokens)) desk.scopes.set(token, scope);
      json(response, 200, { ...tokens, token_type: "Bearer", expires_in: lastsSeconds, scope });
    },
  };
  return desk;
}

function register(wanted: { readonly redirect_uris: readonly string[] }, response: ServerResponse, desk: Desk): void {
  const id = randomUUID();
  desk.clients.set(id, wanted.redirect_uris);
  json(response, 201, { ...wanted, client_id: id });
}

function authorize(query: URLSearchParams, response: ServerResponse, desk: Desk & { readonly issuer: string }): void {
  const [client = "", redirect = ""] = ["client_id", "redirect_uri"].map((name) => query.get(name) ?? "");
  if (!desk.clients.get(client)?.includes(redirect)) return json(response, 400, { error: "invalid_client" });
  const code = randomUUID();
  desk.codes.set(code, { scope: query.get("scope") ?? "read", challenge: query.get("code_challenge") ?? "" });
  const back = new URLSearchParams({ code, state: query.get("state") ?? "", iss: desk.issuer });
  response.writeHead(302, { location: `${redirect}?${back}` }).end();
}

function exchange(form: URLSearchParams, response: ServerResponse, desk: Desk): void {
  const code = form.get("code") ?? "";
  const granted = desk.codes.get(code);
  const proof = createHash("sha256").update(form.get("code_verifier") ?? "");
  if (granted !== undefined && proof.digest("base64url") === granted.challenge && desk.codes.delete(code))
    return desk.give(response, granted.scope);
  const token = form.get("refresh_token") ?? "";
  if (desk.used.has(token)) for (const set of [desk.access, desk.refresh]) set.clear();
  if (!desk.refresh.delete(token)) return json(response, 400, { error: "invalid_grant" });
  desk.used.add(token);
  desk.give(response, desk.scopes.get(token) ?? "");
}

function metadata(issuer: string): object {
  return {
    ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
    ...{ registration_endpoint: `${issuer}/register`, response_types_supported: ["code"] },
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    ...{ grant_types_supported: ["authorization_code", "refresh_token"] },
    authorization_response_iss_parameter_supported: true,
  };
}

type Inside = {
  readonly body: string;
  readonly access: ReadonlySet<string>;
  readonly scopes: ReadonlyMap<string, string>;
  readonly base: string;
};

function answerMcp(request: IncomingMessage, response: ServerResponse, inside: Inside): void {
  const { body, access, scopes, base } = inside;
  const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
  if (!access.has(token)) {
    const metadataAt = `${base}/.well-known/oauth-protected-resource/mcp`;
    return void response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${metadataAt}"` }).end();
  }
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return void response.writeHead(202).end();
  if (params?.name === "write" && !scopes.get(token)?.split(" ").includes("write")) {
    const wanted = 'Bearer error="insufficient_scope", scope="write"';
    return void response.writeHead(403, { "www-authenticate": wanted }).end();
  }
  const result = resultOf(method, params);
  json(response, 200, { jsonrpc: "2.0", id, ...(result ?? { error: { code: -32601, message: "no such method" } }) });
}

function resultOf(method: string, params: { readonly protocolVersion: string }): object | undefined {
  const serverInfo = { name: "account", version: "1" };
  const tools = ["whoami", "write"].map((name) => ({ name, inputSchema: { type: "object" } }));
  switch (method) {
    case "initialize":
      return { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } };
    case "tools/list":
      return { result: { tools } };
    case "tools/call":
      return { result: { content: [{ type: "text", text: "known" }] } };
    default:
      return undefined;
  }
}

function json(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
