import type { SignInServiceSettings } from "../users/users.ts";

/** How the server is reached and by whom; from `server` in agentyard.yaml, its flags and the environment. */
export type ServerSettings = {
  readonly host: string;
  readonly port: number;
  /** The path under which a proxy serves it: empty, or `/yard`. */
  readonly basePath: string;
  /** Addresses, or networks as `10.0.0.0/8`, whose `X-Forwarded-*` counts. */
  readonly trustedProxies: readonly string[];
  /** Host names besides the loopback ones under which it may be called. */
  readonly trustedHosts: readonly string[];
  /** Other sites whose pages may call it; none by default. */
  readonly allowedOrigins: readonly string[];
  readonly requestsPerMinuteMax: number;
  /** Tries to sign in that fail, by address; for one name there are more (`tries.ts`). */
  readonly signInsPerMinuteMax: number;
  readonly signInLastsMs: number;
  /** Signing out ends the user's sandbox session as well. */
  readonly signOutEndsSession: boolean;
  /** So long it serves on when it is told to end, and says that it is not ready. */
  readonly drainMs: number;
  readonly oidc: SignInServiceSettings | undefined;
};

export const defaultServerSettings: ServerSettings = {
  host: "127.0.0.1",
  port: 7420,
  basePath: "",
  trustedProxies: [],
  trustedHosts: [],
  allowedOrigins: [],
  requestsPerMinuteMax: 1_200,
  signInsPerMinuteMax: 10,
  signInLastsMs: 30 * 86_400_000,
  signOutEndsSession: false,
  drainMs: 0,
  oidc: undefined,
};
