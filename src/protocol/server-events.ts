/** One server-sent event, as its lines say. */
export type ServerEventText = {
  readonly name: string | undefined;
  readonly id: string | undefined;
  readonly data: string;
};

type Options = {
  readonly onEvent: (event: ServerEventText) => void;
  /** A longer event, or a line that does not end, is the end of reading. */
  readonly charactersMax?: number;
  readonly onTooLong?: () => void;
};

/**
 * Reads server-sent events out of text that may be cut anywhere: those of our own server and those of every provider.
 * What has no data is no event: a comment, a sign of life, `retry`.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export function openEventReader({ onEvent, onTooLong, charactersMax = Number.POSITIVE_INFINITY }: Options): {
  feed(text: string): void;
} {
  const lineEnd = /\r\n|\r|\n/g;
  let [isBeginning, isAfterReturn, isTooLong] = [true, false, false];
  /** A line whose end has not come. Put together when it has: searching it anew with each piece takes for ever. */
  let rest = "";
  let [name, id, data]: (string | undefined)[] = [];

  function takeLine(line: string): void {
    if (line === "") {
      const event = data === undefined ? undefined : { name, id, data };
      [name, id, data] = [undefined, undefined, undefined];
      if (event !== undefined) onEvent(event);
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
    if (field === "event") name = value;
    if (field === "id") id = value;
  }

  /** Whether it is not too long by now. */
  function holds(): boolean {
    if (rest.length + (data?.length ?? 0) <= charactersMax) return true;
    isTooLong = true;
    onTooLong?.();
    return false;
  }

  return {
    feed(text) {
      if (isTooLong || text === "") return;
      // A mark of the byte order, or the second half of a line end that was cut.
      let from = (isBeginning && text[0] === "\uFEFF") || (isAfterReturn && text[0] === "\n") ? 1 : 0;
      [isBeginning, isAfterReturn] = [false, text.endsWith("\r")];
      lineEnd.lastIndex = from;
      for (let end = lineEnd.exec(text); end !== null; end = lineEnd.exec(text)) {
        const line = rest + text.slice(from, end.index);
        [rest, from] = ["", lineEnd.lastIndex];
        takeLine(line);
        if (!holds()) return;
      }
      rest += text.slice(from);
      holds();
    },
  };
}
