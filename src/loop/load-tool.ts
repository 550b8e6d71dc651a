import { ok, type Result } from "../base/result.ts";
import type { History } from "../log/log.ts";
import type { NewEvent } from "../protocol/events.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { isOffered, toolkitOf } from "./agent-tools.ts";
import { roleOf } from "./agents.ts";
import { appendSeen } from "./append-seen.ts";
import type { Engine } from "./loop.ts";
import type { Parts } from "./parts.ts";

/** Tools on demand that somebody named: from the next turn on the model is told of them as of any other. */
export function openLoadTool(parts: Parts): Pick<Engine, "loadTool" | "agentTools"> {
  return {
    async agentTools({ number }) {
      return roleOf(await parts.log.history(number), parts).tools;
    },
    async loadTool({ number, owner }, name) {
      const stored = await appendSeen(parts, number, (history) => {
        const event = toolLoaded(history, parts, { owner, name });
        return event.ok ? ok({ events: event.value === undefined ? [] : [event.value] }) : event;
      });
      return stored.ok ? ok(undefined) : stored;
    },
  };
}

/**
 * The event that a tool is loaded here, by any name it goes by: the next recipe has it. Undefined where the model is told
 * of it anyway.
 */
export function toolLoaded(
  history: Pick<History, "agent" | "stack" | "self" | "loadedTools">,
  parts: Pick<Parts, "toolkit" | "agents" | "models">,
  { owner, name }: { readonly owner: OwnerId; readonly name: string },
): Result<NewEvent | undefined, Failure> {
  const toolkit = toolkitOf(history, parts, owner);
  const tool = toolkit.seek(name);
  if (!tool.ok) return tool;
  if (isOffered(toolkit, parts, tool.value.name, history.loadedTools)) return ok(undefined);
  return ok({ type: "tool.loaded", tool: tool.value.name });
}
