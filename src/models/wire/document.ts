import { parsedJson } from "../../base/json.ts";
import { errorFacts } from "./error-body.ts";
import { failure } from "./errors.ts";
import type { Reading } from "./reading.ts";
import type { BodyForm } from "./stream.ts";

/** A body that is one JSON document, one document per line, or no answer at all. It is read when it has ended. */
export function createDocumentForm(reading: Reading, onData: () => void): BodyForm {
  const pieces: string[] = [];
  return {
    feed(text) {
      pieces.push(text);
      onData();
    },
    end() {
      const text = pieces.join("").trim();
      const value = parsedJson(text);
      if (value === undefined) readLines(text, reading);
      else readWhole(value, reading);
    },
  };
}

/** A complete document is a complete answer, with or without a finish reason. */
function readWhole(value: unknown, reading: Reading): void {
  reading.take(value);
  if (reading.hasBegun()) return reading.complete();
  // Without an answer, whatever the document has to say is an error.
  if (errorFacts(value).text !== "") return reading.take(value, "error");
  reading.fail(failure("protocol", reading.isPart(value), "no_choice"));
}

function readLines(text: string, reading: Reading): void {
  const lines = text.split("\n").map((line) => parsedJson(line));
  for (const line of lines) reading.take(line);
  if (reading.hasBegun() || reading.result() !== undefined) return;
  if (!/^[[{]/.test(text)) {
    reading.fail(failure("protocol", false, "foreign", text));
  } else if (/[\]}]$/.test(text)) {
    reading.fail(failure("protocol", true, "not_json"));
  }
  // JSON that does not end is a cut, and reported as one.
}
