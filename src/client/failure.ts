import { thrownText } from "../base/fault.ts";
import { Problem } from "../protocol/resources.ts";
import { failureWords, type Language, wordsFor } from "../words/words.ts";

/** Why a call had no answer, in words and as a code. */
export type ClientFailure = {
  /** A failure code of the server, `network`, or `answer_unreadable`. */
  readonly code: string;
  readonly params: Readonly<Record<string, string | number>>;
  /** What happened and what to do next, in the client's language. */
  readonly detail: string;
  readonly retryable: boolean;
  /** Absent when there was no answer at all. */
  readonly status?: number | undefined;
  /** The server has it in its log file. */
  readonly requestId?: string | undefined;
};

/** What the server said, if it said it in our shape. */
export async function failureOf(response: Response, language: Language): Promise<ClientFailure> {
  const problem = Problem.safeParse(await readJson(response));
  if (!problem.success) return answerUnreadable(response, language);
  const { code, params, detail, retryable, requestId } = problem.data;
  return { code, params, detail, retryable, requestId, status: response.status };
}

export function noAnswer(error: unknown, language: Language): ClientFailure {
  return inWords("network", { said: thrownText(error) }, language);
}

export function answerUnreadable(response: Response, language: Language): ClientFailure {
  return {
    ...inWords("answer_unreadable", { status: response.status }, language),
    status: response.status,
    requestId: response.headers.get("x-request-id") ?? undefined,
  };
}

/** What a download says that ends before its time. */
export function brokenOff(path: string, language: Language): string {
  return inWords("read_failed", { path, why: "broken_off" }, language).detail;
}

/** Undefined where the body is no JSON or breaks off. */
export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function inWords(code: string, params: ClientFailure["params"], language: Language): ClientFailure {
  const detail = failureWords(wordsFor(language), { code, params }).join(language === "zh" ? "" : " ");
  return { code, params, detail: detail.trim(), retryable: code === "network" };
}
