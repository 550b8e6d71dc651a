import { parsedJson } from "../../base/json.ts";
import { openEventReader } from "../../protocol/server-events.ts";
import { failure } from "./errors.ts";
import type { Reading } from "./reading.ts";

/** How text of a body is read, in either of its two forms. */
export interface BodyForm {
  feed(text: string): void;
  /** The body is over; a pending rest is read if it makes sense by itself. */
  end(): void;
}

/** An event stream. `[DONE]` completes the answer at once; a payload that is not JSON ends it as a failure. */
export function createStreamForm(reading: Reading, eventCharactersMax: number): BodyForm {
  let isEnding = false;
  const events = openEventReader({
    charactersMax: eventCharactersMax,
    onEvent: ({ data, name }) => {
      if (reading.result() === undefined) takeEvent(data.trim(), name);
    },
    onTooLong: () => reading.fail(failure("protocol", false, "too_long", `> ${eventCharactersMax}`)),
  });

  function takeEvent(payload: string, name: string | undefined): void {
    if (payload === "" || payload.startsWith(":")) return;
    if (payload === "[DONE]") return reading.complete();
    const value = parsedJson(payload);
    if (value !== undefined) reading.take(value, name);
    // A last event that was cut short is no event; the cut itself is what gets reported.
    else if (!isEnding) reading.fail(failure("protocol", true, "not_json", payload));
  }

  return {
    feed: (text) => events.feed(text),
    end() {
      isEnding = true;
      // Two line ends close whatever line and event are pending, whichever kind of line end came last.
      events.feed("\n\n");
    },
  };
}
