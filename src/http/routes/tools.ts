import { ok } from "../../base/result.ts";
import type { Handlers, Parts } from "../handler.ts";

/** The tools there are. */
export function toolHandlers({ engine, log, tools, freshen }: Parts): Pick<Handlers, "listTools" | "loadTool"> {
  return {
    async listTools({ owner, query }) {
      // A file that was just written is to be seen.
      await freshen();
      const { items, broken } = tools(owner);
      if (query.conversation === undefined) return ok({ items: [...items], broken: [...broken] });
      const row = await log.find(owner, query.conversation);
      if (!row.ok) return row;
      const { loadedTools } = await log.history(row.value.number);
      const only = await engine.agentTools(row.value);
      const own = items.filter(({ name }) => only === undefined || only.includes(name));
      // Whoever could not call the others by use_tool is told of them all.
      const tellsAll = only !== undefined && !only.includes("use_tool");
      const here = own.map((item) =>
        item.tier === "on_demand" && (tellsAll || loadedTools.has(item.name))
          ? { ...item, tier: "loaded" as const }
          : item,
      );
      return ok({ items: here, broken: [...broken] });
    },
    async loadTool({ owner, params }) {
      const row = await log.find(owner, params.id);
      return row.ok ? engine.loadTool(row.value, params.tool) : row;
    },
  };
}
