import { ok } from "../../base/result.ts";
import { reaches } from "../../log/log.ts";
import type { LogEvent } from "../../protocol/events.ts";
import { readCursor } from "../cursor.ts";
import { follow } from "../follow.ts";
import type { Handlers, Parts } from "../handler.ts";
import { thrownLine } from "../problem.ts";
import { eventStream } from "../stream.ts";

export function eventHandlers({ engine, log, clock, logger }: Parts): Pick<Handlers, "readEvents" | "followEvents"> {
  return {
    async readEvents({ owner, params, query }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const head = await log.headOf(row.value.number);
      const upTo = query.after + query.limit;
      const { after, limit, agent } = query;
      const page = await log.read(row.value.number, { after, limit, upTo });
      const items = agent === undefined ? page : page.filter((event) => isAbout(event, agent));
      return ok({ items, next: upTo < head ? upTo : null });
    },
    async followEvents({ owner, params, query, lastEventId = "", gone, closing, requestId }) {
      const row = await log.find(owner, params.id);
      if (!row.ok) return row;
      const conversation = row.value;
      // A browser that reconnects by itself repeats the first address and says in this header how far it came.
      const after = readCursor(lastEventId) ?? readCursor(query.after) ?? beginning;
      if (query.opens && lastEventId === "") engine.open(conversation);
      return ok(
        eventStream((signal) => follow({ engine, log, clock, conversation, after, signal, closing }), {
          idOf: ({ id }) => id,
          dataOf: ({ body }) => body,
          signal: gone,
          onThrown: (error) => logger?.(thrownLine(requestId, "the stream", error)),
        }),
      );
    },
  };
}

/** The event that made an agent is its parent's, and the beginning of its own. */
function isAbout(event: LogEvent, agent: string): boolean {
  return (event.type === "agent.spawned" && event.id === agent) || reaches(event, agent);
}

const beginning = { seq: 0, answer: undefined, outputs: new Map() };
