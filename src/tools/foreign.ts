import { ok, type Result } from "../base/result.ts";
import type { EffectClass } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { foreignSchema } from "./foreign-schema.ts";
import { isRecord, signature } from "./schema.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

/** Where tools come from besides the built-in ones: files of the operator, MCP servers, tool boxes. */
export interface ToolSource {
  /** What there is for this user as things stand; nothing is waited for. The same objects as long as nothing changed. */
  tools(owner: OwnerId): readonly Tool[];
  /** For whoever looks for a tool: waits a moment for those that are not known yet. */
  lookUp?(owner: OwnerId, signal: AbortSignal): Promise<void>;
}

export type ForeignDefinition = {
  readonly name: string;
  readonly description: string;
  /** As its maker wrote it: any JSON schema. */
  readonly parameters: unknown;
  /** Unsafe unless said otherwise. */
  readonly class?: EffectClass | undefined;
  readonly timeoutMs?: number | undefined;
  /** The arguments are checked by whoever runs it; here they are only put right in form. */
  readonly run: (
    input: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ) => Promise<Result<ToolOutput, Failure>>;
};

/** A tool that others described and run. What it answers is data from outside, from beginning to end. */
export function foreignTool(definition: ForeignDefinition): Tool {
  const { name, description } = definition;
  const { schema, read } = foreignSchema(definition.parameters);
  return {
    ...{ name, description, parameters: schema },
    class: definition.class ?? "unsafe",
    isBasic: false,
    isOnDemand: true,
    isForeign: true,
    aliases: [],
    isOutside: true,
    timeoutMs: definition.timeoutMs,
    open(raw) {
      const input = read(raw);
      const missing = isRecord(input) ? (schema.required ?? []).filter((one) => input[one] === undefined) : [];
      if (!isRecord(input) || missing.length > 0) {
        const what = missing.map((one) => `${one} is missing`).join("; ");
        return failure("tool_arguments_unfit", { tool: name, what, form: signature(schema) });
      }
      return ok({
        ...{ input, ask: undefined, order: undefined, timeoutMs: undefined },
        run: (context) => definition.run(input, context),
      });
    },
  };
}
