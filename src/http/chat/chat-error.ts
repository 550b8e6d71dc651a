import type { ChatError } from "../../protocol/chat.ts";
import { storedFailure } from "../../protocol/failure.ts";
import type { Problem } from "../../protocol/resources.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../../words/words.ts";
import { chatError } from "../dialect.ts";
import { isFailureCode, statusOf } from "../status.ts";

export type DocumentFailure = {
  readonly code: string;
  readonly params: Readonly<Record<string, string | number>>;
  readonly retryable?: boolean | undefined;
};

/** A failure as a document has it: flat, and under `BaseError` once more. `run` stands for the request: it stays the same. */
export function documentError(
  { code, params, retryable = false }: DocumentFailure,
  { language, runId }: { readonly language: Language; readonly runId: string },
): ChatError {
  const [title, next] = failureWordsOverHttp(wordsFor(language), { code, params });
  const status = isFailureCode(code) ? statusOf(storedFailure(code, params)) : 500;
  const type = `urn:agentyard:failure:${code}`;
  const detail = [title, next].join(language === "zh" ? "" : " ");
  const problem: Problem = { type, title, status, code, detail, params: { ...params }, retryable, requestId: runId };
  const flat = chatError(problem);
  return { ...flat, HTTPCode: status, Language: language === "zh" ? "zh-CN" : "en-US", BaseError: flat };
}
