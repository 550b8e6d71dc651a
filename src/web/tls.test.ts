import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

// A site with a certificate of an authority that nobody knows but this test (`test/data/tls`, good until 2126).

const folder = join(import.meta.dirname, "../../test/data/tls");
const world = join(import.meta.dirname, "../../test/world/web.ts");

/** What a process asks, one address after the other, by both ways out; the site is the same under each name. */
const asking = (port: number) => `
  const { noteWeb } = await import(${JSON.stringify(world)});
  const { web } = noteWeb({ lookup: async () => ["93.184.215.14"], reach: () => ${port} });
  const { signal } = new AbortController();
  for (const url of ["https://site.example/", "https://other.example/"]) {
    const answer = await web.fetch({ url, signal });
    console.log(answer.ok ? answer.value.bytes.toString() : answer.failure.params.why);
    await web.fetchFor(url)(url).then(
      async (response) => console.log(await response.text()),
      (error) => console.log(error.cause.code),
    );
  }`;

test("a site by https is reached where its authority is known, by its own name and by no other [T7][T2]", async (t) => {
  const [key, cert] = ["site.key", "site.pem"].map((name) => readFileSync(join(folder, name), "utf8"));
  const heard: string[] = [];
  const server = createServer({ key, cert }, (request, response) => {
    heard.push(String(request.headers.host));
    response.end("well met");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const place = server.address();
  const port = typeof place === "object" && place !== null ? place.port : 0;
  const asked = async (env: object) => {
    const args = ["--input-type=module", "-e", asking(port)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...env } });
    return stdout.trim().split("\n");
  };
  const known = await asked({ NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") });
  assert.deepEqual(known, ["well met", "well met", "tls", "ETLS"]);
  assert.deepEqual(heard, ["site.example", "site.example"]);
  assert.deepEqual(await asked({}), ["tls", "ETLS", "tls", "ETLS"]);
});
