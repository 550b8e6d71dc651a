import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Hono } from "hono";
import { openDatabase } from "../../../test/world/database.ts";
import { ok } from "../../base/result.ts";
import { type HomeKey, homesHere } from "../../homes/homes.ts";
import { ConversationId, OwnerId } from "../../protocol/ids.ts";
import type { App, Env } from "../door.ts";
import type { Parts } from "../handler.ts";
import { partsAtHome } from "./at-home.ts";

const ann = OwnerId.parse("ann");
const dayMs = 86_400_000;

/** A server of several: what its door is asked for conversations of others, and what it took for its own. */
async function serverOf(t: TestContext, answer: (id: string) => Response) {
  const storage = openDatabase(t);
  const asked: unknown[] = [];
  const app: App = new Hono<Env>();
  app.all("*", async (c) => {
    const { conversation, days }: { conversation?: string; days?: number } =
      c.req.method === "POST" ? await c.req.json() : {};
    const { pathname } = new URL(c.req.url);
    const id = conversation ?? pathname.split("/").at(-1) ?? "";
    asked.push([c.req.method, pathname, c.req.header("x-account-id"), c.env.door, days]);
    return answer(id);
  });
  const make = async (id: string) => {
    const made = await storage.createConversation({ owner: ann, id: ConversationId.parse(id), at: 0, events: [] });
    assert.ok(made.ok);
    return made.value;
  };
  const taken: HomeKey[] = [];
  const here = new Set<HomeKey>();
  const homes: typeof homesHere = {
    ...homesHere,
    async homeOf(key) {
      // As if a database were asked.
      await new Promise((resolve) => setImmediate(resolve));
      taken.push(key);
      return here.has(key) ? { isHere: true } : { isHere: false, server: "other", address: "" };
    },
  };
  return { storage, asked, app, make, taken, here, homes };
}

test("cleaning up counts what other servers moved and what none could, and asks each for its own conversations [N1][W10]", async (t) => {
  const answers: Record<string, () => Response> = {
    there: () => Response.json({ workspaces: 1, bytes: 50, skipped: 2, days: 3 }),
    away: () => new Response(null, { status: 503 }),
    gone: () => new Response(null, { status: 404 }),
  };
  const server = await serverOf(t, (id) => answers[id]?.() ?? new Response(null, { status: 500 }));
  const numbers = [];
  for (const id of ["there", "away", "gone"]) numbers.push((await server.make(id)).number);
  const own = { workspaces: 4, bytes: 300, skipped: 1, elsewhere: [...numbers, 9_999] };
  const workspaces = { clean: async () => own } as unknown as Parts["workspaces"];
  const engine = {} as Parts["engine"];
  const parts = partsAtHome({ ...server, engine, workspaces }, server.homes, server.app);
  const cleaned = await parts.workspaces.clean({ unusedMs: 3 * dayMs });
  assert.deepEqual(cleaned, { ...own, workspaces: 5, bytes: 350, skipped: 4 });
  const each = ["POST", "/api/v1/workspaces/clean", "ann", "process", 3];
  assert.deepEqual(server.asked, [each, each, each]);
});

test("what is made here is at home here before anybody is told, and what is another server's is removed there [N1][S6]", async (t) => {
  const answers: Record<string, number> = { "a%20b": 204, gone: 404, away: 503 };
  const server = await serverOf(t, (id) => new Response(null, { status: answers[id] ?? 500 }));
  const removed: string[] = [];
  const row = (id: string, number: number) => ({ owner: ann, id, number });
  const engine = {
    create: async () => ok(row("new", 1)),
    branch: async () => ok({ conversation: row("branch", 2) }),
    async remove({ id }: { readonly id: string }) {
      removed.push(id);
      return ok(undefined);
    },
  } as unknown as Parts["engine"];
  const parts = partsAtHome({ ...server, engine, workspaces: {} as Parts["workspaces"] }, server.homes, server.app);
  await parts.engine.create(ann, {});
  assert.deepEqual(server.taken.splice(0), ["c:1"]);
  await parts.engine.branch(row("new", 1) as never, 1);
  assert.deepEqual(server.taken.splice(0), ["c:2"]);
  server.here.add("c:3");
  const ends = [];
  for (const [index, id] of ["own", "a b", "gone", "away"].entries()) {
    const end = await parts.engine.remove(row(id, index + 3) as never);
    ends.push(end.ok ? "removed" : end.failure.code);
  }
  assert.deepEqual(ends, ["removed", "removed", "conversation_not_found", "home_away"]);
  assert.deepEqual(removed, ["own"], "the others are the other server's");
  const path = "/api/v1/conversations/";
  assert.deepEqual(
    server.asked,
    ["a%20b", "gone", "away"].map((id) => ["DELETE", `${path}${id}`, "ann", "process", undefined]),
  );
});
