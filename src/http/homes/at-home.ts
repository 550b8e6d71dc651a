import { ok } from "../../base/result.ts";
import type { Homes } from "../../homes/homes.ts";
import { failure } from "../../protocol/failure.ts";
import { routes } from "../../protocol/routes.ts";
import type { App } from "../door.ts";
import type { Parts } from "../handler.ts";

type EngineHere = Parts["engine"];
type Whose = Pick<Parameters<EngineHere["remove"]>[0], "owner" | "id">;
type Cleaning = Pick<Parts, "workspaces" | "storage">;

/** What a server does for conversations that may be at home in another one. */
export function partsAtHome(parts: Cleaning & Pick<Parts, "engine">, homes: Homes, app: App) {
  return { engine: engineAtHome(parts.engine, homes, app), workspaces: workspacesAtHome(parts, app) };
}

/**
 * The engine of one server among several. What is made here is at home here before anything is said in it; what belongs
 * to another server is removed there.
 */
function engineAtHome(engine: EngineHere, homes: Homes, app: App): EngineHere {
  return {
    ...engine,
    async create(owner, wanted) {
      const made = await engine.create(owner, wanted);
      if (made.ok) await homes.homeOf(`c:${made.value.number}`);
      return made;
    },
    async branch(conversation, at, id) {
      const made = await engine.branch(conversation, at, id);
      if (made.ok) await homes.homeOf(`c:${made.value.conversation.number}`);
      return made;
    },
    async remove(conversation) {
      const { isHere } = await homes.homeOf(`c:${conversation.number}`);
      return isHere ? engine.remove(conversation) : removeElsewhere(app, conversation);
    },
  };
}

/** The workspaces of one server among several: what is at home elsewhere is cleaned up there, each by a request of its own. */
function workspacesAtHome({ workspaces, storage }: Cleaning, app: App): Parts["workspaces"] {
  return {
    ...workspaces,
    async clean(wanted) {
      let cleaned = await workspaces.clean(wanted);
      // After our own: two that cleaned up for each other meanwhile would wait for each other.
      for (const number of cleaned.elsewhere ?? []) {
        const row = await storage.conversationByNumber(number);
        const there = row && (await cleanElsewhere(app, row, wanted.unusedMs / dayMs));
        cleaned = { ...cleaned, ...sumOf(cleaned, there ?? nothing) };
      }
      return cleaned;
    },
  };
}

const dayMs = 86_400_000;
const nothing = { workspaces: 0, bytes: 0, skipped: 0 };

function sumOf(a: typeof nothing, b: typeof nothing): typeof nothing {
  return { workspaces: a.workspaces + b.workspaces, bytes: a.bytes + b.bytes, skipped: a.skipped + b.skipped };
}

/** A server that is away leaves its files as they are. */
async function cleanElsewhere(app: App, { owner, id }: Whose, days: number): Promise<typeof nothing> {
  const request = new Request("http://yard/api/v1/workspaces/clean", {
    method: "POST",
    headers: { "x-account-id": owner, "content-type": "application/json" },
    body: JSON.stringify({ days, conversation: id }),
  });
  const response = await app.fetch(request, { door: "process" });
  if (!response.ok) return { ...nothing, skipped: response.status === 404 ? 0 : 1 };
  return routes.cleanWorkspaces.answer.parse(await response.json());
}

const retryAfterSeconds = 3;

/** By the route that does it: it goes where the conversation is. */
async function removeElsewhere(app: App, { owner, id }: Whose) {
  const path = `/api/v1/conversations/${encodeURIComponent(id)}`;
  const request = new Request(`http://yard${path}`, { method: "DELETE", headers: { "x-account-id": owner } });
  const { status } = await app.fetch(request, { door: "process" });
  if (status === 204) return ok(undefined);
  return status === 404 ? failure("conversation_not_found", { id }) : failure("home_away", { retryAfterSeconds });
}
