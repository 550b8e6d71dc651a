import type { Failure } from "../../protocol/failure.ts";
import type { CallerPart } from "../../protocol/given.ts";
import type { OpenResponse } from "../../protocol/openai.ts";
import { failureOf } from "./answer.ts";
import { callId } from "./ids.ts";
import { openItems } from "./items.ts";
import type { End, Piece } from "./pieces.ts";

/** What a response says of itself besides its output. */
export type ResponseHead = {
  readonly id: string;
  readonly conversation: string;
  readonly model: string;
  readonly callerPart: CallerPart;
  readonly previous: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly toolChoice: unknown;
  readonly store: boolean;
  /** The words for a failure. */
  readonly errorFor: (failure: Failure) => { readonly code: string; readonly message: string };
};

type Event = Readonly<Record<string, unknown>>;

/** Writes a response and tells each change of it as an event. Who wants the response alone leaves the events. */
export function openResponse(head: ResponseHead) {
  let count = 0;
  let createdAt = 0;
  const event = (type: string, fields: Event): Event => {
    count += 1;
    return { type, sequence_number: count - 1, ...fields };
  };
  const items = openItems(head.id, event);
  const running = (): OpenResponse => ({ ...headOf(head), created_at: seconds(createdAt), output: items.all() });
  const ended = (end: End): OpenResponse => ({ ...running(), ...endOf(end, head) });

  function finish(end: End): Event[] {
    const events = items.close(end.state === "done" || end.state === "waiting" ? "completed" : "incomplete");
    for (const { id, kind, tool: name, arguments: args = "{}" } of end.open) {
      const call = { id: callId({ conversation: head.conversation, decision: id }), name, args };
      if (kind === "function") events.push(...items.addCall(call));
    }
    const response = ended(end);
    const { status } = response;
    return [...events, event(`response.${status === "cancelled" ? "failed" : status}`, { response })];
  }

  return {
    running,
    ended,
    /** Nothing more comes. */
    brokenOff(failure: Failure): Event[] {
      const events = items.close("incomplete");
      const response = { ...running(), status: "failed", error: head.errorFor(failure) };
      return [...events, event("response.failed", { response })];
    },
    take(piece: Piece): Event[] {
      switch (piece.piece) {
        case "begin":
          createdAt = piece.at;
          return ["response.created", "response.in_progress"].map((type) => event(type, { response: running() }));
        case "text":
        case "reasoning":
          return items.addWords(piece);
        case "ping":
          return [];
        case "end":
          return finish(piece);
      }
    },
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

function endOf(end: End, { conversation, errorFor }: ResponseHead): Partial<OpenResponse> {
  const { state, finish, at, usage } = end;
  const { input, output, cachedInput = 0, reasoning = 0 } = usage;
  const failure = failureOf(end, conversation);
  const reason = state === "limit" || finish === "length" ? "max_output_tokens" : "content_filter";
  const isCut = state === "limit" || (state === "done" && ["length", "content_filter"].includes(finish));
  const failed = state === "cancelled" || state === "withdrawn" ? "cancelled" : "failed";
  return {
    status: failure !== undefined ? failed : isCut ? "incomplete" : "completed",
    completed_at: failure === undefined && !isCut ? seconds(at) : null,
    error: failure === undefined ? null : errorFor(failure),
    incomplete_details: isCut ? { reason } : null,
    usage: {
      ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
      input_tokens_details: { cached_tokens: cachedInput },
      output_tokens_details: { reasoning_tokens: reasoning },
    },
  };
}

function headOf({
  id,
  conversation,
  model,
  callerPart,
  previous,
  metadata,
  toolChoice,
  store,
}: ResponseHead): OpenResponse {
  const { instructions = null, functions = [] } = callerPart;
  return {
    ...{ id, object: "response", created_at: 0, completed_at: null, status: "in_progress", error: null },
    ...{ incomplete_details: null, model, instructions, previous_response_id: previous },
    ...{ conversation: { id: conversation }, output: [], usage: null },
    tools: functions.map(({ name, description = null, parameters }) => {
      return { type: "function", name, description, parameters, strict: false };
    }),
    ...{ tool_choice: toolChoice, metadata: { ...metadata }, store, parallel_tool_calls: true, background: false },
    ...{ text: { format: { type: "text" } }, truncation: "disabled", reasoning: null, temperature: 1, top_p: 1 },
    ...{ presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, max_output_tokens: null, max_tool_calls: null },
    ...{ service_tier: "default", safety_identifier: null, prompt_cache_key: null },
  };
}
