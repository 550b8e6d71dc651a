import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { CallerPart } from "../../protocol/given.ts";
import type { ChatRequest, ResponseRequest, ToolChoice } from "../../protocol/openai.ts";
import { callersForModels } from "../../words/words.ts";

type Functions = NonNullable<CallerPart["functions"]>;
type Described = {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly parameters?: Record<string, unknown> | null | undefined;
};
type Hint = Failure<"parameter_unsupported">["params"]["hint"];

/** What a chat completion brings along for its turn, or what of it would mislead its caller. */
export function callerPartOfChat(body: ChatRequest, instructions: readonly string[]): Result<CallerPart, Failure> {
  const { n, logprobs, audio, modalities, functions: old, response_format: form } = body;
  if ((n ?? 1) > 1) return unsupported("n");
  if (logprobs === true) return unsupported("logprobs");
  if (audio !== undefined && audio !== null) return unsupported("audio");
  if (modalities?.some((kind) => kind !== "text")) return unsupported("modalities");
  if (old !== undefined && old !== null) return unsupported("functions", "functions_only");
  if (form?.type === "json_schema") return unsupported("response_format", "as_function");
  const functions = (body.tools ?? []).map(({ type, function: described }) =>
    type === "function" ? (described ?? undefined) : undefined,
  );
  return callerPartOf({ functions, choice: body.tool_choice, instructions, isJson: form?.type === "json_object" });
}

/** The same of a response. */
export function callerPartOfResponse(
  body: ResponseRequest,
  instructions: readonly string[],
): Result<CallerPart, Failure> {
  const { text, background, prompt } = body;
  if (background === true) return unsupported("background");
  if (prompt !== undefined && prompt !== null) return unsupported("prompt");
  if (text?.format?.type === "json_schema") return unsupported("text.format", "as_function");
  const functions = (body.tools ?? []).map(({ type, name, description, parameters }) =>
    type === "function" && name !== undefined && name !== null ? { name, description, parameters } : undefined,
  );
  const isJson = text?.format?.type === "json_object";
  const callerPart = callerPartOf({ functions, choice: body.tool_choice, instructions, isJson });
  const request = requestOf(body);
  return callerPart.ok && request !== undefined ? ok({ ...callerPart.value, request }) : callerPart;
}

/** What is given back with the response; undefined where nothing is. */
function requestOf({ metadata, previous_response_id: previous, tool_choice: toolChoice }: ResponseRequest) {
  const request = {
    ...(metadata !== undefined && metadata !== null && Object.keys(metadata).length > 0 && { metadata }),
    ...(previous !== undefined && previous !== null && { previous }),
    ...(toolChoice !== undefined && toolChoice !== null && { toolChoice }),
  };
  return Object.keys(request).length > 0 ? request : undefined;
}

function unsupported(parameter: string, hint: Hint = "leave_out") {
  return failure("parameter_unsupported", { parameter, hint });
}

function callerPartOf({
  functions,
  choice,
  instructions,
  isJson,
}: {
  readonly functions: readonly (Described | undefined)[];
  readonly choice: ToolChoice | null | undefined;
  readonly instructions: readonly string[];
  readonly isJson: boolean;
}): Result<CallerPart, Failure> {
  const stray = functions.indexOf(undefined);
  if (stray >= 0) return unsupported(`tools.${stray}.type`, "functions_only");
  const offered = choice === "none" ? [] : offeredOf(functions);
  const said = [...instructions, ...wishes(choice, offered), ...(isJson ? [callersForModels.jsonOnly] : [])];
  return ok({
    ...(said.length > 0 && { instructions: said.join("\n\n") }),
    ...(offered.length > 0 && { functions: offered }),
  });
}

/** Each name once: the last one counts, as it would in an object. */
function offeredOf(functions: readonly (Described | undefined)[]): Functions {
  const byName = new Map<string, Functions[number]>();
  for (const described of functions) {
    if (described === undefined) continue;
    const { name, description, parameters } = described;
    byName.set(name, {
      name,
      ...(description !== undefined && description !== null && { description }),
      parameters: parameters ?? { type: "object", properties: {} },
    });
  }
  return [...byName.values()];
}

/** A call that the caller insists on is asked for in words: an agent takes several steps, and any may be the one. */
function wishes(choice: ToolChoice | null | undefined, offered: Functions): string[] {
  if (offered.length === 0 || choice === undefined || choice === null) return [];
  if (choice === "required") return [callersForModels.mustCall];
  if (typeof choice === "string") return [];
  const name = choice.function?.name ?? choice.name;
  const isOffered = offered.some((one) => one.name === name);
  return isOffered && typeof name === "string" ? [callersForModels.mustCallThis(name)] : [];
}
