import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { systemCodeOrThrow } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { InputStream } from "./console.ts";

export type InputFile = { readonly path: string; remove(): Promise<void> };

/** Standard input as a file that can be sent along, byte for byte: `--file -`. The failure is the system's word. */
export async function inputAsFile(input: InputStream, signal: AbortSignal): Promise<Result<InputFile, string>> {
  try {
    const folder = await mkdtemp(join(tmpdir(), "agentyard-input-"));
    const path = join(folder, "stdin.txt");
    const remove = () => rm(folder, { recursive: true, force: true });
    await pipeline(input, createWriteStream(path, { mode: 0o600 }), { signal });
    return ok({ path, remove });
  } catch (error) {
    const isEnded = signal.aborted && error instanceof Error && error.name === "AbortError";
    return isEnded ? failed("EINTR") : failed(systemCodeOrThrow(error));
  }
}
