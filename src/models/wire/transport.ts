import http from "node:http";
import https from "node:https";
import { bareHost } from "../../base/host.ts";

export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

export interface Transport {
  /** Starts a POST. The caller listens for the response and for errors, and destroys the request when it has enough. */
  post(url: URL, headers: http.OutgoingHttpHeaders, body: Buffer): http.ClientRequest;
  /** Ends all connections, those in use too. */
  close(): void;
}

/** Connections are kept between calls. Not fetch: its web streams cost three times the CPU of the whole call. */
export function createTransport(proxyEnv: ProxyEnvironment | undefined): Transport {
  const options = { keepAlive: true, scheduling: "lifo", ...(proxyEnv ? { proxyEnv } : {}) } as const;
  const plain = new http.Agent(options);
  const secure = new https.Agent(options);
  return {
    post(url, headers, body) {
      const isSecure = url.protocol === "https:";
      const request = (isSecure ? https : http).request({
        method: "POST",
        host: bareHost(url.hostname),
        port: url.port === "" ? undefined : url.port,
        path: url.pathname + url.search,
        agent: isSecure ? secure : plain,
        headers: { ...headers, "content-length": body.length },
      });
      request.end(body);
      return request;
    },
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}
