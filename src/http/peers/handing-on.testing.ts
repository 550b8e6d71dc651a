import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { systemIds } from "../../base/ids.ts";
import { ok } from "../../base/result.ts";
import { homesHere } from "../../homes/homes.ts";
import { bodyAsItComes } from "../bytes.ts";
import type { Counted, Door, Env } from "../door.ts";
import { openRate } from "../rate.ts";
import { type HandingOn, openHandOn } from "./hand-on.ts";
import { openPasses } from "./pass.ts";
import { type PeerWord, peerHeader } from "./peer-words.ts";

/** As files are sent: handed on as it comes. */
export const bytesType = "application/octet-stream";

type Doing = "dies" | "hangs" | PeerWord;

/** Another server, which dies once it has read all of a request, or does not serve it, and does serve the next. */
export async function dyingPeer(t: TestContext) {
  const seen: (string | undefined)[] = [];
  const hanging: ServerResponse[] = [];
  let next: Doing[] = [];
  let headers: IncomingHttpHeaders = {};
  // No connection is closed for having been idle, however long this machine stands still.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, outgoing) => {
    seen.push(incoming.method);
    incoming.resume().once("end", () => {
      headers = incoming.headers;
      const doing = next.shift();
      if (doing === undefined) outgoing.setHeader("set-cookie", ["a=1; Path=/", "b=2; Path=/"]).end("done");
      else if (doing === "dies") incoming.socket.destroy();
      else if (doing === "hangs") hanging.push(outgoing);
      else outgoing.writeHead(503, { [peerHeader]: doing }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const says = (...doings: Doing[]) => {
    next = doings;
  };
  return { address: `127.0.0.1:${port}`, seen, says, headers: () => headers, hanging };
}

type More = Partial<Pick<HandingOn, "logger" | "tracer" | "clock" | "homes" | "rate">> & {
  readonly taken?: AbortSignal;
  readonly counted?: Counted;
};

/** The door of a server where everything is at home at another one. */
export function handingOnTo(t: TestContext, address: string, more: More = {}) {
  const { taken, counted, clock = manualClock(), ...parts } = more;
  const key = { find: () => ok("key of all"), make: () => ok("") };
  const handOn = openHandOn({
    homes: { ...homesHere, isShared: true, homeOf: async () => ({ isHere: false, server: "there", address }) },
    ...{ passes: openPasses({ key, clock, ids: systemIds }), rate: openRate(clock), clock },
    ...{ logger: (line: string) => t.diagnostic(line), ...parts },
  });
  const app = new Hono<Env>();
  app.all("/", async (c) => {
    c.set("requestId", "mine");
    c.set("language", "en");
    c.set("dialect", "own");
    c.set("caller", { signedIn: undefined, scopes: [], taken });
    c.set("counted", counted);
    c.set("arrival", {
      ...{ address: undefined, isVeiled: false, isFromHere: true },
      ...{ host: "here", scheme: undefined, prefix: "" },
    });
    const isKept = c.req.header("content-type") !== bytesType;
    const body = isKept ? { bytes: new Uint8Array(await c.req.arrayBuffer()) } : bodyAsItComes(c.req.raw);
    return (await handOn(c, "u:local", body)) ?? c.text("served here");
  });
  return (sent: RequestInit, door?: Door) => app.fetch(new Request("http://here/", sent), door);
}
