import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { socketFetch } from "../../src/client/socket-fetch.ts";
import { folderWith } from "../world/folder.ts";
import { must } from "../world/yard.ts";

const compileCache = join(tmpdir(), "agentyard-crash-compiled");

async function startServer(t: TestContext, data: string, dies: "begun" | "done" | "never") {
  const socketPath = join(data, `${dies}.sock`);
  const parameters = JSON.stringify({ data, socketPath, dies });
  const child = spawn(process.execPath, [join(import.meta.dirname, "once-child.ts"), parameters], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  });
  t.after(() => child.kill("SIGKILL"));
  const [said] = await once(child.stdout, "data");
  assert.equal(String(said), "ready\n");
  const fetch = socketFetch(socketPath, systemClock);
  return { fetch, client: createClient({ fetch }), dead: once(child, "close") };
}

/** A file has no id. */
const Made = z.looseObject({ id: z.string().default("") });

/** A branch with a file, and an upload that takes a free name: what is easily there twice. */
const asked = {
  branch: { method: "POST", path: "branch", type: "application/json", body: "{}" },
  "kept upload": {
    method: "PUT",
    path: "files/uploads/a.txt?keep=true",
    type: "application/octet-stream",
    body: "again",
  },
} as const;

for (const [what, { method, path, type, body }] of Object.entries(asked))
  test(`killed before or after a ${what} is made, the server makes it once [C6][L2]`, async (t) => {
    for (const dies of ["begun", "done"] as const) {
      const data = folderWith(t, {});
      const first = await startServer(t, data, dies);
      const { id } = await must(first.client.call("createConversation", { body: { title: what } }));
      await must(first.client.upload(id, "a.txt", Buffer.from("first")));
      const headers = { "idempotency-key": "dies", "content-type": type };
      const send = (fetch: typeof first.fetch) =>
        fetch(`http://localhost/api/v1/conversations/${id}/${path}`, { method, headers, body });
      await assert.rejects(send(first.fetch), "nobody hears of it");
      await first.dead;

      const second = await startServer(t, data, "never");
      const answer = await send(second.fetch);
      const told = Made.parse(await answer.json());
      assert.equal(answer.status, 201, JSON.stringify(told));
      const again = await send(second.fetch);
      assert.deepEqual([again.headers.get("idempotency-replayed"), Made.parse(await again.json())], ["true", told]);
      const { items: all } = await must(second.client.call("listConversations", {}));
      const where = what === "branch" ? told.id : id;
      const { items } = await must(
        second.client.call("listFiles", { params: { id: where }, query: { path: "uploads" } }),
      );
      assert.deepEqual(
        { conversations: all.length, files: items.map(({ name }) => name) },
        what === "branch"
          ? { conversations: 2, files: ["a.txt"] }
          : { conversations: 1, files: ["a (2).txt", "a.txt"] },
        dies,
      );
    }
  });
