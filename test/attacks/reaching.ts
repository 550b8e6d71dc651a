import assert from "node:assert/strict";
import type { Server } from "node:net";
import { after } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import type { Logger } from "../../src/observe/observe.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { openNetwork } from "../../src/sandbox/network/network.ts";
import type { ProxyLimits } from "../../src/sandbox/network/proxy.ts";
import type { Lookup } from "../../src/web/web.ts";
import { serveHttp } from "../world/package-index.ts";
import { type Attacked, attackerUid, attempt, conversation, limits, newFolder, openProvider } from "./guest.ts";

// What a program can try with the one way out that an operator has opened for it.

/** The host that is allowed, and what else this machine has to offer. */
export const heard: string[] = [];
export const port = await serveHttp({ after }, (request, response) => {
  heard.push(`${request.method} ${request.headers.host} ${request.url}`);
  if (request.url === "/away") return response.writeHead(302, { location: `http://secret.test:${port}/` }).end();
  if (request.url === "/endless") return void endless(() => response.write(Buffer.alloc(65_536)));
  return response.end("hello");

  function endless(write: () => boolean): void {
    while (!response.destroyed && write());
    response.once("drain", () => endless(write));
  }
});
export const secret = await serveHttp({ after }, (_, response) => response.end("secret"));
export const mirror = `mirror.test:${port}`;

type Wanted = {
  readonly hosts?: readonly string[];
  readonly privateHosts?: readonly string[];
  readonly lookup?: Lookup;
  readonly ownPorts?: ReadonlySet<number>;
  readonly limits?: Partial<ProxyLimits>;
  readonly clock?: Clock;
};

type Reaching = Attacked & {
  readonly logged: string[];
  /** One more guest of the same user. */
  beside(): Promise<Attacked>;
};

/** A guest that may reach the mirror, which is on this machine. */
export async function openReaching(wanted: Wanted = {}): Promise<Reaching> {
  const logged: string[] = [];
  const { hosts = [mirror], privateHosts = [mirror], lookup = async () => ["127.0.0.1"] } = wanted;
  const network = openNetwork({
    ...{ rules: { hosts, privateHosts }, lookup, limits: wanted.limits, clock: wanted.clock ?? systemClock },
    ownPorts: wanted.ownPorts,
    logger: loggerInto(logged),
  });
  const provider = openProvider();
  const open = async (): Promise<Attacked> => {
    const workspace = conversation(newFolder());
    const opened = await provider.open({
      ...{ id: systemIds.hex(16), workspace, limits, uid: attackerUid, env: {} },
      network: network.wayOut(localOwner),
    });
    assert.ok(opened.ok, opened.ok ? "" : `${opened.failure.why}: ${opened.failure.said}`);
    return { guest: opened.value, folder: workspace.folder };
  };
  return { ...(await open()), logged, beside: open };
}

function loggerInto(lines: string[]): Logger {
  const note = (text: string, fields?: object) => void lines.push(`${text} ${JSON.stringify(fields ?? {})}`);
  const ended = async () => {};
  return { path: undefined, debug: note, info: note, warn: note, error: note, flush: ended, close: ended };
}

let shared: Promise<Reaching> | undefined;
export function reaching(): Promise<Reaching> {
  shared ??= openReaching({
    hosts: [mirror, "*.allowed.test", "allowed.test:8443"],
    lookup: async (host) => (host === "nowhere.allowed.test" ? [] : ["127.0.0.1"]),
  });
  return shared;
}

/** `ask(request)`: the first line of the answer and how it goes on. */
const asking = `
def ask(request):
    with socket.create_connection(("127.0.0.1", 3128), 30) as s:
        s.sendall(request.encode("latin1"))
        answer = b""
        try:
            while piece := s.recv(65536):
                answer += piece
        except (TimeoutError, ConnectionError) as error:
            return type(error).__name__
    return answer.decode("latin1")
def status(request):
    return ask(request).split("\\r\\n")[0].removeprefix("HTTP/1.1 ").split(":")[0]
def get(url):
    return "GET " + url + " HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
def tunnel(place):
    return "CONNECT " + place + " HTTP/1.1\\r\\n\\r\\n"
`;
export const said = async (code: string, attacked?: Attacked) =>
  attempt(attacked ?? (await reaching()), { code: `${asking}\n${code}`, timeoutMs: 60_000 });
export const forbidden = "403 Forbidden";

export function portOf(server: Pick<Server, "address">): number {
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}
