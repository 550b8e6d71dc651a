import { derivedHex } from "../../base/ids.ts";
import type { OutputItem } from "../../protocol/openai.ts";
import { inPieces } from "./answer.ts";
import type { Piece } from "./pieces.ts";

type Event = Readonly<Record<string, unknown>>;
type Words = Extract<Piece, { part: number }>;
type Status = "in_progress" | "completed" | "incomplete";
type OpenItem = { readonly kind: Words["piece"]; readonly part: number; readonly id: string; text: string };

/** The items of a response as they are written, and the events that tell it. `event` gives one its number. */
export function openItems(response: string, event: (type: string, fields: Event) => Event) {
  const output: OutputItem[] = [];
  let item: OpenItem | undefined;
  const itemId = (prefix: string) => `${prefix}_${derivedHex(32, response, String(output.length))}`;
  const place = (id: string) => ({ item_id: id, output_index: output.length });
  const added = (given: object) =>
    event("response.output_item.added", { output_index: output.length, item: { ...given, status: "in_progress" } });
  const done = (whole: OutputItem) => {
    const told = event("response.output_item.done", { output_index: output.length, item: whole });
    output.push(whole);
    return told;
  };

  function open({ piece, part }: Words): Event[] {
    item = { kind: piece, part, id: itemId(piece === "text" ? "msg" : "rs"), text: "" };
    const about = { ...place(item.id), content_index: 0, part: partOf(item) };
    return [added({ ...written(item, "in_progress"), content: [] }), event("response.content_part.added", about)];
  }

  /** Ends the one that is open, if one is. */
  function close(status: Status): Event[] {
    if (item === undefined) return [];
    const closing = item;
    item = undefined;
    const about = { ...place(closing.id), content_index: 0 };
    return [
      event(`response.${wireKind[closing.kind]}.done`, { ...about, text: closing.text, ...logprobs(closing) }),
      event("response.content_part.done", { ...about, part: partOf(closing) }),
      done(written(closing, status)),
    ];
  }

  return {
    close,
    /** Those that are done, and the one that is being written. */
    all: (): OutputItem[] => (item === undefined ? [...output] : [...output, written(item, "in_progress")]),
    addWords(words: Words): Event[] {
      const isSame = item?.part === words.part && item.kind === words.piece;
      const events = isSame ? [] : [...close("completed"), ...open(words)];
      if (item === undefined) return events;
      item.text += words.text;
      const about = { ...place(item.id), content_index: 0, ...logprobs(item) };
      const type = `response.${wireKind[item.kind]}.delta`;
      return [...events, ...inPieces(words.text).map((delta) => event(type, { ...about, delta }))];
    },
    addCall({ id, name, args }: { readonly id: string; readonly name: string; readonly args: string }): Event[] {
      const call = { type: "function_call", id: itemId("fc"), call_id: id, name } as const;
      const about = place(call.id);
      return [
        added({ ...call, arguments: "" }),
        ...inPieces(args).map((delta) => event("response.function_call_arguments.delta", { ...about, delta })),
        event("response.function_call_arguments.done", { ...about, name, arguments: args }),
        done({ ...call, arguments: args, status: "completed" }),
      ];
    },
  };
}

const wireKind = { text: "output_text", reasoning: "reasoning_text" } as const;

/** Texts have them, if only none. */
function logprobs({ kind }: OpenItem): Event {
  return kind === "text" ? { logprobs: [] } : {};
}

function partOf({ kind, text }: OpenItem) {
  return kind === "text" ? textPart(text) : ({ type: "reasoning_text", text } as const);
}

function textPart(text: string) {
  return { type: "output_text" as const, text, annotations: [], logprobs: [] };
}

function written({ id, kind, text }: OpenItem, status: Status): OutputItem {
  if (kind === "text") return { type: "message", id, status, role: "assistant", content: [textPart(text)] };
  return { type: "reasoning", id, status, summary: [], content: [{ type: "reasoning_text", text }] };
}
