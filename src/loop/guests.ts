import { typeOfName } from "../documents/documents.ts";
import type { History } from "../log/log.ts";
import { fileChanged } from "../protocol/events.ts";
import type { ProgramPlace } from "../sandbox/sandbox.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Parts } from "./parts.ts";
import type { Run } from "./run.ts";

/** Where the main agent's programs run, and the user's. */
export function placeOf({ owner, number }: ConversationRow, workspace: Workspace, agent = "root"): ProgramPlace {
  return { owner, conversation: number, workspace, agent };
}

/** What programs of a conversation take. */
export type GuestParts = {
  readonly workspaces: Pick<Parts["workspaces"], "ofConversation" | "ofAgent" | "cleanedAt">;
  readonly sandbox: Pick<Parts["sandbox"], "prewarm" | "reset" | "endTurn" | "leavePlace">;
};

/** The conversation's own files. */
export function rootPlace({ workspaces }: GuestParts, conversation: ConversationRow): ProgramPlace {
  return placeOf(conversation, workspaces.ofConversation(conversation));
}

/** A guest starts while a person reads and types. Whose files are in the trash gets none: it would make new ones. */
export async function prewarmOpened(parts: GuestParts, conversation: ConversationRow): Promise<void> {
  if ((await parts.workspaces.cleanedAt(conversation)) === undefined)
    parts.sandbox.prewarm(rootPlace(parts, conversation));
}

/** A guest starts while the model thinks; with Python's data libraries only where they will probably be used. */
export function prewarm(parts: GuestParts, { conversation, history }: Pick<Run, "conversation" | "history">): void {
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

type EndedRun = Pick<Run, "conversation" | "history" | "agent" | "stage">;

/**
 * What programs left running ends with the turn; what they did to files since their calls ended is told with its end. Of
 * an agent that shares its files only its own Python ends; a task's sandbox goes with the task.
 */
export async function endPrograms(parts: GuestParts, run: EndedRun): Promise<void> {
  const { conversation, history } = run;
  if (history.turn === undefined || history.turn.finished.length === 0) return;
  if (run.agent !== undefined) return endAgentPrograms(parts, run, run.agent);
  for (const change of await parts.sandbox.endTurn(rootPlace(parts, conversation)))
    run.stage(fileChanged(change, { by: "tool", program: true }));
}

async function endAgentPrograms(parts: GuestParts, run: EndedRun, agent: string): Promise<void> {
  const { conversation } = run;
  const workspace = await parts.workspaces.ofAgent(conversation, agent);
  if (!workspace.ok) return;
  const place = placeOf(conversation, workspace.value, agent);
  if (workspace.value.kind !== "task" || workspace.value.id !== agent) return parts.sandbox.reset(place);
  for (const change of await parts.sandbox.endTurn(place))
    run.stage(fileChanged(change, { by: "tool", program: true, workspace: agent }));
  await parts.sandbox.leavePlace(place);
}
