import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { openDatabase } from "../../../test/world/database.ts";
import { ConversationId, localOwner } from "../../protocol/ids.ts";
import { type RouteName, routes } from "../../protocol/routes.ts";
import type { Storage } from "../../storage/storage.ts";
import { routeHomes } from "./route-homes.ts";

/** Whether somebody who calls it means one conversation, by what the route takes. */
function namesConversation(name: RouteName): boolean {
  const { path, query, body } = routes[name];
  const fields = [query, body].flatMap((part) =>
    Object.keys(z.toJSONSchema(part, { unrepresentable: "any", io: "input" }).properties ?? {}),
  );
  return (
    /\/conversations?\/(session\/)?\{id\}/.test(path) || fields.some((field) => /^conversation(_id)?$/.test(field))
  );
}

/** Whoever asks belongs to nobody else, and names one conversation wherever a route takes its name. */
async function homeOf(storage: Storage, name: RouteName): Promise<unknown> {
  const named = { conversation: "c", conversation_id: "c" };
  const asked = { owner: localOwner, caller: { signedIn: undefined }, header: () => undefined };
  const call = { ...asked, params: { id: "c", path: "a.txt" }, query: named, body: named };
  return Reflect.apply(routeHomes[name], undefined, [{ storage }, call]);
}

test("every route that names a conversation is served where that is at home [N1]", async (t) => {
  const storage = openDatabase(t);
  const made = await storage.createConversation({
    owner: localOwner,
    id: ConversationId.parse("c"),
    at: 0,
    events: [],
  });
  assert.ok(made.ok);
  const names = Object.keys(routes).filter((name): name is RouteName => Object.hasOwn(routes, name));
  const naming = names.filter(namesConversation);
  assert.ok(naming.length > 60, `${naming.length} routes name a conversation`);
  const homes = await Promise.all(naming.map((name) => homeOf(storage, name)));
  assert.deepEqual(
    naming.filter((_, index) => homes[index] !== `c:${made.value.number}`),
    [],
  );
});
