import { ok, type Result } from "../../base/result.ts";
import type { HomeKey } from "../../homes/homes.ts";
import type { Failure } from "../../protocol/failure.ts";
import { BrokenOff } from "../../workspace/workspace.ts";
import type { IncomingBytes } from "../bytes.ts";
import type { Call, Parts } from "../handler.ts";
import { openForm } from "../sandbox/multipart.ts";
import { settings } from "../sandbox/seek-file.ts";
import type { HomeParts } from "./find-home.ts";
import { keyOfForm } from "./named-homes.ts";

type FormParts = HomeParts & Pick<Parts, "sandboxSettings">;
type FormCall = Call<"uploadSandboxFile">;

/** A form that was read, and where it goes. */
export type KeptForm = {
  readonly key: HomeKey | undefined;
  readonly bytes: IncomingBytes;
  readonly close: () => void;
};

/** What a form has beside its file, at the most. */
const formBytesMax = 512 * 1024;

/**
 * A form may name its conversation after its file: where nothing else names it, all of it is kept on the disk until that
 * is known. Undefined: it is refused for its length wherever it is.
 */
export async function keepForm(parts: FormParts, call: FormCall): Promise<Result<KeptForm | undefined, Failure>> {
  const bytesMax = parts.sandboxSettings().uploads.fileBytesMax + formBytesMax;
  if ((call.bytes.announced ?? 0) > bytesMax) return ok(undefined);
  const limit = { bytes: bytesMax, setting: settings.fileBytesMax };
  const spooled = await parts.workspaces.spool(call.bytes.chunks, { name: call.query.path ?? "file", limit });
  if (!spooled.ok) return spooled;
  const { chunks, close, bytes } = spooled.value;
  const key = await orLetGo(close, async () => {
    const fields = await fieldsOf(chunks(), call.header("content-type") ?? "");
    return keyOfForm(parts, call, fields);
  });
  return ok({ key, bytes: { chunks: chunks(), announced: bytes }, close });
}

/** Who looks after what is kept: whoever gets the answer, and where there is none nobody else does. */
export async function orLetGo<T>(close: () => void, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  try {
    const answer = await work();
    isOver = true;
    return answer;
  } finally {
    if (!isOver) close();
  }
}

/** What is wrong with a form is told by whoever takes it. */
async function fieldsOf(chunks: AsyncIterable<Uint8Array>, type: string): Promise<ReadonlyMap<string, string>> {
  const form = await openForm(chunks, type);
  if (!form.ok) return new Map();
  try {
    for await (const _ of form.value.file.chunks);
  } catch (error) {
    if (!(error instanceof BrokenOff)) throw error;
  }
  form.value.close();
  return form.value.fields;
}
