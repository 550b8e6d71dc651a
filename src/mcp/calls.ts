import type { Client, ElicitRequest, ElicitResult, Progress } from "@modelcontextprotocol/client";
import type { Clock } from "../base/clock.ts";
import { ok } from "../base/result.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ToolContext } from "../tools/tools.ts";
import { callTool } from "./ask-server.ts";
import { outputOf } from "./call-result.ts";
import type { Connection } from "./connection.ts";
import { askFor } from "./elicit.ts";
import { type CallTool, classOf } from "./server-tools.ts";

/** The calls that are under way, by the connection that they go through. */
export type Calls = {
  /** What makes calls of tools go through a connection. */
  through(connection: Connection, owner: OwnerId): CallTool;
  /** A server wants to know something of a person in the middle of a call. */
  elicit(connection: Connection, request: ElicitRequest): Promise<ElicitResult>;
};

/** `place`: the conversation that it is made in. */
type RunningCall = { readonly context: ToolContext; readonly place: string };

export function openCalls(clock: Clock): Calls {
  const running = new Map<Connection, Set<RunningCall>>();
  return {
    through: (connection, owner) => async (definition, input, context) => {
      const own = running.get(connection) ?? new Set();
      const place = { context, place: `${owner} ${context.workspace.id}` };
      running.set(connection, own.add(place));
      const onprogress = showProgress(context, clock);
      const mayRepeat = classOf(definition) !== "unsafe";
      const call = { name: definition.name, arguments: input };
      const { signal } = context;
      const question = (client: Client) => callTool(client, call, { signal, onprogress });
      const answer = await connection.ask(question, { signal, mayRepeat }).finally(() => own.delete(place));
      return answer.ok ? ok(outputOf(answer.value)) : answer;
    },
    async elicit(connection, request) {
      const [first, ...others] = [...(running.get(connection) ?? [])].toReversed();
      // A server does not say which call it asks for. Among calls of several people nobody is the right one to be asked.
      if (first === undefined || others.some(({ place }) => place !== first.place)) return { action: "cancel" };
      return askFor(request, connection.id, first.context);
    },
  };
}

/** So that a server which reports every byte floods nobody. */
const shownEveryMs = 100;
const messageMax = 300;

function showProgress({ show }: ToolContext, clock: Clock): (progress: Progress) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const now = clock.monotonic();
    const isLast = total !== undefined && progress >= total;
    if (now - shownAt < shownEveryMs && !isLast) return;
    shownAt = now;
    const count = total === undefined ? String(progress) : `${progress}/${total}`;
    const words = message?.replaceAll(/\s+/g, " ").slice(0, messageMax).toWellFormed();
    show(words === undefined ? `${count}\n` : `${count} ${words}\n`);
  };
}
