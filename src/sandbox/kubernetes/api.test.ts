import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { endlessClock, manualClock } from "../../../test/world/manual-clock.ts";
import { playApi } from "../../../test/world/played-api.ts";
import { openApi } from "./api.ts";

test("a cluster is shown the token that the file holds now, and without one, or without its authority, is not asked [X3][Q1]", async (t) => {
  const own = mkdtempSync(join(tmpdir(), "agentyard-account-"));
  t.after(() => rmSync(own, { recursive: true, force: true }));
  const shown: string[] = [];
  const server = createServer(({ url, headers }, response) => {
    shown.push(`${url} ${headers.authorization}`);
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const bound = server.address();
  const port = typeof bound === "object" ? bound?.port : 0;
  const [tokenFile, caFile] = [join(own, "token"), join(own, "ca.crt")];
  const peers = new Set<string | undefined>();
  const ask = (authority?: string) => {
    const address = { server: `http://127.0.0.1:${port}/prefix//`, tokenFile, caFile: authority };
    const api = openApi({ address, clock: endlessClock });
    assert.equal(api.peer(), undefined);
    return api.ask("GET", "/pods").finally(() => peers.add(api.peer()));
  };
  for (const token of ["one\n", " two "]) {
    writeFileSync(tokenFile, token);
    assert.deepEqual(await ask(), { ok: true, value: {} });
  }
  assert.deepEqual(shown, ["/prefix/pods Bearer one", "/prefix/pods Bearer two"]);
  // Who answered is known, for whoever tries whether a sandbox can reach it.
  assert.deepEqual([...peers], [`127.0.0.1:${port}`]);
  assert.partialDeepStrictEqual(await ask(caFile), {
    ...{ ok: false, failure: { why: "unreachable", said: `${caFile}: ENOENT` } },
  });
  for (const none of ["", "two\nlines", "no ascii: é"]) {
    writeFileSync(tokenFile, none);
    assert.partialDeepStrictEqual(await ask(), { failure: { why: "unreachable", said: `${tokenFile}: no token` } });
  }
  assert.equal(shown.length, 2);
});

test("a watch is over when the cluster refuses it, sends a line without an end, or nobody wants it any more [X3][X4]", async (t) => {
  const { address } = await playApi(t, {
    answer({ url = "" }, response) {
      response.writeHead(url === "/refused" ? 410 : 200);
      if (url === "/refused") response.end('{"a":1}\n');
      if (url === "/long") response.write(`{"a":1}\n\n"${"x".repeat(4 * 1024 * 1024)}`);
      if (url === "/quiet") response.write('{"a":1}\n');
    },
  });
  const api = openApi({ address, clock: endlessClock });
  const stop = new AbortController();
  const watch = async (path: string, onLine = () => {}) => {
    const lines: unknown[] = [];
    const take = (line: unknown) => {
      lines.push(line);
      onLine();
    };
    await api.watch(path, take, stop.signal);
    return lines;
  };
  assert.deepEqual(await watch("/refused"), []);
  assert.deepEqual(await watch("/long"), [{ a: 1 }]);
  assert.deepEqual(await watch("/quiet", () => stop.abort()), [{ a: 1 }]);
});

test("a cluster that does not answer is given up after thirty seconds, however it is asked; one that is watched may be silent for as long as it likes [X3]", async (t) => {
  const watchers: ServerResponse[] = [];
  const { address, asked } = await playApi(t, {
    answer({ url = "" }, response) {
      if (url !== "/quiet") return;
      watchers.push(response.writeHead(200));
      response.flushHeaders();
    },
  });
  const clock = manualClock();
  const api = openApi({ address, clock });
  const late = { ok: false, failure: { why: "late", status: 0, said: "" } };
  const takesAll = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    void work.then(() => (isOver = true));
    clock.move(29_999);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    clock.move(1);
    return work;
  };
  const stop = new AbortController();
  assert.deepEqual(await takesAll(api.ask("GET", "/pods")), late);
  assert.deepEqual(await takesAll(api.upgrade("/pods/one/attach", {})), late);
  await takesAll(api.watch("/silent", () => {}, stop.signal));
  const lines: unknown[] = [];
  const watched = api.watch("/quiet", (line) => lines.push(line), stop.signal);
  await until("it is watched", () => watchers.length === 1);
  watchers[0]?.write("1\n");
  await until("it is heard", () => lines.length === 1);
  clock.move(300_000);
  watchers[0]?.write("2\n");
  await until("it is heard", () => lines.length === 2);
  stop.abort();
  await watched;
  assert.deepEqual([lines, clock.timers(), asked.includes("GET /quiet")], [[1, 2], 0, true]);
});
