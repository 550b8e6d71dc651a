import { parsedJson } from "../base/json.ts";
import { ok, type Result } from "../base/result.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { BoxToolRow, StorageFailure, ToolboxRow, ToolboxStorage } from "../storage/storage.ts";
import { bytesIn } from "./new-tools.ts";
import { type Box, BoxBody, type BoxTool, ToolBody } from "./records.ts";

/** A box with its tools, in the order they came. */
export type Held = { readonly box: Box; readonly tools: ReadonlyMap<string, BoxTool> };

/**
 * All boxes, read once at the start: a prompt waits for nothing. What is in memory is what is stored: each change is stored
 * first, and what another server changes is read again when it tells of it.
 */
export type Boxes = {
  /** Oldest first. */
  all(): readonly Held[];
  find(id: string): Held | undefined;
  /** What all tools of a user take together. */
  bytesOf(owner: OwnerId): number;
  /** Another server has changed something. */
  readAgain(): Promise<void>;
  /** Counts the changes. */
  version(): number;
  put(box: Box, tools?: readonly BoxTool[]): Promise<Result<void, StorageFailure>>;
  remove(box: Box): Promise<Result<boolean, StorageFailure>>;
  removeTools(box: Box, ids: readonly string[]): Promise<Result<void, StorageFailure>>;
};

export type BoxesParts = {
  readonly storage: ToolboxStorage;
  /** Hears of a record that cannot be read: it is left out, and stays where it is. */
  readonly onBroken: (what: { readonly box: string; readonly tool?: string }) => void;
};

/** More than an installation of one machine has. */
const boxesMax = 10_000;
const toolsMax = 200_000;

export async function openBoxes({ storage, onBroken }: BoxesParts): Promise<Boxes> {
  const held = await readAll(storage, onBroken);
  let version = 0;
  let listed: readonly Held[] | undefined;
  const change = (id: string, now: Held | undefined) => {
    if (now === undefined) held.delete(id);
    else held.set(id, now);
    version += 1;
    listed = undefined;
  };
  return {
    all: () => (listed ??= [...held.values()]),
    find: (id) => held.get(id),
    bytesOf: (owner) =>
      [...held.values()].reduce((sum, { box, tools }) => sum + (box.owner === owner ? bytesIn(tools.values()) : 0), 0),
    version: () => version,
    async readAgain() {
      const now = await readAll(storage, onBroken);
      for (const id of [...held.keys()].filter((id) => !now.has(id))) change(id, undefined);
      // In the order in which they were made.
      held.clear();
      for (const [id, box] of now) change(id, box);
    },
    async put(box, tools = []) {
      const stored = await storage.putToolbox(boxRow(box), tools.map(toolRow));
      if (!stored.ok) return stored;
      const before = held.get(box.id)?.tools ?? new Map();
      change(box.id, { box, tools: new Map([...before, ...tools.map((tool) => [tool.id, tool] as const)]) });
      return ok(undefined);
    },
    async remove({ owner, id }) {
      const dropped = await storage.dropToolbox(owner, id);
      if (dropped.ok) change(id, undefined);
      return dropped;
    },
    async removeTools(box, ids) {
      const dropped = await storage.dropBoxTools(box.owner, box.id, ids);
      const before = held.get(box.id);
      if (dropped.ok && before !== undefined)
        change(box.id, { ...before, tools: new Map([...before.tools].filter(([id]) => !ids.includes(id))) });
      return dropped;
    },
  };
}

async function readAll(storage: ToolboxStorage, onBroken: BoxesParts["onBroken"]): Promise<Map<string, Held>> {
  const rows = await storage.listToolboxes(boxesMax);
  const tools = Map.groupBy(rows.length === 0 ? [] : await storage.listBoxTools(toolsMax), ({ box }) => box);
  const held = new Map<string, Held>();
  for (const { body, ...row } of rows) {
    const box = BoxBody.safeParse(parsedJson(body));
    if (!box.success) {
      onBroken({ box: row.id });
      continue;
    }
    const own: BoxTool[] = [];
    for (const found of tools.get(row.id) ?? []) {
      const tool = readTool(found, row.owner);
      if (tool === undefined) onBroken({ box: row.id, tool: found.id });
      else own.push(tool);
    }
    held.set(row.id, { box: { ...row, ...box.data }, tools: new Map(own.map((tool) => [tool.id, tool])) });
  }
  return held;
}

function readTool({ body, ...row }: BoxToolRow, owner: OwnerId): BoxTool | undefined {
  const tool = ToolBody.safeParse(parsedJson(body));
  if (!tool.success || row.owner !== owner) return undefined;
  return { ...row, ...tool.data, sizeBytes: tool.data.sizeBytes ?? Buffer.byteLength(body) };
}

function boxRow({ id, owner, createdAt, updatedAt, ...body }: Box): ToolboxRow {
  return { id, owner, createdAt, updatedAt, body: JSON.stringify(body) };
}

function toolRow({ id, box, owner, createdAt, updatedAt, ...body }: BoxTool): BoxToolRow {
  return { id, box, owner, createdAt, updatedAt, body: JSON.stringify(body) };
}
