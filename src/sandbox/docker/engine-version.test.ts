import assert from "node:assert/strict";
import { test } from "node:test";
import { siteServer } from "../../../test/world/web.ts";
import { systemClock } from "../../base/clock.ts";
import { openDockerEngine } from "./engine.ts";

test("who answers and names no version of the API is no Docker engine, and is asked for nothing [X3]", async (t) => {
  const asked: string[] = [];
  let version: string | undefined;
  const port = await siteServer(t, ({ url = "" }, response) => {
    asked.push(url);
    response.writeHead(200, version === undefined ? {} : { "Api-Version": version }).end("{}");
  });
  const engine = openDockerEngine({ address: { host: "127.0.0.1", port }, clock: systemClock });
  const none = { ok: false, failure: { why: "broken_off", status: 0, said: "no Docker engine" } };
  for (version of [undefined, "", "1", "1.41/../x", "v1.41"])
    assert.deepEqual([await engine.ask("GET", "/info"), await engine.attach("c")], [none, none]);
  assert.deepEqual(asked, Array<string>(10).fill("/_ping"));
  version = "1.52";
  assert.deepEqual(await engine.ask("GET", "/info"), { ok: true, value: {} });
  assert.equal(asked.at(-1), "/v1.52/info");
});
