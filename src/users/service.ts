import { createHmac } from "node:crypto";
import type * as OpenId from "openid-client";
import { z } from "zod";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { thrownText } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { isSameSecret } from "./proofs.ts";
import type { Person } from "./users.ts";

/** How a sign-in service (OpenID Connect) is reached. The secret comes from the environment (`AGENTYARD_OIDC_SECRET`). */
export type SignInServiceSettings = {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** Shown on the button. */
  readonly name: string;
  /** Whoever the service lets in becomes a user; otherwise only those who are users already. */
  readonly addsUsers: boolean;
  readonly scopes: readonly string[];
};

/** Sends people to a sign-in service and hears from it who they are. */
export type SignInService = {
  readonly name: string;
  /** `url`: where the browser goes; `kept`: what it brings back in a cookie. */
  begin(there: There): Promise<Result<{ readonly url: string; readonly kept: string }, ServiceFailure>>;
  /** `came`: the address the browser came back to; `kept`: what it brought. */
  finish(came: URL, kept: string | undefined): Promise<Result<Person & { readonly next: string }, ServiceFailure>>;
};

/** `callback`: our own address that the service knows; `next`: where the person wanted to go. */
type There = { readonly callback: string; readonly next: string };
type ServiceFailure = Failure<"sign_in_service_failed" | "sign_in_expired">;

export const signInWaitSeconds = 600;
const answerTimeoutSeconds = 15;
const whyCharactersMax = 200;

/** What the browser keeps between two calls, under our signature: no other value counts. */
const Kept = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  callback: z.string(),
  next: z.string(),
  at: z.number(),
});

type Parts = { readonly clock: Clock; readonly ids: Ids };

/** Code flow with PKCE, state and nonce; issuer, signature and times of the answer are checked by the library. */
export function openSignInService(settings: SignInServiceSettings, { clock, ids }: Parts): SignInService {
  const discover = openDiscovery(settings);
  // A start of ours in between means to begin again.
  const seal = openSeal(ids.hex(64));
  return {
    name: settings.name,
    async begin({ callback, next }) {
      const service = await discover();
      if (!service.ok) return service;
      const oidc = await library();
      const kept = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
      const url = oidc.buildAuthorizationUrl(service.value, {
        redirect_uri: callback,
        scope: [...new Set(["openid", ...settings.scopes])].join(" "),
        code_challenge: await oidc.calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: "S256",
        state: kept.state,
        nonce: kept.nonce,
      });
      return ok({ url: url.href, kept: seal.close(JSON.stringify({ ...kept, callback, next, at: clock.now() })) });
    },
    async finish(came, sealed) {
      const kept = Kept.safeParse(JSON.parse(seal.open(sealed ?? "") ?? "null")).data;
      if (kept === undefined || clock.now() - kept.at > signInWaitSeconds * 1000) return failure("sign_in_expired", {});
      const service = await discover();
      if (!service.ok) return service;
      const claims = await redeem(service.value, came, kept);
      return claims.ok ? ok({ ...personOf(claims.value, settings), next: kept.next }) : claims;
    },
  };
}

/** Loaded where somebody needs it: most installations have no such service. */
function library(): Promise<typeof OpenId> {
  return import("openid-client");
}

/** Asked once it is needed and kept when it is known; a service that is away now may be there later. */
function openDiscovery({ issuer, clientId, clientSecret }: SignInServiceSettings) {
  let known: OpenId.Configuration | undefined;
  return async (): Promise<Result<OpenId.Configuration, ServiceFailure>> => {
    const oidc = await library();
    const url = new URL(issuer);
    // Without TLS only on this machine: for tests, and for a service behind a local tunnel.
    const execute = isLoopback(url) ? [oidc.allowInsecureRequests] : [];
    const authentication = clientSecret === undefined ? oidc.None() : undefined;
    const options = { execute, timeout: answerTimeoutSeconds };
    try {
      known ??= await oidc.discovery(url, clientId, clientSecret, authentication, options);
      return ok(known);
    } catch (error) {
      return serviceFailed(reasonOf(oidc, error));
    }
  };
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
}

type Claims = { readonly iss: string; readonly sub: string; readonly [name: string]: unknown };

async function redeem(
  service: OpenId.Configuration,
  came: URL,
  { state, nonce, verifier, callback }: z.infer<typeof Kept>,
): Promise<Result<Claims, ServiceFailure>> {
  const oidc = await library();
  // The address as the service knows it: behind a proxy ours looks otherwise.
  const url = new URL(callback);
  url.search = came.search;
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
  let tokens: Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>;
  try {
    tokens = await oidc.authorizationCodeGrant(service, url, checks);
  } catch (error) {
    return serviceFailed(reasonOf(oidc, error));
  }
  const claims = tokens.claims();
  assert(claims !== undefined, "an answer without them was refused");
  // Names and addresses often stand only where the token opens the way to them.
  const isTold = "email" in claims || service.serverMetadata().userinfo_endpoint === undefined;
  if (isTold) return ok(claims);
  try {
    const more = await oidc.fetchUserInfo(service, tokens.access_token, claims.sub);
    return ok({ ...claims, ...more, iss: claims.iss, sub: claims.sub });
  } catch (error) {
    return serviceFailed(reasonOf(oidc, error));
  }
}

/** An address that nobody checked may be anybody's. */
function personOf(claims: Claims, { addsUsers }: SignInServiceSettings): Person {
  const { preferred_username: username, email: address, email_verified: isVerified, name, iss, sub } = claims;
  const email = isVerified === true && typeof address === "string" ? address : undefined;
  const names = [username, email, sub].filter((one): one is string => typeof one === "string" && one !== "");
  return { subject: `${iss} ${sub}`, sub, email, names, name: typeof name === "string" ? name : "", addsUsers };
}

function openSeal(secret: string) {
  const sign = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  return {
    close(text: string): string {
      const value = Buffer.from(text).toString("base64url");
      return `${value}.${sign(value)}`;
    },
    open(sealed: string): string | undefined {
      const [value = "", signature = ""] = sealed.split(".");
      return isSameSecret(signature, sign(value)) ? Buffer.from(value, "base64url").toString() : undefined;
    },
  };
}

function serviceFailed(why: string) {
  return failure("sign_in_service_failed", { why: why.slice(0, whyCharactersMax) });
}

/** The service's own words for a refusal, else the library's; neither holds a secret. */
function reasonOf(oidc: typeof OpenId, error: unknown): string {
  if (error instanceof oidc.AuthorizationResponseError) return error.error_description ?? error.error;
  if (error instanceof oidc.ResponseBodyError) return error.error_description ?? error.error;
  return thrownText(error);
}
