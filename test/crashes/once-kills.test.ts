import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { folderWith } from "../world/folder.ts";
import { must } from "../world/yard.ts";
import { startServer } from "./server-child.ts";

type Dies = "begun" | "done" | "never";
const start = (t: TestContext, data: string, dies: Dies) => startServer(t, "once-child.ts", { data, name: dies, dies });

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
      const first = await start(t, data, dies);
      const { id } = await must(first.client.call("createConversation", { body: { title: what } }));
      await must(first.client.upload(id, "a.txt", Buffer.from("first")));
      const headers = { "idempotency-key": "dies", "content-type": type };
      const send = (fetch: typeof first.fetch) =>
        fetch(`http://localhost/api/v1/conversations/${id}/${path}`, { method, headers, body });
      await assert.rejects(send(first.fetch), "nobody hears of it");
      await first.dead;

      const second = await start(t, data, "never");
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
