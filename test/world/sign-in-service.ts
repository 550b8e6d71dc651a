import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
// @ts-expect-error It comes without types.
import { Provider as Untyped } from "oidc-provider";

/** As much of it as is used here. */
type Provider = {
  readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant;
  callback(): (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  interactionFinished(incoming: IncomingMessage, outgoing: ServerResponse, result: object): Promise<void>;
};
type Grant = { addOIDCScope(scopes: string): void; save(): Promise<string> };
type Context = {
  readonly oidc: {
    readonly provider: Provider;
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
};
const OpenIdProvider: new (issuer: string, settings: object) => Provider = Untyped;

/** A real OpenID Connect service on this machine, and a browser that goes where it is sent. */
export type SignInServer = {
  readonly issuer: string;
  readonly secret: string;
  /** Serves a client that is known by this address. */
  serve(callback: string): void;
  /** Who sits before the browser; undefined: they say no. */
  person: string | undefined;
  close(): Promise<void>;
};

export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export async function signInServer(people: People): Promise<SignInServer> {
  let answer: RequestListener = (_, outgoing) => void outgoing.writeHead(503).end();
  const server = createServer((incoming, outgoing) => answer(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${portOf(server.address())}`;
  const service: SignInServer = {
    issuer,
    secret: "the secret of the client",
    person: undefined,
    serve(callback) {
      const provider = new OpenIdProvider(issuer, settingsFor(callback, service.secret, people));
      const all = provider.callback();
      answer = (incoming, outgoing) => {
        if (!incoming.url?.startsWith("/interaction/")) return all(incoming, outgoing);
        const { person } = service;
        const refused = { error: "access_denied", error_description: "the person said no" };
        const result = person === undefined ? refused : { login: { accountId: person } };
        void provider.interactionFinished(incoming, outgoing, result);
      };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return service;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === "object" && address !== null ? address.port : 0;
}

function settingsFor(callback: string, secret: string, people: People) {
  return {
    clients: [{ client_id: "agentyard", client_secret: secret, redirect_uris: [callback] }],
    claims: { profile: ["name", "preferred_username"], email: ["email", "email_verified"] },
    cookies: { keys: ["a key for tests"] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id, ...people[id] }) }),
    async loadExistingGrant({ oidc }: Context) {
      const { provider, client, session } = oidc;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
  };
}

/** Keeps cookies by name and follows redirects, at most until an address that begins with `stop`. */
export function openBrowser() {
  const jar = new Map<string, string>();
  return {
    jar,
    async go(from: string, { stop }: { readonly stop?: string } = {}) {
      let url = from;
      // Once somebody else has sent it on, a browser says so until it arrives.
      let site = "none";
      for (let hop = 0; hop < 20; hop += 1) {
        if (stop !== undefined && url.startsWith(stop)) return { url, status: 0, text: "" };
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
        const sent = { cookie, "sec-fetch-mode": "navigate", "sec-fetch-site": site };
        const response = await get(url, sent);
        for (const header of response.headers["set-cookie"] ?? []) keep(jar, header);
        const { location } = response.headers;
        const page = await text(response);
        if (location === undefined) return { url, status: response.statusCode ?? 0, text: page };
        const next = new URL(location, url);
        if (next.origin !== new URL(url).origin) site = "cross-site";
        url = next.href;
      }
      throw new Error(`sent around in circles: ${url}`);
    },
  };
}

/** fetch does not let a test choose these headers. */
async function get(url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const [response] = await once(request(url, { headers }).end(), "response");
  return response;
}

function keep(jar: Map<string, string>, header: string): void {
  const [pair = ""] = header.split(";");
  const [name = "", value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
  if (value === "" || /max-age=0|expires=Thu, 01 Jan 1970/i.test(header)) jar.delete(name);
  else jar.set(name, value);
}
