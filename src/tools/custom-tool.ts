// Public, by way of `agentyard/extend`: it imports nothing, so that its types are all that an operator needs.

/** What an operator writes into a file of `tools/`, as its default export. */
export type CustomToolDefinition = {
  /** As models call it: letters, digits, `_` and `-`, at most 64. */
  readonly name: string;
  /** What it does, when to use it, what comes back: a model reads nothing else of it. */
  readonly description: string;
  /** The arguments: a JSON schema of an object. None if left out. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** What a crash in the middle may do: `pure` and `idempotent` are run again, `unsafe` is told to the model. */
  readonly class?: "pure" | "idempotent" | "unsafe";
  /** Its own limit in place of the configured one. */
  readonly timeoutMs?: number;
  /** `false`: what it says is the operator's own word. Otherwise it is shown as data, in which no orders stand. */
  readonly isOutside?: boolean;
  /** Says why a person must approve this call; undefined where nobody need be asked. Rules may ask all the same. */
  readonly ask?: (input: CustomInput) => CustomQuestion | undefined;
  /** Answers what the model reads. What it throws is told to the model by its message. */
  readonly run: (input: CustomInput, context: CustomContext) => Promise<CustomAnswer> | CustomAnswer;
};
export type CustomInput = Readonly<Record<string, unknown>>;
type CustomQuestion = { readonly reason: string; readonly risk?: "low" | "medium" | "high" | "critical" };
export type CustomAnswer = string | number | boolean | object | null | undefined;
export type CustomContext = {
  /** Fires when the user stops the turn, or the time is over. */
  readonly signal: AbortSignal;
  /** The same for every attempt at this call. */
  readonly key: string;
  /** The conversation's files, by relative paths; what is written can be undone. Both throw where it cannot be done. */
  readonly read: (path: string) => Promise<Buffer>;
  readonly write: (path: string, content: string) => Promise<void>;
};

/** Gives a tool its types. */
export function defineCustomTool(definition: CustomToolDefinition): CustomToolDefinition {
  return definition;
}
