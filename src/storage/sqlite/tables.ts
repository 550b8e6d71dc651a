import type { Clock } from "../../base/clock.ts";
import { integer } from "../rows.ts";
import type { StorageCounts } from "../storage.ts";
import { type Blobs, openBlobs } from "./blobs.ts";
import type { Connections } from "./connections.ts";
import { type Conversations, openConversations } from "./conversations.ts";
import { type Decisions, openDecisions } from "./decisions.ts";
import { type Events, openEvents } from "./events.ts";
import { type Executions, openExecutions } from "./executions.ts";
import { type Leases, openLeases } from "./leases.ts";
import { type Memory, openMemory } from "./memory.ts";
import { type Once, openOnce } from "./once.ts";
import { openReceived, type Received } from "./received.ts";
import { openRules, type Rules } from "./rules.ts";
import { openSecrets, type Secrets } from "./secrets.ts";
import { openSessions, type Sessions } from "./sessions.ts";
import { openToolboxes, type Toolboxes } from "./toolboxes.ts";
import { openTrash, type Trash } from "./trash.ts";
import { openUsers, type Users } from "./users.ts";
import { openWorkspaces, type Workspaces } from "./workspaces.ts";

export type Tables = {
  readonly conversations: Conversations;
  readonly events: Events;
  readonly received: Received;
  readonly leases: Leases;
  readonly decisions: Decisions;
  readonly blobs: Blobs;
  readonly workspaces: Workspaces;
  readonly trash: Trash;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly rules: Rules;
  readonly memory: Memory;
  readonly secrets: Secrets;
  readonly toolboxes: Toolboxes;
  readonly users: Users;
  readonly once: Once;
  readonly count: () => StorageCounts;
  /** Inside a transaction: removes all that a conversation holds and leaves its tombstone. Rows of folders stay. */
  readonly bury: (number: number, at: number) => void;
};

/** Every table with its prepared statements. */
export function openTables({ writer, reader }: Connections, clock: Clock): Tables {
  const conversations = openConversations(writer, reader);
  const events = openEvents(writer, reader);
  const removals = ["received", "lease", "wake", "decision", "blob", "agent", "rule"].map((table) =>
    writer.prepare(`DELETE FROM ${table} WHERE number = ?`),
  );
  const counted = reader.prepare(`SELECT
    (SELECT count(*) FROM conversation WHERE deleted_at IS NULL AND origin = 'person') AS conversations,
    (SELECT count(*) FROM decision) AS decisions`);
  return {
    conversations,
    events,
    received: openReceived(writer, reader),
    leases: openLeases(writer, reader, clock),
    decisions: openDecisions(writer, reader),
    blobs: openBlobs(writer, reader),
    workspaces: openWorkspaces(writer, reader, clock),
    trash: openTrash(writer, reader),
    sessions: openSessions(writer, reader),
    executions: openExecutions(writer, reader),
    rules: openRules(writer, reader),
    memory: openMemory(writer, reader),
    secrets: openSecrets(writer, reader),
    toolboxes: openToolboxes(writer, reader),
    users: openUsers(writer, reader),
    once: openOnce(writer),
    count() {
      const row = counted.get() ?? {};
      return { conversations: integer(row, "conversations"), decisionsOpen: integer(row, "decisions") };
    },
    bury(number, at) {
      events.remove(number);
      for (const removal of removals) removal.run(number);
      conversations.bury(number, at);
    },
  };
}
