import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { endlessClock } from "../../../test/world/manual-clock.ts";
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
  const ask = (authority?: string) => {
    const address = { server: `http://127.0.0.1:${port}/prefix//`, tokenFile, caFile: authority };
    return openApi({ address, clock: endlessClock }).ask("GET", "/pods");
  };
  for (const token of ["one\n", " two "]) {
    writeFileSync(tokenFile, token);
    assert.deepEqual(await ask(), { ok: true, value: {} });
  }
  assert.deepEqual(shown, ["/prefix/pods Bearer one", "/prefix/pods Bearer two"]);
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
