import { z } from "zod";
import { thrownText } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { Risk } from "../protocol/approval.ts";
import { EffectClass } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { withoutOurTags } from "../words/words.ts";
import type { CustomAnswer, CustomContext, CustomInput, CustomToolDefinition } from "./custom-tool.ts";
import { foreignTool } from "./foreign.ts";
import { shortened } from "./output.ts";
import type { Tool, ToolContext, ToolOutput } from "./tool.ts";

const isFunction = z.custom<(...given: never[]) => unknown>((value) => typeof value === "function", "is no function");
const Definition = z.object({
  name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, "letters, digits, _ and -, at most 64"),
  description: z.string().trim().min(1),
  parameters: z.record(z.string(), z.unknown()).optional(),
  class: EffectClass.optional(),
  timeoutMs: z.number().int().positive().optional(),
  isOutside: z.boolean().optional(),
  ask: isFunction.optional(),
  run: isFunction,
});

/** The tool that a file defines, or what is wrong with it, in a line. */
export function customTool(exported: unknown): Result<Tool, string> {
  const read = Definition.safeParse(exported);
  if (!read.success) {
    const [issue] = read.error.issues;
    return failed(`${issue?.path.join(".") || "default"}: ${issue?.message ?? ""}`);
  }
  return ok(toolOf(exported as CustomToolDefinition));
}

function toolOf(definition: CustomToolDefinition): Tool {
  const { name, description, parameters = {}, class: effect, timeoutMs, isOutside = true, ask } = definition;
  const tool = foreignTool({
    ...{ name, description, parameters, class: effect, timeoutMs },
    run: (input, context) => runCustom(definition, input, context),
  });
  return {
    ...tool,
    ...{ isForeign: undefined, isOutside },
    open(raw) {
      const opened = tool.open(raw);
      if (!opened.ok || ask === undefined) return opened;
      const question = asked(ask, opened.value.input);
      return question.ok
        ? ok({ ...opened.value, ask: question.value })
        : failure("tool_failed", { tool: name, said: question.failure });
    },
  };
}

const Question = z.object({
  reason: z.string().min(1),
  risk: Risk.optional(),
});

/** Whoever cannot say whether a person must be asked has not allowed anything. */
function asked(ask: NonNullable<CustomToolDefinition["ask"]>, input: CustomInput) {
  let answer: unknown;
  try {
    answer = ask(structuredClone(input));
  } catch (error) {
    return failed(saidIn(error));
  }
  if (answer === undefined) return ok(undefined);
  const read = Question.safeParse(answer);
  if (!read.success) return failed("ask gave no reason");
  const { reason, risk = "medium" } = read.data;
  return ok({ kind: "approval" as const, reason, risk });
}

async function runCustom(
  { name, run }: CustomToolDefinition,
  input: CustomInput,
  { signal, key, workspace }: ToolContext,
): Promise<Result<ToolOutput, Failure>> {
  const context: CustomContext = {
    ...{ signal, key },
    async read(path) {
      const content = await workspace.read(path);
      if (!content.ok) throw new Error(`${content.failure.code}: ${path}`);
      return content.value.bytes;
    },
    async write(path, content) {
      const written = await workspace.write(path, content);
      if (!written.ok) throw new Error(`${written.failure.code}: ${path}`);
    },
  };
  let answer: CustomAnswer;
  try {
    answer = await run(input, context);
  } catch (error) {
    return failure("tool_failed", { tool: name, said: saidIn(error) });
  }
  return ok({ text: textOf(answer) });
}

function textOf(answer: CustomAnswer): string {
  if (typeof answer === "string") return answer;
  return answer === undefined ? "" : (JSON.stringify(answer) ?? String(answer));
}

const saidBytesMax = 300;

/** Where things lie on this machine is neither a model's business nor that of whoever reads along. */
const hostPath = /(?<![\w.:/\\-])(?:file:\/\/)?(?:\/[^\s/'"`,;:()<>|]+){2,}\/?/g;

function saidIn(error: unknown): string {
  const said = withoutOurTags(thrownText(error)).replaceAll(hostPath, "…");
  return shortened(said.replaceAll(/\s+/g, " "), saidBytesMax);
}
