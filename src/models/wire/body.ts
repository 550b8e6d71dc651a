import { StringDecoder } from "node:string_decoder";
import type { ModelAnswer } from "../provider.ts";
import { createDocumentForm } from "./document.ts";
import { failure } from "./errors.ts";
import { createReading, type ReadingOptions } from "./reading.ts";
import type { Cut } from "./receive.ts";
import { type BodyForm, createStreamForm } from "./stream.ts";

export interface BodyReader<Answer = ModelAnswer> {
  /** Feeds bytes. Once an answer comes back the call is over, and the rest of the body does not matter. */
  read(bytes: Uint8Array): Answer | undefined;
  /** The body is over: ended by the server, or cut for the reason given. */
  end(cut?: Cut): Answer;
}

export type BodyOptions = ReadingOptions & {
  /** The server always ends without saying so. */
  readonly isFinishOptional: boolean;
  readonly answerBytesMax: number;
  readonly eventCharactersMax: number;
};

/**
 * Reads the body of a 2xx answer. Content type and the mode that was asked for are hints only: the first characters tell
 * an event stream from a document. Everything happens while bytes are fed; nothing here waits or schedules.
 */
export function createBodyReader(options: BodyOptions): BodyReader {
  const { answer, answerBytesMax, eventCharactersMax, onData } = options;
  const reading = createReading(options);
  const decoder = new StringDecoder("utf8");
  let form: BodyForm | undefined;
  let head = "";
  let bytesRead = 0;

  function takeText(text: string): void {
    if (form !== undefined) return form.feed(text);
    head += text;
    const kind = sniff(head);
    if (kind === undefined) return;
    form = kind === "stream" ? createStreamForm(reading, eventCharactersMax) : createDocumentForm(reading, onData);
    form.feed(kind === "stream" ? head : withoutKeepAlives(head));
    head = "";
  }

  return {
    read(bytes) {
      bytesRead += bytes.length;
      if (bytesRead > answerBytesMax) {
        reading.fail(failure("protocol", false, "too_long", `> ${answerBytesMax} B`));
      }
      const text = reading.result() === undefined ? decoder.write(bytes) : "";
      if (text !== "") takeText(text);
      return reading.result();
    },
    end(cut) {
      if (reading.result() === undefined) {
        takeText(decoder.end());
        form?.end();
      }
      const isComplete = answer.isFinished() || (options.isFinishOptional && reading.hasBegun() && cut === undefined);
      if (isComplete) reading.complete();
      reading.fail(failure("network", true, cut?.because ?? "closed", cut?.said));
      return reading.result() ?? answer.build();
    },
  };
}

/** `undefined` as long as what came can still become either. */
function sniff(head: string): "stream" | "document" | undefined {
  const line = withoutKeepAlives(head);
  if (line.trim() === "" || line.startsWith(":") || fieldStart.test(line)) return undefined;
  return /^(?:data|event|id|retry)[:\r\n]/.test(line) ? "stream" : "document";
}

const fieldStart = /^(?:d|da|dat|data|e|ev|eve|even|event|i|id|r|re|ret|retr|retry)$/;

/** Blank lines and comments may open either form, as may one byte order mark. */
function withoutKeepAlives(head: string): string {
  return head.replace(/^\uFEFF/, "").replace(/^(?:[\r\n]|:[^\r\n]*[\r\n])+/, "");
}
