import type { Failure } from "../../protocol/failure.ts";
import { openAiError } from "../dialect.ts";
import type { Call } from "../handler.ts";
import { problemOf } from "../problem.ts";

/** Failures in OpenAI's words, where they are not an answer of their own but a part of one. */
export function errorsFor({ language, requestId }: Pick<Call<"createResponse">, "language" | "requestId">) {
  const object = (failure: Failure) => openAiError(problemOf(failure, { language, requestId }));
  return {
    object,
    short(failure: Failure) {
      const { code, message } = object(failure).error;
      return { code, message };
    },
  };
}
