import type { AuthProvider, OAuthClientProvider } from "@modelcontextprotocol/client";
import { whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { thrownText } from "../base/fault.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Secrets } from "../users/users.ts";
import type { ServiceFetch } from "../web/web.ts";
import { oneLine } from "./faults.ts";
import { type KeptSignIn, openKept, providerOver, type Way } from "./kept-sign-in.ts";
import { type NotedFetch, openNotedFetch } from "./noted-fetch.ts";
import { ownCode, throwMistake } from "./own-code.ts";
import type { McpReached } from "./settings.ts";

type Sdk = typeof import("@modelcontextprotocol/client");
type AuthOptions = Parameters<Sdk["auth"]>[1];
type Unauthorised = Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0];

export type SignInParts = {
  readonly server: string;
  readonly owner: OwnerId;
  readonly reached: Extract<McpReached, { by: "address" }>;
  readonly secrets: Pick<Secrets, "put" | "open" | "drop">;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The way to the server, and to what it names. */
  readonly fetch: ServiceFetch;
};

/** Tokens are renewed when this share of their time is over: nobody waits for one that has just ended. */
const renewShare = 0.8;

/** One user at one server: shows who asks, and has a person say it where nothing else helps. */
export class SignIn implements AuthProvider {
  readonly fetch: NotedFetch["fetch"];
  readonly #parts: SignInParts;
  readonly #kept: KeptSignIn;
  readonly #provider: OAuthClientProvider;
  readonly #noted: NotedFetch;
  readonly #way: Way = { link: "", state: "", verifier: "", needsPerson: false };
  /** What the server said when it last refused us. */
  #challenge: { readonly resourceMetadataUrl?: URL; readonly scope?: string } = {};
  #renewal: Promise<void> | undefined;

  constructor(parts: SignInParts) {
    this.#parts = parts;
    this.#kept = openKept(parts);
    this.#provider = providerOver(this.#kept, this.#way, parts);
    this.#noted = openNotedFetch(parts.fetch);
    this.fetch = ownCode(this.#noted.fetch);
  }

  /** The server wants to know who asks, and only a person can say it. */
  needsPerson(): boolean {
    return this.#way.needsPerson;
  }

  async token(): Promise<string | undefined> {
    const { tokens, at = 0, until } = await this.#kept.load();
    const isOld = until !== undefined && this.#parts.clock.now() >= at + (until - at) * renewShare;
    if (isOld && tokens?.refresh_token !== undefined) await this.#renew();
    return (await this.#kept.load()).tokens?.access_token;
  }

  async onUnauthorized({ response, fetchFn }: Unauthorised): Promise<void> {
    const sdk = await import("@modelcontextprotocol/client");
    const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
    this.#challenge = { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
    const used = this.#noted.askedWith(response);
    // Another call may have renewed the token since this one was asked with it.
    if (this.#renewal !== undefined) await whenOver(this.#renewal);
    if (await this.#isNewerThan(used)) return;
    if ((await this.#kept.load()).tokens?.refresh_token !== undefined) await this.#renew(fetchFn);
    if (await this.#isNewerThan(used)) return;
    this.#way.needsPerson = true;
    throw new sdk.UnauthorizedError();
  }

  /** The server wants the person to agree to more than they did. */
  async widen(scope: string): Promise<void> {
    const { tokens } = await this.#kept.load();
    const before = typeof tokens?.scope === "string" ? tokens.scope : (this.#challenge.scope ?? "");
    const words = `${before} ${scope}`.split(" ").filter((word) => word !== "");
    this.#challenge = { ...this.#challenge, scope: [...new Set(words)].join(" ") };
    this.#way.needsPerson = true;
  }

  /** Where the person is to go; `state` comes back with them. */
  async begin(redirectUrl: string): Promise<Result<{ readonly url: string; readonly state: string }, Failure>> {
    const { server, reached } = this.#parts;
    const { redirectUrl: before } = await this.#kept.load();
    // An app is registered for one place to come back to.
    await this.#kept.save({ redirectUrl, ...(before === redirectUrl ? {} : { client: undefined }) });
    this.#way.link = "";
    const scope = this.#challenge.scope ?? reached.scope;
    const why = await this.#authorise({ forceReauthorization: true, ...(scope === undefined ? {} : { scope }) });
    if (this.#way.link === "") return failure("mcp_sign_in_failed", { server, said: why ?? "it gave no link" });
    return ok({ url: this.#way.link, state: this.#way.state });
  }

  async finish({ code, iss }: { code: string; iss: string | undefined }): Promise<Result<void, Failure>> {
    const why = await this.#authorise({ authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
    Object.assign(this.#way, { link: "", state: "", verifier: "" });
    return why === undefined ? ok(undefined) : failure("mcp_sign_in_failed", { server: this.#parts.server, said: why });
  }

  /** Forgets the tokens, here and for good. */
  async out(): Promise<void> {
    this.#way.needsPerson = false;
    await this.#kept.drop();
  }

  async #isNewerThan(used: string | undefined): Promise<boolean> {
    const { tokens } = await this.#kept.load();
    return tokens !== undefined && `Bearer ${tokens.access_token}` !== used;
  }

  /** However many notice at once that the token is old: it is renewed once, for a second use of it may end all of them. */
  async #renew(fetchFn?: Unauthorised["fetchFn"]): Promise<void> {
    this.#renewal ??= this.#authorise(fetchFn === undefined ? {} : { fetchFn })
      .then((why) => {
        if (why !== undefined) this.#way.needsPerson = true;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    await this.#renewal;
  }

  async #authorise(options: Omit<AuthOptions, "serverUrl">): Promise<string | undefined> {
    const sdk = await import("@modelcontextprotocol/client");
    const asked = { serverUrl: this.#parts.reached.url, fetchFn: this.fetch, ...this.#challenge, ...options };
    return authorise(sdk, this.#provider, asked);
  }
}

/** Why it did not work, in one line; undefined where it did. */
async function authorise(sdk: Sdk, provider: OAuthClientProvider, options: AuthOptions): Promise<string | undefined> {
  try {
    await sdk.auth(provider, options);
    return undefined;
  } catch (error) {
    throwMistake(error);
    return oneLine(thrownText(error));
  }
}
