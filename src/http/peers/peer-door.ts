import type { Clock } from "../../base/clock.ts";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, makeFailure } from "../../protocol/failure.ts";
import type { App, Door, Passes } from "../door.ts";
import { problemOf } from "../problem.ts";
import { type ListenFailure, listen } from "../server.ts";
import { passHeader } from "./pass.ts";
import { type PeerWord, peerHeader } from "./peer-words.ts";

/** Where other servers of this installation hand requests on. Nothing is served here without a pass. */
export type PeerDoor = {
  /** `host:port`. */
  readonly address: string;
  /** From now on. Until then whoever comes is told to come again. */
  serve(app: Pick<App, "fetch">, as: { readonly server: string; readonly passes: Passes }): void;
  /** What is being served is finished, streams are ended; who comes now is told to come again, and not cut off. */
  leave(): Promise<void>;
  close(): Promise<void>;
};

export type PeerAddress = { readonly host: string; readonly port: number };

/** A request that came to another server may have as many as are taken there, and its pass. */
const headerBytesMax = 64 * 1024;
/** So long is waited for what is being served. */
const leaveMsMax = 2_000;

/** Opens the door first: others have to know where it is before there is anything behind it. */
export async function openPeerDoor(at: PeerAddress, clock: Clock): Promise<Result<PeerDoor, ListenFailure>> {
  const [leaving, left] = [new AbortController(), new AbortController()];
  let served = 0;
  let behind: ((request: Request, door: Door) => Response | Promise<Response>) | undefined;
  const gate = {
    fetch(request: Request, door: Door = {}) {
      if (leaving.signal.aborted) return answer("not now", makeFailure("server_closing", {}));
      if (behind === undefined) return answer("not now", makeFailure("not_ready", { why: "passing" }));
      served += 1;
      door.onEnd?.(() => {
        served -= 1;
        if (leaving.signal.aborted && served === 0) left.abort();
      });
      return behind(request, { ...door, leaving: leaving.signal, closing: leaving.signal });
    },
  };
  const opened = await listen(gate, at, { clock, headerBytesMax });
  if (!opened.ok) return opened;
  return ok({
    address: opened.value.address.replace("http://", ""),
    serve(app, as) {
      behind = (request, door) => enter(app, as, request, door);
    },
    async leave() {
      leaving.abort();
      if (served > 0) await clock.wait(leaveMsMax, left.signal);
    },
    async close() {
      leaving.abort();
      await opened.value.close();
    },
  });
}

function enter(
  app: Pick<App, "fetch">,
  { server, passes }: { readonly server: string; readonly passes: Passes },
  request: Request,
  door: Door,
): Response | Promise<Response> {
  const passed = passes.read(request.headers.get(passHeader), {
    method: request.method,
    path: pathOf(request),
    server,
  });
  // Who has no pass is told that one is needed, and nothing else.
  if (passed === undefined) return answer("refused", makeFailure("peer_unknown", {}));
  door.giveTime?.();
  return app.fetch(request, { ...door, door: passed.door, passed });
}

/** What a pass is good for, of an address. */
export function pathOf({ url }: Pick<Request, "url">): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

/** The word is for servers of ours, the problem for whoever else came here. */
function answer(word: PeerWord, failure: Failure): Response {
  const problem = problemOf(failure, { language: "en", requestId: "" });
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "x-content-type-options": "nosniff", [peerHeader]: word },
  });
}
