import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { z } from "zod";
import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { thrownText } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Secrets } from "../users/users.ts";
import { oneLine } from "./faults.ts";
import type { McpReached } from "./settings.ts";

type UnauthorizedContext = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];
type Sdk = typeof import("@modelcontextprotocol/client");

/** What is kept of a sign-in, sealed: the app that we are there, and what lets us in. */
const Kept = z.object({
  /** Where the browser was sent back to: an app is registered for this one. */
  redirectUrl: z.string().optional(),
  client: z.looseObject({ client_id: z.string() }).optional(),
  tokens: z
    .looseObject({ access_token: z.string(), token_type: z.string(), refresh_token: z.string().optional() })
    .optional(),
  /** When the tokens came, and when they are of no use any more. */
  at: z.number().optional(),
  until: z.number().optional(),
  /** What was found out about the sign-in service. */
  found: z.looseObject({ authorizationServerUrl: z.string() }).optional(),
});
type Kept = z.infer<typeof Kept>;

export type SignInParts = {
  readonly server: string;
  readonly owner: OwnerId;
  readonly reached: Extract<McpReached, { by: "address" }>;
  readonly secrets: Pick<Secrets, "put" | "open" | "drop">;
  readonly clock: Clock;
  readonly ids: Ids;
};

/** One user at one server. */
export type SignIn = AuthProvider & {
  /** As the platform's, but it is noted what each answer was asked with. */
  readonly fetch: typeof fetch;
  /** The server wants to know who asks, and only a person can say it. */
  needsPerson(): boolean;
  /** The server wants the person to agree to more than they did. */
  widen(scope: string): Promise<void>;
  /** Where the person is to go; `state` comes back with them. */
  begin(redirectUrl: string): Promise<Result<{ readonly url: string; readonly state: string }, Failure>>;
  finish(answer: { readonly code: string; readonly iss: string | undefined }): Promise<Result<void, Failure>>;
  /** Forgets the tokens, here and for good. */
  out(): Promise<void>;
};

/** Tokens are renewed when this share of their time is over: nobody waits for one that has just ended. */
const renewShare = 0.8;

export function openSignIn(parts: SignInParts): SignIn {
  const { server, owner, secrets, clock, ids, reached } = parts;
  const name = `mcp/${server}`;
  let kept: Kept | undefined;
  let needsPerson = false;
  let challenge: { resourceMetadataUrl?: URL; scope?: string } = {};
  let renewal: Promise<void> | undefined;
  const askedWith = new WeakMap<Response, string>();
  // Of one way to the sign-in service and back; whoever restarts us begins again.
  const way = { link: "", state: "", verifier: "" };

  async function load(): Promise<Kept> {
    if (kept !== undefined) return kept;
    const opened = await secrets.open(owner, name);
    const parsed = Kept.safeParse(opened.ok && opened.value !== undefined ? parsedJson(opened.value) : {});
    kept ??= parsed.success ? parsed.data : {};
    return kept;
  }
  async function save(changed: Partial<Kept>): Promise<void> {
    kept = { ...(await load()), ...changed };
    // What cannot be stored counts until the process ends; the next sign-in tries again.
    await secrets.put(owner, name, JSON.stringify(kept));
  }
  const provider: OAuthClientProvider = {
    get redirectUrl() {
      return kept?.redirectUrl ?? "http://127.0.0.1/";
    },
    get clientMetadata() {
      return {
        client_name: "AgentYard",
        redirect_uris: [kept?.redirectUrl ?? "http://127.0.0.1/"],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: reached.client?.secret === undefined ? "none" : "client_secret_basic",
        ...(reached.scope === undefined ? {} : { scope: reached.scope }),
      };
    },
    state() {
      way.state = ids.hex(stateCharacters);
      return way.state;
    },
    async clientInformation() {
      if (reached.client === undefined) return (await load()).client;
      const { id, secret } = reached.client;
      return { client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) };
    },
    saveClientInformation: (client) => save({ client: { ...client } }),
    tokens: async () => (await load()).tokens,
    async saveTokens(tokens) {
      const at = clock.now();
      const { expires_in: seconds } = tokens;
      needsPerson = false;
      await save({ tokens: { ...tokens }, at, until: seconds === undefined ? undefined : at + seconds * 1_000 });
    },
    redirectToAuthorization(url) {
      way.link = url.href;
      needsPerson = true;
    },
    saveCodeVerifier(verifier) {
      way.verifier = verifier;
    },
    codeVerifier: () => way.verifier,
    async invalidateCredentials(what) {
      if (what === "tokens" || what === "all") await save({ tokens: undefined, at: undefined, until: undefined });
      if (what === "client" || what === "all") await save({ client: undefined });
      if (what === "discovery" || what === "all") await save({ found: undefined });
    },
    saveDiscoveryState: (found) => save({ found: { ...found } }),
    discoveryState: async () => (await load()).found,
  };

  /** However many notice at once that the token is old: it is renewed once, for a second use of it may end all of them. */
  async function renew(sdk: Sdk, fetchFn?: UnauthorizedContext["fetchFn"]): Promise<void> {
    renewal ??= authorise(sdk, provider, {
      ...{ serverUrl: reached.url, ...challenge },
      ...(fetchFn === undefined ? {} : { fetchFn }),
    })
      .then(({ why }) => {
        if (why !== undefined) needsPerson = true;
      })
      .finally(() => {
        renewal = undefined;
      });
    await renewal;
  }

  return {
    needsPerson: () => needsPerson,
    async fetch(where, init) {
      const response = await fetch(where, init);
      askedWith.set(response, new Headers(init?.headers).get("authorization") ?? "");
      return response;
    },
    async token() {
      const { tokens, at = 0, until } = await load();
      const isOld = until !== undefined && clock.now() >= at + (until - at) * renewShare;
      if (isOld && tokens?.refresh_token !== undefined) await renew(await import("@modelcontextprotocol/client"));
      return (await load()).tokens?.access_token;
    },
    async onUnauthorized({ response, fetchFn }) {
      const sdk = await import("@modelcontextprotocol/client");
      const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
      challenge = { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
      // Another call may have renewed the token since this one was asked with it.
      const used = askedWith.get(response);
      const isNew = async () => {
        const { tokens } = await load();
        return tokens !== undefined && `Bearer ${tokens.access_token}` !== used;
      };
      if (renewal !== undefined) await whenOver(renewal);
      if (await isNew()) return;
      if ((await load()).tokens?.refresh_token !== undefined) await renew(sdk, fetchFn);
      if (await isNew()) return;
      needsPerson = true;
      throw new sdk.UnauthorizedError();
    },
    async widen(scope) {
      const { tokens } = await load();
      const before = typeof tokens?.scope === "string" ? tokens.scope : (challenge.scope ?? "");
      const words = `${before} ${scope}`.split(" ").filter((word) => word !== "");
      challenge = { ...challenge, scope: [...new Set(words)].join(" ") };
      needsPerson = true;
    },
    async begin(redirectUrl) {
      const { redirectUrl: before } = await load();
      // An app is registered for one place to come back to.
      await save({ redirectUrl, ...(before === redirectUrl ? {} : { client: undefined }) });
      const sdk = await import("@modelcontextprotocol/client");
      way.link = "";
      const asked = { serverUrl: reached.url, ...challenge, forceReauthorization: true };
      const { why } = await authorise(sdk, provider, { ...(reached.scope && { scope: reached.scope }), ...asked });
      if (way.link === "") return failure("mcp_sign_in_failed", { server, said: why ?? "it gave no link" });
      return ok({ url: way.link, state: way.state });
    },
    async finish({ code, iss }) {
      const sdk = await import("@modelcontextprotocol/client");
      const given = { serverUrl: reached.url, ...challenge, authorizationCode: code };
      const { why } = await authorise(sdk, provider, { ...given, ...(iss === undefined ? {} : { iss }) });
      Object.assign(way, { link: "", state: "", verifier: "" });
      return why === undefined ? ok(undefined) : failure("mcp_sign_in_failed", { server, said: why });
    },
    async out() {
      kept = {};
      needsPerson = false;
      await secrets.drop(owner, name);
    },
  };
}

const stateCharacters = 32;

/** `why`: in one line, and only where it did not work. */
async function authorise(
  sdk: Sdk,
  provider: OAuthClientProvider,
  options: Parameters<Sdk["auth"]>[1],
): Promise<{ readonly why: string | undefined }> {
  try {
    await sdk.auth(provider, options);
    return { why: undefined };
  } catch (error) {
    return { why: oneLine(thrownText(error)) };
  }
}
