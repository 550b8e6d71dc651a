export type TaggedSink = { text(piece: string): void; reasoning(piece: string): void };

export interface TagFilter {
  push(piece: string): void;
  /** Whatever was held back comes out; nothing may be pushed afterwards. */
  end(): void;
}

const openTag = "<think>";
const closeTag = "</think>";

/**
 * Parts reasoning from text where a model writes `<think>…</think>` at the head of its answer, however the pieces are
 * cut. Only the head counts: a later tag is something the model talks about. With `implicit-open` the chat template
 * has eaten the opening tag, so the text has to wait until a closing tag has come or can no longer come.
 */
export function createTagFilter(mode: "leading" | "implicit-open", sink: TaggedSink): TagFilter {
  const reason = createTrimmer(sink.reasoning);
  let place: "head" | "inside" | "behind" | "text" = "head";
  let held = "";

  function push(piece: string): void {
    if (place === "text") return sink.text(piece);
    const searchFrom = Math.max(0, held.length - closeTag.length);
    held += piece;
    if (place === "head") readHead(searchFrom);
    else if (place === "inside") readInside(searchFrom);
    else readBehind();
  }

  function readHead(searchFrom: number): void {
    const head = held.trimStart();
    const isOpen = head.startsWith(openTag);
    if (!isOpen && openTag.startsWith(head)) return;
    if (!isOpen && mode === "leading") return leave(held);
    if (!isOpen && !held.includes(closeTag, searchFrom)) return;
    place = "inside";
    if (isOpen) held = head.slice(openTag.length);
    readInside(0);
  }

  function readInside(searchFrom: number): void {
    const close = held.indexOf(closeTag, searchFrom);
    const sure = close === -1 ? held.length - halfTagLength(held) : close;
    reason(held.slice(0, sure));
    held = held.slice(close === -1 ? sure : sure + closeTag.length);
    if (close === -1) return;
    place = "behind";
    readBehind();
  }

  function readBehind(): void {
    held = held.trimStart();
    if (held !== "") leave(held);
  }

  function leave(text: string): void {
    place = "text";
    held = "";
    sink.text(text);
  }

  function end(): void {
    if (place === "head" && held !== "") leave(held);
    if (place === "inside") reason(held);
    held = "";
  }

  return { push, end };
}

/** Passes text on without the blanks around it. Blanks wait until something follows that makes them inner ones. */
function createTrimmer(emit: (piece: string) => void): (text: string) => void {
  let blanks = "";
  let hasBegun = false;
  return (text) => {
    const rest = hasBegun ? blanks + text : text.trimStart();
    const piece = rest.trimEnd();
    blanks = rest.slice(piece.length);
    hasBegun ||= piece !== "";
    if (piece !== "") emit(piece);
  };
}

function halfTagLength(text: string): number {
  for (let length = Math.min(closeTag.length - 1, text.length); length > 0; length -= 1) {
    if (closeTag.startsWith(text.slice(text.length - length))) return length;
  }
  return 0;
}
