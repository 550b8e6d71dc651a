import type { ServerSettings } from "../http/http.ts";
import type { Places } from "./places.ts";
import type { Reader } from "./reader.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import { serverSettings as settings } from "./server-settings.ts";

const dayMs = 86_400_000;

/** Where the server is reached and by whom. */
export function readServer(reader: Reader, places: Places): ServerSettings {
  const server: ServerSettings = {
    host: reader.read(settings.serverHost),
    port: reader.read(settings.serverPort),
    basePath: reader.read(settings.basePath),
    trustedProxies: reader.read(settings.trustedProxies),
    trustedHosts: reader.read(settings.trustedHosts),
    allowedOrigins: reader.read(settings.allowedOrigins),
    requestsPerMinuteMax: reader.read(settings.requestsPerMinuteMax),
    signInsPerMinuteMax: reader.read(settings.signInsPerMinuteMax),
    signInLastsMs: dayMs * reader.read(settings.signInDays),
    signOutEndsSession: reader.read(settings.signOutEndsSession),
    drainMs: 1_000 * reader.read(settings.drainSeconds),
    oidc: readOidc(reader),
  };
  if (!places.isTrusted) refuseForeign(reader, places, "server.");
  return server;
}

/** What needs a new start stays as it is: the address, and the sign-in service. */
export function changeServer(now: ServerSettings, fresh: ServerSettings): ServerSettings {
  const { host, port, basePath, drainMs, oidc } = now;
  return { ...fresh, host, port, basePath, drainMs, oidc };
}

function readOidc(reader: Reader): ServerSettings["oidc"] {
  const issuer = reader.find(settings.oidcIssuer)?.value;
  const more = {
    clientId: reader.read(settings.oidcClientId),
    clientSecret: reader.find(settings.oidcSecret)?.value,
    name: reader.read(settings.oidcName),
    addsUsers: reader.read(settings.oidcAddsUsers),
    scopes: reader.read(settings.oidcScopes),
  };
  return issuer === undefined ? undefined : { issuer, ...more };
}
