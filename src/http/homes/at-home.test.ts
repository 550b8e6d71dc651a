import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { must, startYard } from "../../../test/world/yard.ts";
import { type HomeKey, homesHere } from "../../homes/homes.ts";
import { OwnerId } from "../../protocol/ids.ts";
import type { Storage } from "../../storage/storage.ts";
import type { App, Env } from "../door.ts";
import { partsAtHome } from "./at-home.ts";

const ann = OwnerId.parse("ann");
const dayMs = 86_400_000;

/** A server of several: what its door is asked for conversations of others, and what it took for its own. */
async function serverOf(answer: (id: string) => Response) {
  const clock = manualClock();
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
  const taken: HomeKey[] = [];
  const others = new Set<HomeKey>();
  const homes: typeof homesHere = {
    ...{ ...homesHere, isShared: true },
    async homeOf(key) {
      // As if a database were asked.
      await new Promise((resolve) => setImmediate(resolve));
      taken.push(key);
      return others.has(key) ? { isHere: false, server: "other", address: "" } : { isHere: true };
    },
    holds: async (key) => !others.has(key),
  };
  const stored: Storage[] = [];
  /** Of these nothing is known any more when they are asked for. */
  const lost = new Set<number>();
  const yard = await startYard({
    ...{ homes, clock },
    wrapStorage(real) {
      const storage: Storage = {
        ...real,
        conversationByNumber: async (number) => (lost.has(number) ? undefined : real.conversationByNumber(number)),
      };
      stored.push(storage);
      return storage;
    },
  });
  const [storage = assert.fail()] = stored;
  const { engine, workspaces } = yard;
  const parts = partsAtHome({ engine, workspaces, storage }, homes, app);
  const isThere = async (id: string) => (await yard.log.find(ann, id)).ok;
  /** A conversation with a file, of this server or of another. */
  const make = async (id: string, where: "here" | "elsewhere") => {
    const row = await yard.start(id, ann);
    await must(engine.upload(row, { name: "a.txt", keep: false, chunks: new Blob(["of Ann"]).stream() }));
    if (where === "elsewhere") others.add(`c:${row.number}`);
    return row;
  };
  return { parts, clock, asked, make, taken, lost, isThere, [Symbol.asyncDispose]: yard[Symbol.asyncDispose] };
}

test("cleaning up counts what other servers moved and what none could, and asks each for its own conversations [N1][W10]", async () => {
  const answers: Record<string, () => Response> = {
    there: () => Response.json({ workspaces: 1, bytes: 50, skipped: 2, days: 3 }),
    away: () => new Response(null, { status: 503 }),
    gone: () => new Response(null, { status: 404 }),
  };
  await using server = await serverOf((id) => answers[id]?.() ?? new Response(null, { status: 500 }));
  const { parts, clock, make, lost } = server;
  await make("own", "here");
  const numbers = [];
  for (const id of ["there", "away", "gone", "lost"]) numbers.push((await make(id, "elsewhere")).number);
  lost.add(numbers[3] ?? 0);
  clock.move(3 * dayMs + 1);
  const { elsewhere, ...cleaned } = await parts.workspaces.clean({ unusedMs: 3 * dayMs });
  assert.deepEqual([cleaned, new Set(elsewhere)], [{ workspaces: 2, bytes: 56, skipped: 3 }, new Set(numbers)]);
  const each = ["POST", "/api/v1/workspaces/clean", "ann", "process", 3];
  assert.deepEqual(server.asked, [each, each, each]);
});

test("what is made here is at home here before anybody is told, and what is another server's is removed there [N1][S6]", async () => {
  const answers: Record<string, number> = { there: 204, gone: 404, away: 503 };
  await using server = await serverOf((id) => new Response(null, { status: answers[id] ?? 500 }));
  const { parts, make, taken, isThere } = server;
  taken.length = 0;
  const made = await must(parts.engine.create(ann, {}));
  assert.deepEqual(taken.splice(0), [`c:${made.number}`]);
  const branch = await must(parts.engine.branch(made));
  assert.deepEqual(taken.splice(0), [`c:${branch.conversation.number}`]);
  const ends = [];
  for (const id of ["own", "there", "gone", "away"]) {
    const end = await parts.engine.remove(await make(id, id === "own" ? "here" : "elsewhere"));
    ends.push([id, end.ok ? "removed" : end.failure.code, await isThere(id)]);
  }
  assert.deepEqual(ends, [
    ["own", "removed", false],
    ["there", "removed", true],
    ["gone", "conversation_not_found", true],
    ["away", "home_away", true],
  ]);
  const path = "/api/v1/conversations/";
  assert.deepEqual(
    server.asked,
    ["there", "gone", "away"].map((id) => ["DELETE", `${path}${id}`, "ann", "process", undefined]),
    "the others are the other server's",
  );
});
