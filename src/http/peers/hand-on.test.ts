import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem } from "../../protocol/resources.ts";
import { bytesType, dyingPeer, handingOnTo } from "./handing-on.testing.ts";
import type { PeerWord } from "./peer-words.ts";

test("what may have been done at a server that died is not done a second time: the caller is told when to come again [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const ask = handingOnTo(t, peer.address);
  const underKey = { "idempotency-key": "the-one" };
  const harmless = [
    { method: "GET" },
    { method: "OPTIONS" },
    { method: "PUT", body: "x" },
    { method: "POST", body: "x", headers: underKey },
    { method: "DELETE", headers: underKey },
  ];
  for (const sent of harmless) {
    peer.says("dies");
    const answer = await ask(sent);
    assert.deepEqual([answer.status, await answer.text()], [200, "done"], sent.method);
    assert.deepEqual(peer.seen.splice(0), [sent.method, sent.method]);
  }
  for (const sent of [{ method: "POST", body: "x" }, { method: "PATCH", body: "x" }, { method: "DELETE" }]) {
    peer.says("dies");
    const answer = await ask(sent);
    assert.deepEqual(peer.seen.splice(0), [sent.method]);
    const { code } = Problem.parse(await answer.json());
    assert.deepEqual([answer.status, code, answer.headers.get("retry-after")], [503, "home_away", "3"], sent.method);
  }
});

test("a file that is handed on as it comes, and not taken there, is refused with when to come again, and never stored empty [N1][L6]", async (t) => {
  const peer = await dyingPeer(t);
  const ask = handingOnTo(t, peer.address);
  for (const word of ["elsewhere", "not now"] as const) {
    peer.says(word);
    const answer = await ask({ method: "PUT", body: "all of it", headers: { "content-type": bytesType } });
    assert.deepEqual(peer.seen.splice(0), ["PUT"], word);
    const { code } = Problem.parse(await answer.json());
    assert.deepEqual([answer.status, code, answer.headers.get("retry-after")], [503, "home_away", "3"], word);
  }
});

test("a server that says again and again that it is not the home is asked three times, one that does not know us once [N1][P4]", async (t) => {
  const peer = await dyingPeer(t);
  const lines: string[] = [];
  const ask = handingOnTo(t, peer.address, { logger: (line) => lines.push(line) });
  const outcome = async (...words: PeerWord[]) => {
    peer.says(...words);
    const { status } = await ask({ method: "GET" });
    return [status, peer.seen.splice(0).length];
  };
  assert.deepEqual(await outcome("elsewhere", "elsewhere"), [200, 3]);
  assert.deepEqual(await outcome("elsewhere", "elsewhere", "elsewhere"), [503, 3]);
  assert.deepEqual(await outcome("not now", "not now", "not now", "not now"), [200, 5], "it opens in a moment");
  assert.deepEqual(lines, []);
  assert.deepEqual(await outcome("refused"), [503, 1]);
  const [line = "", ...others] = lines;
  assert.deepEqual([/^server there at 127\.0\.0\.1:\d+ .*AGENTYARD_KEY or the clocks/.test(line), others], [true, []]);
});

test("a request is handed on with its id, its length and its place in the trace, and every cookie of the answer comes back [N1][C6]", async (t) => {
  const peer = await dyingPeer(t);
  const place = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", flags: 1, state: undefined };
  const ask = handingOnTo(t, peer.address, { tracer: { current: () => place } });
  const own = { te: "trailers", "proxy-authorization": "secret", "x-mine": "kept", "accept-language": "zh" };
  const answer = await ask({ method: "POST", body: "12345", headers: own });
  assert.deepEqual(answer.headers.getSetCookie(), ["a=1; Path=/", "b=2; Path=/"]);
  const { te, "proxy-authorization": proxy, "x-mine": mine, "accept-language": language, ...told } = peer.headers();
  assert.deepEqual([te, proxy, mine, language], [undefined, undefined, "kept", "zh"]);
  assert.deepEqual(
    [told["x-request-id"], told["content-length"], told.traceparent],
    ["mine", "5", `00-${place.traceId}-${place.spanId}-01`],
  );
});
