import type { OAuthClientProvider } from "@modelcontextprotocol/client";
import { z } from "zod";
import { parsedJson } from "../base/json.ts";
import { ownCode } from "./own-code.ts";
import type { SignInParts } from "./sign-in.ts";

/** What is kept of a sign-in, sealed: the app that we are there, and what lets us in. */
const Kept = z.object({
  /** The address of the server that it is for. */
  url: z.string().optional(),
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

export type KeptSignIn = {
  /** As far as it was read. */
  readonly known: Kept;
  load(): Promise<Kept>;
  save(changed: Partial<Kept>): Promise<void>;
  drop(): Promise<void>;
};

export function openKept({ server, owner, reached, secrets }: SignInParts): KeptSignIn {
  const name = `mcp/${server}`;
  const { url } = reached;
  let kept: Kept | undefined;
  async function load(): Promise<Kept> {
    if (kept !== undefined) return kept;
    const opened = await secrets.open(owner, name);
    const parsed = Kept.safeParse(opened.ok && opened.value !== undefined ? parsedJson(opened.value) : {});
    // A name may stand for another server now, which must not get what lets us into the one before.
    kept ??= parsed.success && parsed.data.url === url ? parsed.data : {};
    return kept;
  }
  return {
    get known() {
      return kept ?? {};
    },
    load,
    async save(changed) {
      kept = { ...(await load()), ...changed, url };
      // What cannot be stored counts until the process ends; the next sign-in tries again.
      await secrets.put(owner, name, JSON.stringify(kept));
    },
    async drop() {
      kept = {};
      await secrets.drop(owner, name);
    },
  };
}

/** Of one way to the sign-in service and back; whoever restarts us begins again. */
export type Way = { link: string; state: string; verifier: string; needsPerson: boolean };

const stateCharacters = 32;
const nowhere = "http://127.0.0.1/";

/** One and the same with a slash at its end and without. */
const bare = (issuer: string) => issuer.replace(/\/$/, "");

/** How the client reads and writes what is kept, and where it sends the person. */
export function providerOver(kept: KeptSignIn, way: Way, { reached, clock, ids }: SignInParts): OAuthClientProvider {
  return {
    get redirectUrl() {
      return kept.known.redirectUrl ?? nowhere;
    },
    get clientMetadata() {
      return {
        client_name: "AgentYard",
        redirect_uris: [kept.known.redirectUrl ?? nowhere],
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
    clientInformation: ownCode(async (about) => {
      const { issuer } = reached;
      // The server names the sign-in service. Whether it is the one that may hear who we are is for the settings to say.
      if (issuer !== undefined && bare(issuer) !== bare(about?.issuer ?? "")) {
        await kept.save({ found: undefined }); // Else it would be the one for good.
        const { AuthorizationServerMismatchError } = await import("@modelcontextprotocol/client");
        throw new AuthorizationServerMismatchError(issuer, about?.issuer ?? "");
      }
      if (reached.client === undefined) return (await kept.load()).client;
      const { id, secret } = reached.client;
      return {
        ...{ client_id: id, ...(secret === undefined ? {} : { client_secret: secret }) },
        ...(issuer === undefined ? {} : { issuer }),
      };
    }),
    saveClientInformation: ownCode((client) => kept.save({ client: { ...client } })),
    tokens: ownCode(async () => (await kept.load()).tokens),
    saveTokens: ownCode(async (tokens) => {
      const at = clock.now();
      const { expires_in: seconds } = tokens;
      way.needsPerson = false;
      await kept.save({ tokens: { ...tokens }, at, until: seconds === undefined ? undefined : at + seconds * 1_000 });
    }),
    redirectToAuthorization(url) {
      way.link = url.href;
      way.needsPerson = true;
    },
    saveCodeVerifier(verifier) {
      way.verifier = verifier;
    },
    codeVerifier: () => way.verifier,
    invalidateCredentials: ownCode(async (what) => {
      if (what === "tokens" || what === "all") await kept.save({ tokens: undefined, at: undefined, until: undefined });
      if (what === "client" || what === "all") await kept.save({ client: undefined });
      if (what === "discovery" || what === "all") await kept.save({ found: undefined });
    }),
    saveDiscoveryState: ownCode((found) => kept.save({ found: { ...found } })),
    discoveryState: ownCode(async () => (await kept.load()).found),
  };
}
