import { derivedHex } from "../../base/ids.ts";
import type { Failure } from "../../protocol/failure.ts";
import type { Usage } from "../../protocol/message.ts";
import type { ChatCompletion, ChatUsage } from "../../protocol/openai.ts";
import { failureOf, finishOf, inPieces } from "./answer.ts";
import type { Begun } from "./begin.ts";
import { callId } from "./ids.ts";
import type { End, Piece } from "./pieces.ts";

/** What all of one completion has in common. */
export type CompletionHead = { readonly id: string; readonly created: number; readonly model: string };

export function completionHead({ conversation, message, since }: Begun, model: string, nowMs: number): CompletionHead {
  const id = `chatcmpl-${derivedHex(24, conversation.id, message.id, String(since ?? ""))}`;
  return { id, created: Math.floor(nowMs / 1000), model };
}

/** All of it at once. */
export function openCompletion(head: CompletionHead, { conversation: { id: conversation } }: Begun) {
  const words = openWords();
  const texts = { text: "", reasoning: "" };
  return {
    take(piece: Piece): void {
      if (piece.piece === "text" || piece.piece === "reasoning") texts[piece.piece] += words(piece);
    },
    ended: (end: End): ChatCompletion => completion(head, conversation, end, texts),
  };
}

function completion(
  head: CompletionHead,
  conversation: string,
  end: End,
  { text, reasoning }: { readonly text: string; readonly reasoning: string },
): ChatCompletion {
  const calls = callsOf(end, conversation);
  return {
    id: head.id,
    object: "chat.completion",
    created: head.created,
    model: head.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: text === "" && calls.length > 0 ? null : text,
          refusal: null,
          ...(reasoning !== "" && { reasoning_content: reasoning }),
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishOf(end),
      },
    ],
    usage: usageOf(end.usage),
  };
}

/** The functions of the caller that are to run now. */
function callsOf({ open }: End, conversation: string) {
  return open
    .filter(({ kind }) => kind === "function")
    .map(({ id, tool, arguments: args = "{}" }) => ({
      id: callId({ conversation, decision: id }),
      type: "function" as const,
      function: { name: tool, arguments: args },
    }));
}

function usageOf({ input, output, cachedInput = 0, reasoning = 0 }: Usage): ChatUsage {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cachedInput },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** The words of several steps are one text here: a blank line stands between them. */
function openWords() {
  const last = new Map<string, number>();
  return ({ piece, part, text }: Extract<Piece, { part: number }>): string => {
    const before = last.get(piece) ?? part;
    last.set(piece, part);
    return before === part ? text : `\n\n${text}`;
  };
}

type Chunk = Readonly<Record<string, unknown>>;

/** The same piece by piece. `errorFor` gives the words for a failure. */
export function completionChunks(
  head: CompletionHead,
  { conversation: { id: conversation } }: Begun,
  { withUsage, errorFor }: { readonly withUsage: boolean; readonly errorFor: (failure: Failure) => Chunk },
) {
  const words = openWords();
  const common = { id: head.id, object: "chat.completion.chunk", created: head.created, model: head.model };
  const chunk = (delta: Chunk, finish: string | null = null): Chunk => ({
    ...common,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(withUsage && { usage: null }),
  });
  const end = (piece: End): Chunk[] => {
    const failure = failureOf(piece, conversation);
    if (failure !== undefined) return [errorFor(failure)];
    const calls = callsOf(piece, conversation).flatMap((call, index) => callChunks(call, index).map((c) => chunk(c)));
    const usage = { ...common, choices: [], usage: usageOf(piece.usage) };
    return [...calls, chunk({}, finishOf(piece)), ...(withUsage ? [usage] : [])];
  };
  return (piece: Piece): Chunk[] => {
    switch (piece.piece) {
      case "begin":
        return [chunk({ role: "assistant", content: "" })];
      case "text":
        return inPieces(words(piece)).map((content) => chunk({ content }));
      case "reasoning":
        return inPieces(words(piece)).map((reasoning_content) => chunk({ reasoning_content }));
      case "ping":
        return [];
      case "end":
        return end(piece);
    }
  };
}

/** Its name first, then its arguments, in pieces where they are long. */
function callChunks(
  { id, type, function: { name, arguments: args } }: ReturnType<typeof callsOf>[number],
  index: number,
): Chunk[] {
  const [first = "", ...more] = inPieces(args);
  return [
    { tool_calls: [{ index, id, type, function: { name, arguments: first } }] },
    ...more.map((text) => ({ tool_calls: [{ index, function: { arguments: text } }] })),
  ];
}
