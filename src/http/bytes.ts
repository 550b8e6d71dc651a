import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { BrokenOff } from "../workspace/workspace.ts";
import type { HandedBody } from "./door.ts";
import { tookIn } from "./garbage.ts";

/** Sent by the forms and scripts of any page without asking first; everything else a browser asks about beforehand. */
const simpleTypes = /^\s*(|text\/plain|multipart\/form-data|application\/x-www-form-urlencoded)\s*(;|$)/i;

const formType = /^\s*multipart\/form-data\s*(;|$)/i;

/** The bytes of a file on their way in. */
export type IncomingBytes = {
  /** Read no faster than they are taken. `BrokenOff` is thrown when the caller breaks off. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** As the caller said, if it did. */
  readonly announced: number | undefined;
};

export const noBytes: IncomingBytes = {
  chunks: { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: true, value: undefined }) }) },
  announced: undefined,
};

/** The body of a route that takes bytes, or a form. */
export function openBytes(
  request: Request,
  { isForm }: { readonly isForm: boolean },
): Result<IncomingBytes, Failure<"content_type_unfit" | "form_unfit">> {
  const type = request.headers.get("content-type") ?? "";
  // A form of another site is refused by where it comes from, before it gets here.
  if (isForm && !formType.test(type)) return failure("form_unfit", { why: "broken" });
  if (!isForm && simpleTypes.test(type)) return failure("content_type_unfit", { type: type.slice(0, 80) });
  return ok({ chunks: piecesOf(request), announced: announcedIn(request) });
}

function announcedIn({ headers }: Request): number | undefined {
  const length = headers.get("content-length") ?? "";
  return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** A body of any kind, to be handed on; none where there is none. */
export function bodyAsItComes(request: Request): HandedBody {
  if (request.body === null) return { bytes: undefined };
  return { stream: piecesOf(request), announced: announcedIn(request) };
}

async function* piecesOf(request: Request): AsyncGenerator<Uint8Array, void, undefined> {
  const { body, signal } = request;
  if (body === null) return;
  const brokenOff = (cause: unknown): never => {
    throw new BrokenOff("the caller broke off", { cause });
  };
  if (signal.aborted) brokenOff(signal.reason);
  const reader = body.getReader();
  const read = () => reader.read().catch(brokenOff);
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    for (let piece = await read(); !piece.done; piece = await read()) {
      yield piece.value;
      tookIn(piece.value.length);
    }
    // A body that was given up reads as ended: half a file must not pass for a whole one.
    if (signal.aborted) brokenOff(signal.reason);
  } finally {
    signal.removeEventListener("abort", stop);
    void passOver(reader).finally(stop);
  }
}

/** What is left of a body that was refused: so little that reading it is the quickest way to the caller's next request. */
const leftBytesMax = 1024 * 1024;

/** A caller whose connection is closed while it still sends may never see the answer. Of more than a little it has to. */
async function passOver(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  let bytes = 0;
  try {
    for (let piece = await reader.read(); !piece.done && bytes < leftBytesMax; piece = await reader.read())
      bytes += piece.value.length;
  } catch {
    // It has broken off; nobody wanted it.
  }
}

/** Nobody took the body, because the call was refused before: whoever sends it in this process is told to stop. */
export async function leaveBytes({ body }: Request): Promise<void> {
  if (body !== null && !body.locked) await body.cancel().catch(() => undefined);
}
