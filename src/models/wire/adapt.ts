import type { ErrorFacts } from "./error-body.ts";
import { roomForAnswer } from "./errors.ts";
import { numberOf } from "./json.ts";

/** Everything in a request but its model and messages. The tools stand here as the JSON text they were written to once. */
export type Fields = { readonly tools?: string; readonly [field: string]: unknown };

/** What of a format's fields may be changed when a server refuses them. */
export type Adaptable = {
  /** Fields a request can do without. Messages, tools and the model are what the call is about. */
  readonly dispensable: readonly string[];
  /** Limits of the answer. One with another name gets it where the first is refused; one without is only made smaller. */
  readonly limits: ReadonlyMap<string, string | undefined>;
};

/** A change to the fields of a request, learnt from a refusal. */
export type Edit = {
  /** The same change again has the same key. */
  readonly key: string;
  /** Holds for later requests too; else it came from the size of this one. */
  readonly isLasting: boolean;
  apply(fields: Fields): Fields;
};

/**
 * The one change a server asks for when it refuses a parameter: another name, another value, or leaving it out.
 * `undefined` when it does not say, or when what it refuses is the substance of the request.
 */
export function editFor(facts: ErrorFacts, sent: Fields, adaptable: Adaptable): Edit | undefined {
  // A place in a message is named: nothing beside the messages mends it, whatever words are used.
  if (/^[\s'"`]*(?:messages|contents|input)[.[]/.test(facts.text)) return undefined;
  const asked = setAsked(facts, sent);
  if (asked !== undefined) return asked;
  const field = refusedField(facts, sent, adaptable);
  if (field === undefined) return undefined;
  const isLimit = adaptable.limits.has(field);
  const limit = isLimit ? answerLimit(facts.text) : undefined;
  if (limit !== undefined) return cap(field, limit, roomForAnswer(facts.text) === undefined);
  if (!refusal.test(`${facts.text}\n${facts.codes.join("\n")}`)) return undefined;
  const other = adaptable.limits.get(field);
  if (other !== undefined) return rename(field, other);
  return isLimit ? undefined : drop(field, sent[field]);
}

const refusal =
  /unsupported|not support|unknown|unrecogni[sz]ed|unexpected|extra|forbidden|not (?:permitted|allowed|accepted|available)|invalid|deprecated|default|no longer|cannot|additional propert|must not|only \S+ is/i;

function refusedField(facts: ErrorFacts, sent: Fields, { dispensable, limits }: Adaptable): string | undefined {
  const candidates = [...dispensable, ...limits.keys()].filter((field) => field in sent);
  return (
    candidates.find((field) => facts.fields.includes(field)) ??
    candidates.find((field) => new RegExp(`(?<![\\w.])${field}(?!\\w)`).test(facts.text))
  );
}

/** `set reasoning_effort to 'none'`, `enable_thinking must be set to false`, `please enable the stream parameter`. */
function setAsked(facts: ErrorFacts, sent: Fields): Edit | undefined {
  if (/only supports? stream|enable the stream parameter/i.test(facts.text)) return set("stream", true, false);
  for (const wording of settings) {
    const [, field = "", word = ""] = wording.exec(facts.text) ?? [];
    if (settable.has(field) && sent[field] !== word) return set(field, readValue(word), /\btools?\b/i.test(facts.text));
  }
  return undefined;
}

const settings = [
  /set (?:the )?['"`]?(\w+)['"`]? (?:parameter )?to ['"`]?(\w+)/i,
  /(\w+)['"`]? must be set to ['"`]?(\w+)/i,
];

const settable = new Set(["reasoning_effort", "enable_thinking"]);

function readValue(word: string): string | boolean {
  return word === "true" || word === "false" ? word === "true" : word;
}

/** The largest answer the server says it can give, where the request asked for a larger one. */
function answerLimit(text: string): number | undefined {
  const room = roomForAnswer(text);
  if (room !== undefined) return room > 0 ? room : undefined;
  return numberOf(answerLimits.map((wording) => wording.exec(text)?.[1]).find((limit) => limit !== undefined));
}

const answerLimits = [
  /at most (\d+)/i,
  /\[\d+, ?(\d+)\]/,
  /less than or equal to (\d+)/i,
  /(?:<=|≤) ?(\d+)/,
  /\d+ > (\d+),? which is the maximum/i,
];

function drop(field: string, refused: unknown): Edit {
  // A forced tool is refused as a value: another choice may be fine.
  const only = field === "tool_choice" ? JSON.stringify(refused) : undefined;
  return {
    key: `drop ${field} ${only ?? ""}`,
    isLasting: true,
    apply: (fields) => (only === undefined || JSON.stringify(fields[field]) === only ? without(fields, field) : fields),
  };
}

function rename(field: string, other: string): Edit {
  return {
    key: `rename ${field}`,
    isLasting: true,
    apply: (fields) => (field in fields ? { ...without(fields, field), [other]: fields[field] } : fields),
  };
}

function set(field: string, value: string | boolean, onlyWithTools: boolean): Edit {
  return {
    key: `set ${field}`,
    isLasting: true,
    apply: (fields) => (onlyWithTools && !("tools" in fields) ? fields : { ...fields, [field]: value }),
  };
}

function cap(field: string, limit: number, isLasting: boolean): Edit {
  return {
    key: `cap ${field}`,
    isLasting,
    apply: (fields) => ((numberOf(fields[field]) ?? 0) > limit ? { ...fields, [field]: limit } : fields),
  };
}

function without(fields: Fields, field: string): Fields {
  const { [field]: _left, ...rest } = fields;
  return rest;
}
