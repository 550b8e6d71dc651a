import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { loadConfig } from "../../src/config/config.ts";
import { openLogs } from "../../src/observe/observe.ts";
import { ConversationId, localOwner } from "../../src/protocol/ids.ts";
import { openLocalSandbox } from "../../src/sandbox/local/local.ts";
import type { Execution, Guest, SandboxProvider } from "../../src/sandbox/provider.ts";
import { openSandbox, type ProgramPlace, type ProgramWanted, type Sandbox } from "../../src/sandbox/sandbox.ts";
import { openSqlite } from "../../src/storage/sqlite/sqlite.ts";
import { wordsFor } from "../../src/words/words.ts";
import { openWorkspaces, type Workspace } from "../../src/workspace/workspace.ts";
import { must } from "../must.ts";

/** The parts of a yard that deal with programs, as the product wires them. */
export type World = {
  /** Where all of it lies. */
  readonly folder: string;
  readonly provider: SandboxProvider;
  readonly sandbox: Sandbox;
  /** A new conversation. */
  place(): Promise<ProgramPlace & { readonly workspace: Workspace }>;
  /** A guest of a place, without the service. */
  open(place: ProgramPlace & { readonly workspace: Workspace }): Promise<Guest>;
  close(): Promise<void>;
};

export async function openWorld(folder: string): Promise<World> {
  const [clock, ids, words] = [systemClock, systemIds, wordsFor("en")];
  const places = { cwd: folder, homeDir: folder, programDir: folder };
  const config = must(await loadConfig({ env: { AGENTYARD_DATA: folder }, flags: {}, ...places }));
  const logs = { dir: join(folder, "logs"), level: "warn", startId: "bench", pid: process.pid, secrets: [] } as const;
  const logger = openLogs({ ...logs, clock, onOff: () => {} });
  const storage = must(openSqlite({ path: config.paths.sessionDbPath, clock }));
  const { limits } = config.workspace;
  const workspaces = openWorkspaces({ dataDir: config.paths.dataDir, storage, clock, ids, logger, limits });
  const installation = `bench${ids.hex(12)}`;
  const startTimeoutMs = 60_000;
  const javascript = process.execPath;
  const provider = openLocalSandbox({
    installation,
    clock,
    ids,
    logger,
    words: words.sandbox,
    javascript,
    startTimeoutMs,
  });
  const settings = config.sandbox;
  const sandbox = openSandbox({ provider, storage, clock, ids, logger, words, settings });
  let count = 0;
  return {
    ...{ folder, provider, sandbox },
    async place() {
      count += 1;
      const id = ConversationId.parse(`bench-${count}`);
      const row = must(await storage.createConversation({ owner: localOwner, id, at: clock.now(), events: [] }));
      must(await workspaces.create(row));
      const workspace = workspaces.ofConversation(row);
      return { owner: localOwner, conversation: row.number, workspace, agent: "root" };
    },
    async open({ workspace }) {
      const { uid, ...mounted } = must(await workspace.guestFolder());
      const wanted = { id: ids.hex(16), workspace: mounted, uid, limits: settings.limits, env: {} };
      return must(await provider.open(wanted));
    },
    async close() {
      await sandbox.close();
      await provider.close();
      await workspaces.close();
      await storage.close();
      await logger.close();
    },
  };
}

/** An execution at the port, to its end; a wrong answer ends the bench. */
export async function runAtPort(guest: Guest, language: Execution["language"], code: string): Promise<void> {
  const execution = { id: systemIds.hex(32), language, code, agent: "root", timeoutMs: 60_000 };
  for await (const event of guest.run(execution)) {
    if (event.kind === "exited" && (event.how !== "done" || event.code !== 0)) throw new Error(JSON.stringify(event));
  }
}

/** A program through the service, to its report. */
export async function runInService(
  sandbox: Sandbox,
  place: ProgramPlace,
  wanted: Pick<ProgramWanted, "language" | "code">,
): Promise<void> {
  const { report } = must(await sandbox.run(place, { timeoutMs: 60_000, ...wanted }));
  const { how, exitCode, stderr } = await report;
  if (how !== "done" || exitCode !== 0) throw new Error(`${how} ${exitCode}: ${stderr.text}`);
}
