import { appendFileSync } from "node:fs";
import { z } from "zod";
import { ok } from "../../src/base/result.ts";
import type { EffectClass } from "../../src/protocol/events.ts";
import { defineTool, type Tool } from "../../src/tools/tools.ts";

/** A tool that writes a line into a file each time it runs, so that a test can count what really happened. */
export function effectTool(
  name: string,
  effectClass: EffectClass,
  file: string,
  options: { asks?: boolean; delayMs?: number } = {},
): Tool {
  return defineTool({
    name,
    description: `Leave a mark (${effectClass}). For tests.`,
    class: effectClass,
    input: z.object({ mark: z.string().describe("What is written.") }),
    ...(options.asks
      ? { ask: () => ({ kind: "approval" as const, reason: "it leaves a mark", risk: "medium" as const }) }
      : {}),
    async run({ mark }, { key, clock, signal }) {
      appendFileSync(file, `${JSON.stringify({ name, mark, key })}\n`);
      if (options.delayMs !== undefined) await clock.wait(options.delayMs, signal);
      return ok({ text: `${name} left ${mark}` });
    },
  });
}

/** A tool that never ends and does not listen. */
export const deafTool = defineTool({
  name: "deaf",
  description: "Never ends. For tests.",
  input: z.object({}),
  run: () => new Promise(() => {}),
});
