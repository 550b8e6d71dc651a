import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { loadConfig } from "../../src/config/config.ts";
import { type Documents, openDocuments } from "../../src/documents/documents.ts";
import { openLogs } from "../../src/observe/observe.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import { openSearch } from "../../src/search/search.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import type { ConversationRow, Storage } from "../../src/storage/storage.ts";
import { openWorkspaces, type Workspace, type Workspaces } from "../../src/workspace/workspace.ts";
import { must } from "../must.ts";

/** The parts of a yard that deal with files, as the product wires them, around one conversation. */
export type World = {
  readonly storage: Storage;
  readonly conversation: ConversationRow;
  readonly workspace: Workspace;
  readonly documents: Documents;
  /** Where the conversation's files lie on this machine, for those who come from outside. */
  readonly outside: string;
  /** A process that has looked at nothing yet. */
  openAnew(): Workspaces;
  close(): Promise<void>;
};

export async function openWorld(folder: string): Promise<World> {
  const [clock, ids] = [systemClock, systemIds];
  const places = { cwd: folder, homeDir: folder, programDir: folder };
  const config = must(await loadConfig({ env: { AGENTYARD_DATA: folder }, flags: {}, ...places }));
  const logs = { dir: join(folder, "logs"), level: "warn", startId: "bench", pid: process.pid, secrets: [] } as const;
  const logger = openLogs({ ...logs, clock, onOff: () => {} });
  const storage = must(openSqlite({ path: config.paths.sessionDbPath, clock }));
  const id = ConversationId.parse("bench");
  const conversation = must(await storage.createConversation({ owner: localOwner, id, at: clock.now(), events: [] }));
  // The bench brings more files than a user may have.
  const limits = { ...config.workspace.limits, filesMax: 1_000_000, bytesMax: 2 ** 40 };
  const opened: Workspaces[] = [];
  const openAnew = () => {
    const workspaces = openWorkspaces({ dataDir: config.paths.dataDir, storage, clock, ids, logger, limits });
    opened.push(workspaces);
    return workspaces;
  };
  const workspaces = openAnew();
  must(await workspaces.create(conversation));
  const search = must(openSearch({ file: join(config.paths.dataDir, "indexes.db"), clock }));
  const documents = openDocuments({ clock, logger, search });
  return {
    storage,
    conversation,
    workspace: workspaces.ofConversation(conversation),
    documents,
    outside: join(config.paths.dataDir, "workspace", "bench"),
    openAnew,
    async close() {
      await documents.close();
      await search.close();
      for (const one of opened) await one.close();
      await storage.close();
      await logger.close();
    },
  };
}
