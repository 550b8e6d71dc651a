import type { WebSettings } from "../web/web.ts";
import type { Places } from "./places.ts";
import type { Reader } from "./reader.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import { webSettings as settings } from "./web-settings.ts";

/** Whom tools reach out there, and who searches for them. */
export function readWeb(reader: Reader, places: Places): WebSettings {
  const found = <T>(one: Parameters<typeof reader.find<T>>[0]) => reader.find(one)?.value;
  const web: WebSettings = {
    hosts: reader.read(settings.webHosts),
    privateHosts: reader.read(settings.webPrivateHosts),
    timeoutMs: 1_000 * reader.read(settings.webTimeoutSeconds),
    bytesMax: reader.read(settings.webBytesMax),
    proxyFindsNames: reader.read(settings.proxyFindsNames),
    search: {
      provider: reader.read(settings.searchProvider),
      google: {
        url: reader.read(settings.googleUrl),
        key: found(settings.googleKey),
        engine: found(settings.googleEngine),
      },
      brave: { url: reader.read(settings.braveUrl), key: found(settings.braveKey) },
      tavily: { url: reader.read(settings.tavilyUrl), key: found(settings.tavilyKey) },
      jina: {
        searchUrl: reader.read(settings.jinaSearchUrl),
        readerUrl: reader.read(settings.jinaReaderUrl),
        key: found(settings.jinaKey),
      },
      searxng: { url: reader.read(settings.searxngUrl) },
    },
  };
  // Somebody else's folder must neither open the user's network nor have the user's keys sent anywhere.
  if (!places.isTrusted) refuseForeign(reader, places, "web.");
  return web;
}
