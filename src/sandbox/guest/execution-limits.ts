import { assert } from "../../base/assert.ts";
import { type Execution, executionLimits } from "../provider.ts";

/** Whoever asks for more has not looked, and that is a mistake of ours. */
export function assertWithinLimits({ code, event = "", stdin, folder = "" }: Execution): void {
  const { codeBytesMax, eventBytesMax, stdinBytesMax, folderCharactersMax } = executionLimits;
  assert(Buffer.byteLength(code) <= codeBytesMax, "code for a guest is within its limit");
  assert(Buffer.byteLength(event) <= eventBytesMax, "an event for a guest is within its limit");
  assert((stdin?.length ?? 0) <= stdinBytesMax, "input for a guest is within its limit");
  assert(folder.length <= folderCharactersMax, "the folder of an execution is within its limit");
}
