import { z } from "zod";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { Documents } from "../documents/documents.ts";
import type { EffectClass, EventOf, NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { Image } from "../protocol/message.ts";
import type { Todo } from "../protocol/todo.ts";
import type { Probe, Run, RunFailure, RunWanted } from "../sandbox/sandbox.ts";
import { forModels } from "../words/words.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { readLeniently } from "./arguments.ts";
import { shortened } from "./output.ts";
import { type JsonSchema, plainSchema, signature } from "./schema.ts";

/** A function a model may call. Made by `defineTool`; the loop knows nothing else about it. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly class: EffectClass;
  /** Part of the short list for small models. */
  readonly isBasic: boolean;
  /** Found by this name when called, but never offered under it. */
  readonly aliases: readonly string[];
  /** Its own limit in place of the configured one. */
  readonly timeoutMs: number | undefined;
  /** Checks arguments a model wrote: forgiving in form, strict in meaning. */
  open(input: Readonly<Record<string, unknown>>): Result<OpenedCall, Failure>;
};

/** A call with checked arguments: what a person must decide first, if anything, and how to run it. */
export type OpenedCall = {
  readonly ask: Ask | undefined;
  /** Calls of one answer with the same key run one after another, in the order they were asked for. */
  readonly order: string | undefined;
  /** The limit of this call, where its arguments say it. */
  readonly timeoutMs: number | undefined;
  run(context: ToolContext): Promise<Result<ToolOutput, Failure>>;
};

export type Ask =
  | { readonly kind: "approval"; readonly reason: string; readonly risk: "low" | "medium" | "high" | "critical" }
  | {
      readonly kind: "question";
      readonly question: string;
      readonly context?: string | undefined;
      readonly default?: string | undefined;
      readonly required?: boolean | undefined;
    };

export type ToolContext = {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The same for every attempt at this call: idempotent tools hand it on. */
  readonly key: string;
  readonly call: string;
  /** The agent that calls; undefined is the main agent. */
  readonly agent: string | undefined;
  /** The files this agent works with. */
  readonly workspace: Workspace;
  /** Where this agent's programs run. */
  readonly sandbox: ToolSandbox;
  /** Hash of the content that this agent has last seen of a file; with `whole` only where all of it was shown. */
  readonly knownHash: (path: string, wanted?: "whole") => string | undefined;
  /** Calls of this tool in this conversation that have a result by now. */
  readonly earlierCalls: () => readonly { readonly arguments: string }[];
  readonly documents: Documents;
  /** What a result may have at the most for the model that reads it; longer ones are cut in the middle. */
  readonly outputBytesMax: number;
  /** The model that reads the result sees images. */
  readonly seesImages: boolean;
  readonly todos: readonly Todo[];
  /** What a person decided about this call. */
  readonly decision: EventOf<"decision.made"> | undefined;
};

/** The sandbox as one call sees it: bound to its agent, its files and its signal. Output is shown while it comes. */
export type ToolSandbox = {
  run(wanted: Omit<RunWanted, "signal">): Promise<Result<Run, RunFailure>>;
  reset(): Promise<void>;
  probe(): Promise<Probe>;
};

export type ToolOutput = {
  /** What the model reads. */
  readonly text: string;
  /** It was not done, and `text` says why: a refusal that has facts, or more to show than a failure can say in a line. */
  readonly isRefusal?: true | undefined;
  readonly images?: readonly Image[] | undefined;
  /** Stored together with the result. */
  readonly facts?: readonly NewEvent[] | undefined;
};

export type ToolDefinition<Input extends z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** What a crash in the middle may do: see `EffectClass`. Unsafe unless said otherwise. */
  readonly class?: EffectClass;
  readonly isBasic?: boolean;
  readonly aliases?: readonly string[];
  readonly timeoutMs?: number;
  readonly timeoutMsOf?: (input: z.infer<Input>) => number;
  /** Other names for arguments, and other words for the values of enums, as models write them. */
  readonly otherNames?: Readonly<Record<string, string>>;
  readonly otherWords?: Readonly<Record<string, string>>;
  /** For other names that count in another unit. */
  readonly otherUnits?: Readonly<Record<string, (given: number) => number>>;
  readonly order?: (input: z.infer<Input>) => string | undefined;
  readonly ask?: (input: z.infer<Input>) => Ask | undefined;
  readonly run: (
    input: z.infer<Input>,
    context: ToolContext,
  ) => Promise<Result<ToolOutput, Failure>> | Result<ToolOutput, Failure>;
};

export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input, otherNames = {}, otherWords = {} } = definition;
  const parameters = plainSchema(z.toJSONSchema(input));
  const synonyms = { names: otherNames, words: otherWords, units: definition.otherUnits };
  return {
    name,
    description,
    parameters,
    class: definition.class ?? "unsafe",
    isBasic: definition.isBasic ?? false,
    aliases: definition.aliases ?? [],
    timeoutMs: definition.timeoutMs,
    open(raw) {
      const { value, ignored } = readLeniently(parameters, raw, synonyms);
      const parsed = input.safeParse(value);
      if (!parsed.success)
        return failure("tool_arguments_unfit", {
          tool: name,
          what: faultsOf(parsed.error, value),
          form: signature(parameters),
        });
      return ok({
        ask: definition.ask?.(parsed.data),
        order: definition.order?.(parsed.data),
        timeoutMs: definition.timeoutMsOf?.(parsed.data),
        async run(context) {
          const output = await definition.run(parsed.data, context);
          if (!output.ok || ignored.length === 0) return output;
          return ok({ ...output.value, text: `${output.value.text}\n${forModels.ignoredArguments(namesOf(ignored))}` });
        },
      });
    },
  };
}

const ignoredMax = 5;
const nameBytesMax = 40;

function namesOf(ignored: readonly string[]): string {
  return ignored
    .slice(0, ignoredMax)
    .map((name) => shortened(name, nameBytesMax))
    .join(", ");
}

const faultsMax = 3;

function faultsOf(error: z.ZodError, value: unknown): string {
  const faults = error.issues.slice(0, faultsMax).map(({ path, message }) => {
    const place = path.join(".");
    return isMissing(value, path) ? `${place} is missing` : `${place}: ${message}`;
  });
  return faults.join("; ").replaceAll(/\s+/g, " ");
}

function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let inside = value;
  for (const key of path) inside = Reflect.get(Object(inside), key);
  return inside === undefined;
}
