import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

/** What agents are told in each of the caller's conversations. */
export function memoryHandlers({
  engine,
}: Parts): Pick<Handlers, "listMemory" | "addMemory" | "changeMemory" | "forgetMemory"> {
  return {
    listMemory: async ({ owner }) => ok({ items: await engine.memory(owner) }),
    addMemory: ({ owner, body }) => engine.addMemory(owner, body.fact),
    changeMemory: ({ owner, params, body }) => engine.changeMemory(owner, params.memory, body.fact),
    forgetMemory: ({ owner, params }) => engine.forgetMemory(owner, params.memory),
  };
}
