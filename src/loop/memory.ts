import { secretIn } from "../approvals/approvals.ts";
import { derivedHex } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import { contextLimits } from "../protocol/context-routes.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Memory } from "../protocol/resources.ts";
import type { ConversationRow, MemoryRow } from "../storage/storage.ts";
import type { ToolMemory } from "../tools/tools.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

const idCharacters = 8;
const { memoriesMax } = contextLimits;

/** The memories of a user: listed and changed by the user, and added to by agents. */
export function openMemory(parts: Parts): Pick<Engine, "memory" | "addMemory" | "changeMemory" | "forgetMemory"> {
  const { storage, ids } = parts;
  return {
    memory: async (owner) => (await readMemory(parts, owner)).map(memoryOf),
    async addMemory(owner, fact) {
      const added = await add(parts, { owner, id: ids.hex(idCharacters), fact, conversation: undefined });
      return added.ok ? ok(memoryOf(added.value.row)) : added;
    },
    async changeMemory(owner, id, fact) {
      const row = (await readMemory(parts, owner)).find((entry) => entry.id === id);
      if (row === undefined) return failure("memory_not_found", { id });
      if (secretIn(fact) !== undefined) return failure("memory_secret", {});
      // In the user's words from now on; it keeps its place in the list.
      const changed = { ...row, fact: oneLine(fact), conversation: undefined };
      const stored = await storage.putMemory(changed);
      return stored.ok ? ok(memoryOf(changed)) : stored;
    },
    async forgetMemory(owner, id) {
      const dropped = await storage.dropMemory(owner, id);
      if (!dropped.ok) return dropped;
      return dropped.value ? ok(undefined) : failure("memory_not_found", { id });
    },
  };
}

/** As a tool of this conversation sees it. A call that is run again after a crash writes the same entry. */
export function toolMemory(parts: Parts, { owner, id }: ConversationRow, key: string): ToolMemory {
  return {
    memories: async () => (await readMemory(parts, owner)).map(({ fact }) => fact).toReversed(),
    async add(fact) {
      const entry = { owner, id: derivedHex(idCharacters, "memory", key), fact, conversation: id };
      const added = await add(parts, entry);
      return added.ok ? ok({ count: added.value.count, isNew: added.value.isNew }) : added;
    },
  };
}

/** Oldest first. */
export async function readMemory({ storage }: Pick<Parts, "storage">, owner: OwnerId): Promise<MemoryRow[]> {
  return storage.listMemory(owner, memoriesMax);
}

type Added = { readonly row: MemoryRow; readonly count: number; readonly isNew: boolean };

/** The same words again are the same memory. */
async function add(parts: Parts, entry: Omit<MemoryRow, "at">): Promise<Result<Added, Failure>> {
  const fact = oneLine(entry.fact);
  if (secretIn(fact) !== undefined) return failure("memory_secret", {});
  const rows = await readMemory(parts, entry.owner);
  const same = rows.find((row) => row.id === entry.id || row.fact.toLowerCase() === fact.toLowerCase());
  if (same !== undefined) return ok({ row: same, count: rows.length, isNew: same.id === entry.id });
  if (rows.length >= memoriesMax) return failure("memory_full", { max: memoriesMax });
  const row = { ...entry, fact, at: parts.clock.now() };
  const stored = await parts.storage.putMemory(row);
  return stored.ok ? ok({ row, count: rows.length + 1, isNew: true }) : stored;
}

/** A memory is a line of a list, for people and for models. */
function oneLine(fact: string): string {
  return fact.toWellFormed().replaceAll(/\s+/g, " ").trim();
}

function memoryOf({ id, fact, at, conversation }: MemoryRow): Memory {
  return { id, fact, at, conversation: conversation ?? null };
}
