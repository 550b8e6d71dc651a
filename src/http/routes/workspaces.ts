import { ok } from "../../base/result.ts";
import { localOwner } from "../../protocol/ids.ts";
import type { Handlers, Parts } from "../handler.ts";

const dayMs = 86_400_000;

type Names = "cleanWorkspaces" | "listTrash" | "restoreTrash";

export function workspaceHandlers({ workspaces, documents, log, cleanAfterMs }: Parts): Pick<Handlers, Names> {
  return {
    async cleanWorkspaces({ owner, isLocal, body }) {
      const unusedMs = body.days === undefined ? cleanAfterMs() : body.days * dayMs;
      // The operator cleans up after everybody; all others move only what is their own.
      const whose = isLocal && owner === localOwner ? {} : { owner };
      const only = body.conversation === undefined ? ok(undefined) : await log.find(owner, body.conversation);
      if (!only.ok) return only;
      const cleaned = await workspaces.clean({ unusedMs, ...whose, conversation: only.value?.number });
      await documents.tidy();
      const { workspaces: count, bytes, skipped } = cleaned;
      return ok({ workspaces: count, bytes, skipped, days: unusedMs / dayMs });
    },
    async listTrash({ owner }) {
      return ok({ items: await workspaces.trash(owner) });
    },
    async restoreTrash({ owner, params }) {
      const restored = await workspaces.restore(owner, params.trash);
      if (!restored.ok) return restored;
      return ok({ ...restored.value, beside: [...restored.value.beside] });
    },
  };
}
