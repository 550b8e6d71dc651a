import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { FormFault } from "../../words/words.ts";
import { BrokenOff } from "../../workspace/workspace.ts";

/** A form whose file is just coming in. */
export type OpenForm = {
  /** The fields that have come so far; all of them when the file has ended. */
  readonly fields: ReadonlyMap<string, string>;
  readonly file: {
    /** As the sender wrote it: not checked, may be empty. */
    readonly name: string;
    /** Read no faster than they are taken. They end with the form, not before; what is wrong with it is thrown then. */
    readonly chunks: AsyncIterable<Uint8Array>;
  };
  /** What is wrong with it, as far as it was read. */
  fault(): Failure<"form_unfit"> | undefined;
  /** Reads no further. */
  close(): void;
};

/** Far more than any client of ours sends beside a file. */
const limits = { fields: 32, parts: 40, files: 1, fieldSize: 8 * 1024, headerPairs: 32, headerSize: 8 * 1024 };

/** Reads multipart/form-data up to the first byte of its file. */
export async function openForm(
  source: AsyncIterable<Uint8Array>,
  contentType: string,
): Promise<Result<OpenForm, Failure<"form_unfit">>> {
  const parser = openParser(contentType);
  if (parser === undefined) return failure("form_unfit", { why: "no_boundary" });
  const reading = listenTo(parser);
  void pump(source, parser, reading);
  const found = await Promise.race([reading.file.promise, reading.end.promise]);
  reading.check();
  if (found === undefined || "fault" in found) return failure("form_unfit", { why: found?.fault ?? "no_file" });
  const { name, stream } = found;
  return ok({
    fields: reading.fields,
    file: { name, chunks: upToTheEnd(stream, reading) },
    fault() {
      const why = reading.fault();
      return why === undefined ? undefined : failure("form_unfit", { why }).failure;
    },
    close: () => reading.stop.resolve(),
  });
}

function openParser(contentType: string): BusboyInstance | undefined {
  try {
    return new Busboy({ headers: { "content-type": contentType }, limits, preservePath: true });
  } catch {
    return undefined; // It only throws when it finds no boundary.
  }
}

type Found = { readonly name: string; readonly stream: BusboyFileStream };
type End = { readonly fault: FormFault } | undefined;
type Reading = ReturnType<typeof listenTo>;

function listenTo(parser: BusboyInstance) {
  const fields = new Map<string, string>();
  const file = Promise.withResolvers<Found>();
  const end = Promise.withResolvers<End>();
  const stop = Promise.withResolvers<void>();
  let fault: FormFault | undefined;
  let mistake: { readonly error: unknown } | undefined;
  const fail = (why: FormFault) => {
    fault ??= why;
    end.resolve({ fault });
  };
  /** A mistake of ours while pieces are handed on: it is thrown where the form is read. */
  const reject = (error: unknown) => {
    mistake = { error };
    fail("broken");
  };
  const check = () => {
    if (mistake !== undefined) throw mistake.error;
  };
  parser
    .on("field", (name, value, _, isCut) => {
      if (isCut) fail("field_too_long");
      else fields.set(name, value);
    })
    .on("file", (_, stream, name: string | undefined) => {
      // It says so when the form breaks off in the middle of it; nobody may be reading it then.
      stream.on("error", () => fail("broken_off"));
      file.resolve({ name: name ?? "", stream });
    })
    .on("filesLimit", () => fail("several_files"))
    .on("fieldsLimit", () => fail("too_many_parts"))
    .on("partsLimit", () => fail("too_many_parts"))
    .on("error", () => fail("broken"))
    .on("finish", () => end.resolve(fault && { fault }));
  return { fields, file, end, stop, fail, reject, check, fault: () => fault };
}

/** Hands on what comes, each piece when the one before was taken; ends when nobody wants more. */
async function pump(source: AsyncIterable<Uint8Array>, parser: BusboyInstance, reading: Reading): Promise<void> {
  const stopped = Promise.race([reading.stop.promise, reading.end.promise]).then(() => "stopped" as const);
  try {
    for await (const piece of source) {
      const taken = new Promise<"taken">((resolve) => parser.write(piece, () => resolve("taken")));
      // Ended in the middle of a part that it skips, the parser would throw where nobody can catch it.
      if ((await Promise.race([taken, stopped])) === "stopped" || reading.fault() !== undefined) return;
    }
    parser.end();
  } catch (error) {
    if (error instanceof BrokenOff) reading.fail("broken_off");
    else reading.reject(error);
  }
}

async function* upToTheEnd(stream: BusboyFileStream, reading: Reading): AsyncGenerator<Uint8Array, void, undefined> {
  const ended = reading.end.promise.then(() => "ended" as const);
  const pieces: AsyncIterator<Uint8Array, undefined> = stream.iterator({ destroyOnReturn: true });
  try {
    for (;;) {
      // A form that has failed gives no further piece, and perhaps no end.
      const next = await Promise.race([pieces.next().catch(brokenOff), ended]);
      if (next === "ended" || next.done) break;
      yield next.value;
    }
    await reading.end.promise;
    reading.check();
    if (reading.fault() !== undefined) brokenOff(reading.fault());
  } finally {
    reading.stop.resolve();
    stream.destroy();
  }
}

function brokenOff(cause: unknown): never {
  throw new BrokenOff("the form is broken", { cause });
}
