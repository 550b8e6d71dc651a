import type { ElicitRequest, ElicitResult, Progress } from "@modelcontextprotocol/client";
import type { Clock } from "../base/clock.ts";
import { ok } from "../base/result.ts";
import type { ToolContext } from "../tools/tools.ts";
import { callTool } from "./ask-server.ts";
import { outputOf } from "./call-result.ts";
import type { Connection } from "./connection.ts";
import { type CallTool, classOf } from "./server-tools.ts";

/** The calls that are under way, by the connection that they go through. */
export type Calls = {
  /** What makes calls of tools go through a connection. */
  through(connection: Connection): CallTool;
  /** A server wants to know something of a person in the middle of a call. */
  elicit(connection: Connection, request: ElicitRequest): Promise<ElicitResult>;
};

export function openCalls(clock: Clock): Calls {
  const running = new Map<Connection, Set<ToolContext>>();
  return {
    through: (connection) => async (definition, input, context) => {
      const own = running.get(connection) ?? new Set();
      running.set(connection, own.add(context));
      const onprogress = showProgress(context, clock);
      const mayRepeat = classOf(definition) !== "unsafe";
      const call = { name: definition.name, arguments: input };
      const { signal } = context;
      const answer = await connection.ask((client) => callTool(client, call, { signal, onprogress }), {
        signal,
        mayRepeat,
      });
      own.delete(context);
      return answer.ok ? ok(outputOf(answer.value)) : answer;
    },
    async elicit() {
      return { action: "cancel" };
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
