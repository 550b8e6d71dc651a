import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { openDatabase } from "../../test/world/database.ts";
import { folderWith } from "../../test/world/folder.ts";
import { manualClock } from "../../test/world/manual-clock.ts";
import { quietLogger, testLimits } from "../../test/world/workspace.ts";
import { systemIds } from "../base/ids.ts";
import { ConversationId, OwnerId } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { agentRow } from "./assignments.ts";
import { openBooks } from "./books.ts";
import { openPlaces } from "./folders.ts";
import { openInUse } from "./in-use.ts";
import { layoutOf } from "./layout.ts";
import { openPlots } from "./plots.ts";
import type { TrashParts } from "./trash.ts";
import { openViews } from "./views.ts";

export const alice = OwnerId.parse("alice");

/**
 * All that cleaning up works with, each part the real one, over a database and folders of the test's: those of a
 * conversation `c` of alice's and of a task `task` in it. `told` is what storage was asked to store, and did.
 */
export async function trashParts(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
  changed: (real: Storage) => Partial<Storage> = () => ({}),
) {
  const clock = manualClock();
  const [base, real] = [folderWith(t, files), openDatabase(t, clock)];
  const [told, logged]: [unknown[], string[]] = [[], []];
  const storage: Storage = { ...real, ...noting(real, told), ...changed(real) };
  const [layout, books, inUse] = [layoutOf(base), openBooks(), openInUse()];
  const common = { clock, ids: systemIds, logger: quietLogger(logged), limits: testLimits, layout, books };
  const places = openPlaces({ ...common, storage: real });
  const views = openViews({ ...common, stagingFolder: layout.stagingFolder, places, inUse });
  const parts: TrashParts = {
    ...{ ...common, storage, inUse, plots: openPlots({ ...common, images: undefined }), filesOf: views.unnoticed },
    ...{ isHere: async () => true, isClosing: () => false },
  };
  const made = await real.createConversation({ owner: alice, id: ConversationId.parse("c"), at: 0, events: [] });
  assert.ok(made.ok);
  const { number } = made.value;
  await real.append({ number, events: [], with: { agents: [agentRow({ agent: "task", parent: "root" })] } });
  await real.workspaceOf(number, { folder: "workspace/c", otherFolder: "workspace/d", at: 0 });
  const taskRow = async () => (await real.agentsOf(number))[0]?.workspace ?? assert.fail();
  return { parts, base, clock, real, told, logged, number, taskRow, task: views.ofTask(await taskRow()) };
}

function noting(real: Storage, told: unknown[]): Partial<Storage> {
  return {
    updateWorkspace(folder, set) {
      told.push([folder, set]);
      return real.updateWorkspace(folder, set);
    },
    putTrash(row) {
      told.push(["put", row.id]);
      return real.putTrash(row);
    },
    dropTrash(id) {
      told.push(["dropped", id]);
      return real.dropTrash(id);
    },
  };
}
