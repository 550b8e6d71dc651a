import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { ModelErrorKind } from "../protocol/message.ts";
import type { ModelError } from "./provider.ts";

/** A failed call as people are told of it. */
export function modelFailure(
  { model, server }: { readonly model: string; readonly server: string },
  { kind, message: said, because }: ModelError,
): Failure<`model_${ModelErrorKind}`> {
  return makeFailure(`model_${kind}`, { model, server, said, ...(because === undefined ? {} : { because }) });
}
