import { typeOfName } from "../documents/documents.ts";
import type { History } from "../log/log.ts";
import { fileChanged } from "../protocol/events.ts";
import type { ProgramPlace } from "../sandbox/sandbox.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/** Where the main agent's programs run, and the user's. */
export function placeOf({ owner, number }: ConversationRow, workspace: Workspace): ProgramPlace {
  return { owner, conversation: number, workspace, agent: "root" };
}

/** The conversation's own files. */
export function rootPlace({ workspaces }: Parts, conversation: ConversationRow): ProgramPlace {
  return placeOf(conversation, workspaces.ofConversation(conversation));
}

/** A guest starts while a person reads and types. Whose files are in the trash gets none: it would make new ones. */
export async function prewarmOpened(parts: Parts, conversation: ConversationRow): Promise<void> {
  if ((await parts.workspaces.cleanedAt(conversation)) === undefined)
    parts.sandbox.prewarm(rootPlace(parts, conversation));
}

/** A guest starts while the model thinks; with Python's data libraries only where they will probably be used. */
export function prewarm(parts: Parts, { conversation, history }: Run): void {
  const [next] = history.queue;
  const selected = next?.selected?.files.map((path) => typeOfName(path.slice(path.lastIndexOf("/") + 1))) ?? [];
  const hasData = [...(next?.files ?? []).map(({ type }) => type), ...selected].some((type) => dataTypes.has(type));
  parts.sandbox.prewarm(rootPlace(parts, conversation), hasData || usedPython(history) ? "python" : undefined);
}

const dataTypes: ReadonlySet<string> = new Set(["csv", "spreadsheet", "json", "pickle", "data"]);

function usedPython({ messages }: History): boolean {
  return messages.some(
    (message) => message.role === "assistant" && message.toolCalls?.some(({ name }) => name === "execute_code"),
  );
}

/** What programs left running ends with the turn; what they did to files since their calls ended is told with its end. */
export async function endPrograms(parts: Parts, run: Run): Promise<void> {
  const { conversation, history } = run;
  if (history.turn === undefined || history.turn.finished.length === 0) return;
  for (const change of await parts.sandbox.endTurn(rootPlace(parts, conversation)))
    run.stage(fileChanged(change, { by: "tool", program: true }));
}
