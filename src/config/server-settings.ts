import { defaultServerSettings as usual } from "../http/settings.ts";
import {
  address,
  exactAddress,
  hosts,
  networks,
  number,
  origins,
  subPath,
  text,
  toggle,
  wholeNumber,
  words,
} from "./kinds.ts";
import type { Setting } from "./settings.ts";

const dayMs = 86_400_000;

/** The block `server`: where `agentyard serve` is reached, by whom, and how often. */
export const serverSettings = {
  serverHost: {
    flag: "host",
    variables: ["AGENTYARD_HOST"],
    key: "server.host",
    kind: address,
    default: usual.host,
    isFixed: true,
  },
  /** 0 takes a free one. */
  serverPort: {
    flag: "port",
    variables: ["AGENTYARD_PORT"],
    key: "server.port",
    kind: wholeNumber(0, 65_535),
    default: usual.port,
    isFixed: true,
  },
  basePath: {
    flag: "base-path",
    variables: ["AGENTYARD_BASE_PATH"],
    key: "server.base_path",
    kind: subPath,
    default: usual.basePath,
    isFixed: true,
  },
  trustedProxies: {
    variables: ["AGENTYARD_TRUSTED_PROXIES"],
    key: "server.trusted_proxies",
    kind: networks,
    default: usual.trustedProxies,
  },
  trustedHosts: {
    variables: ["AGENTYARD_TRUSTED_HOSTS"],
    key: "server.trusted_hosts",
    kind: hosts,
    default: usual.trustedHosts,
  },
  allowedOrigins: {
    variables: ["AGENTYARD_ALLOWED_ORIGINS"],
    key: "server.allowed_origins",
    kind: origins,
    default: usual.allowedOrigins,
  },
  requestsPerMinuteMax: {
    variables: ["AGENTYARD_REQUESTS_PER_MINUTE_MAX"],
    key: "server.requests_per_minute_max",
    kind: wholeNumber(1, 1_000_000),
    default: usual.requestsPerMinuteMax,
  },
  signInsPerMinuteMax: {
    variables: ["AGENTYARD_SIGN_INS_PER_MINUTE_MAX"],
    key: "server.sign_ins_per_minute_max",
    kind: wholeNumber(1, 10_000),
    default: usual.signInsPerMinuteMax,
  },
  signInDays: {
    variables: ["AGENTYARD_SIGN_IN_DAYS"],
    key: "server.sign_in_days",
    kind: number(0.01, 3_650),
    default: usual.signInLastsMs / dayMs,
  },
  signOutEndsSession: {
    variables: ["AGENTYARD_SIGN_OUT_ENDS_SESSION"],
    key: "server.sign_out_ends_session",
    kind: toggle,
    default: usual.signOutEndsSession,
  },
  drainSeconds: {
    variables: ["AGENTYARD_DRAIN_SECONDS"],
    key: "server.drain_seconds",
    kind: number(0, 3_600),
    default: usual.drainMs / 1_000,
    isFixed: true,
  },
  oidcIssuer: {
    variables: ["AGENTYARD_OIDC_ISSUER"],
    key: "server.oidc.issuer",
    kind: exactAddress("https://id.example.com"),
    isFixed: true,
  },
  oidcClientId: {
    variables: ["AGENTYARD_OIDC_CLIENT_ID"],
    key: "server.oidc.client_id",
    kind: text,
    default: "agentyard",
    isFixed: true,
  },
  /** In the environment or `.env` only, as every secret. */
  oidcSecret: { variables: ["AGENTYARD_OIDC_SECRET"], kind: text, isSecret: true, isFixed: true },
  oidcName: { variables: ["AGENTYARD_OIDC_NAME"], key: "server.oidc.name", kind: text, default: "OIDC", isFixed: true },
  oidcAddsUsers: {
    variables: ["AGENTYARD_OIDC_ADDS_USERS"],
    key: "server.oidc.adds_users",
    kind: toggle,
    default: false,
    isFixed: true,
  },
  oidcScopes: {
    variables: ["AGENTYARD_OIDC_SCOPES"],
    key: "server.oidc.scopes",
    kind: words,
    default: ["openid", "profile", "email"],
    isFixed: true,
  },
} as const satisfies Record<string, Setting<unknown>>;
