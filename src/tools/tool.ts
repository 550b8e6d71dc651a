import { z } from "zod";
import type { Outward } from "../approvals/approvals.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Documents } from "../documents/documents.ts";
import type { EffectClass, EventOf, NewEvent } from "../protocol/events.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import type { FormContent, FormField } from "../protocol/form.ts";
import type { Image } from "../protocol/message.ts";
import type { CompactReport } from "../protocol/resources.ts";
import type { Todo } from "../protocol/todo.ts";
import type { Probe, ProgramFailure, ProgramWanted, RunningProgram } from "../sandbox/sandbox.ts";
import type { Web } from "../web/web.ts";
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
  /** Not told of with every request: `find_tools` finds it. */
  readonly isOnDemand?: boolean | undefined;
  /** Others say what it does and takes. */
  readonly isForeign?: true | undefined;
  /** Further words that it is found by. */
  readonly words?: string | undefined;
  /** Found by this name when called, but never offered under it. */
  readonly aliases: readonly string[];
  /** What it says was written by others: files, programs, the web. Its results are data, not orders. */
  readonly isOutside: boolean;
  /** Its own limit in place of the configured one. */
  readonly timeoutMs: number | undefined;
  /** It sends what it is told to somebody outside. */
  readonly outward?: Outward | undefined;
  /** Checks arguments a model wrote: forgiving in form, strict in meaning. */
  open(input: Readonly<Record<string, unknown>>): Result<OpenedCall, Failure>;
};

/** A call with checked arguments: what a person must decide first, if anything, and how to run it. */
export type OpenedCall = {
  /** The arguments as the tool takes them: what a person or a rule judges is what runs. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly ask: Ask | undefined;
  /** Calls of one answer with the same key run one after another, in the order they were asked for. */
  readonly order: string | undefined;
  /** What a crash may do to this call, where its arguments say it; otherwise that of the tool counts. */
  readonly class?: EffectClass | undefined;
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
  readonly web: Web;
  /** What a result may have at the most for the model that reads it; longer ones are cut in the middle. */
  readonly outputBytesMax: number;
  /** The model that reads the result sees images. */
  readonly seesImages: boolean;
  readonly todos: readonly Todo[];
  /** What a person decided about this call. */
  readonly decision: EventOf<"decision.made"> | undefined;
  /** Makes room in what is sent, before the answer that this call is part of; without an event there was nothing to do. */
  readonly compact: (strategy: "auto" | "compact" | "summarize") => Promise<Result<RoomReport, Failure>>;
  /** Hands the user over to another agent, by the id of its role. */
  readonly handOver: (role: string, task: string) => Result<ToolOutput, Failure>;
  /** What the user wants to be known in every conversation. */
  readonly memory: ToolMemory;
  /** Installs what a skill's `requirements.txt` names, in the sandbox of this user. `leftOut`: lines that were not taken. */
  readonly installPackages: (skill: string) => Promise<Result<SkillPackages, Failure>>;
  /** Asks a person in the middle of the call, and waits for the answer; the limit of the call stands still meanwhile. */
  readonly askForm: (form: FormAsked) => Promise<FormAnswer>;
  /** Shows people how far it is, while it runs; nothing of it is stored. */
  readonly show: (text: string) => void;
  readonly agents: ToolAgents;
  /** What was said in this conversation and in the user's others. */
  readonly searchHistory: (wanted: HistoryQuery) => Promise<HistoryHits>;
  /** The tools of this agent that it is not told of with every request; those of servers are asked for first. */
  readonly furtherTools: () => Promise<{
    readonly onDemand: readonly Tool[];
    search(query: string, hitsMax: number): readonly Tool[];
  }>;
};

/** The agents of this conversation, as far as this one deals with them. What it does is events, stored with the result. */
export type ToolAgents = {
  /** Gives work to an agent whose answer is the result of this call. `role`: that of the caller unless said otherwise. */
  delegate(wanted: {
    readonly task: string;
    readonly loops: number;
    readonly role?: string | undefined;
  }): Result<AgentDone, Failure>;
  /** Makes an agent that works beside this one. `files`: paths that are copied into its workspace. */
  spawn(wanted: {
    readonly role: string;
    readonly name?: string | undefined;
    readonly brief: string;
    readonly files?: readonly string[];
  }): Promise<Result<AgentDone, Failure>>;
  /** `awaits`: this agent does not end before it hears from the other one. */
  send(wanted: { readonly to: string; readonly text: string; readonly awaits: boolean }): Result<AgentDone, Failure>;
  /** Ends an agent of its own, and all that it has made. */
  terminate(wanted: { readonly agent: string }): Result<AgentDone, Failure>;
};
export type AgentDone = Pick<ToolOutput, "text" | "events" | "worker" | "isRefusal" | "reason">;

export type SkillPackages = {
  readonly installed: readonly { readonly name: string; readonly version: string }[];
  readonly leftOut: readonly string[];
};

/** What somebody else's server wants to know of a person. */
export type FormAsked = {
  readonly question: string;
  readonly context?: string | undefined;
  readonly fields: readonly FormField[];
};

/** `cancel`: nobody answered before the call was over. */
export type FormAnswer =
  | { readonly action: "accept"; readonly content: FormContent }
  | { readonly action: "decline" | "cancel" };

export type ToolMemory = {
  /** Newest first. */
  memories(): Promise<readonly string[]>;
  /** `count`: how many there are then. */
  add(memory: string): Promise<Result<{ readonly count: number; readonly isNew: boolean }, Failure>>;
};

export type HistoryQuery = {
  /** All of them must stand in what was said. */
  readonly words: readonly string[];
  readonly hitsMax: number;
};

export type HistoryHit = {
  /** Another conversation of the user; undefined is this one. */
  readonly conversation: { readonly id: string; readonly title: string } | undefined;
  readonly at: number;
  readonly who: "user" | "agent" | { readonly tool: string };
  /** The line with some around it. */
  readonly text: string;
};

export type HistoryHits = {
  /** This conversation first, then the others; the newest first. */
  readonly hits: readonly HistoryHit[];
  readonly total: number;
  readonly conversations: number;
  /** There was more than could be read. */
  readonly isStopped: boolean;
};

export type RoomReport = {
  readonly report: Omit<CompactReport, "seq">;
  readonly event?: NewEvent | undefined;
};

/** The sandbox as one call sees it: bound to its agent, its files and its signal. Output is shown while it comes. */
export type ToolSandbox = {
  run(wanted: Omit<ProgramWanted, "signal">): Promise<Result<RunningProgram, ProgramFailure>>;
  reset(): Promise<void>;
  probe(): Promise<Probe>;
  /** What is wrong with a session that a model names: it has one, whose it is follows from the conversation. */
  checkSession(id: string): Promise<Failure | undefined>;
};

export type ToolOutput = {
  /** What the model reads. */
  readonly text: string;
  /** It was not done, and `text` says why: a refusal that has events, or more to show than a failure can say in a line. */
  readonly isRefusal?: true | undefined;
  /** Why it was not done, where something follows from that. */
  readonly reason?: Failure | undefined;
  readonly images?: readonly Image[] | undefined;
  /** Stored together with the result. */
  readonly events?: readonly NewEvent[] | undefined;
  /** There is no result yet: it is the answer of this agent, which `events` make. */
  readonly worker?: string | undefined;
  /** Which parts of `text` others wrote, in order; left out, all of it where the tool says so, and none otherwise. */
  readonly outside?: readonly Outside[] | undefined;
};

/**
 * Characters of a result from outside. `isExact`: it must stay as it is, to the byte. `isSeen`: of a file that the agent
 * knows, which made the conversation untrusted then, if it was not the agent's own.
 */
export type Outside = {
  readonly source: string;
  readonly from: number;
  readonly to: number;
  readonly isExact?: boolean | undefined;
  readonly isSeen?: boolean | undefined;
};

export type ToolDefinition<Input extends z.ZodObject> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  /** What a crash in the middle may do: see `EffectClass`. Unsafe unless said otherwise. */
  readonly class?: EffectClass;
  /** For calls that are less than that, by their arguments. */
  readonly classOf?: (input: z.infer<Input>) => EffectClass;
  readonly isBasic?: boolean;
  readonly isOnDemand?: boolean;
  readonly isOutside?: boolean;
  readonly aliases?: readonly string[];
  readonly timeoutMs?: number;
  readonly timeoutMsOf?: (input: z.infer<Input>) => number;
  /** Other names for arguments, and other words for the values of enums, as models write them. */
  readonly otherNames?: Readonly<Record<string, string>>;
  readonly otherWords?: Readonly<Record<string, string>>;
  /** Taken where they are given and never offered: each is checked before the tool runs. */
  readonly unoffered?: Readonly<Record<string, (value: unknown, context: ToolContext) => Promise<Failure | undefined>>>;
  /** For other names that count in another unit. */
  readonly otherUnits?: Readonly<Record<string, (given: number) => number>>;
  /** Puts right what models wrap around a value; all else here sees only what comes of it. */
  readonly tidy?: (input: z.infer<Input>) => z.infer<Input>;
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
    isOnDemand: definition.isOnDemand ?? false,
    aliases: definition.aliases ?? [],
    isOutside: definition.isOutside ?? false,
    timeoutMs: definition.timeoutMs,
    open(raw) {
      const { value, twice, ...read } = readLeniently(parameters, raw, synonyms);
      const { unoffered = {} } = definition;
      const ignored = read.ignored.filter((one) => !Object.hasOwn(unoffered, one));
      const unfit = (what: string) =>
        failure("tool_arguments_unfit", { tool: name, what, form: signature(parameters) });
      if (twice.length > 0) return unfit(forModels.argumentsTwice(namesOf(twice)));
      const parsed = input.safeParse(value);
      if (!parsed.success) return unfit(faultsOf(parsed.error, value));
      const given = definition.tidy?.(parsed.data) ?? parsed.data;
      return ok({
        input: given,
        ask: definition.ask?.(given),
        order: definition.order?.(given),
        class: definition.classOf?.(given),
        timeoutMs: definition.timeoutMsOf?.(given),
        async run(context) {
          for (const [other, check] of Object.entries(unoffered)) {
            const refused = raw[other] === undefined ? undefined : await check(raw[other], context);
            if (refused !== undefined) return failed(refused);
          }
          const output = await definition.run(given, context);
          if (!output.ok || ignored.length === 0) return output;
          const { text, outside } = output.value;
          return ok({
            ...output.value,
            text: `${text}\n${forModels.ignoredArguments(namesOf(ignored))}`,
            ...(outside === undefined && definition.isOutside ? { outside: allOf(name, text) } : {}),
          });
        },
      });
    },
  };
}

/** A result that others wrote from beginning to end. */
export function allOf(source: string, text: string): Outside[] {
  return [{ source, from: 0, to: text.length }];
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
