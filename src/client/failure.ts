import { thrownText } from "../base/fault.ts";
import { Problem } from "../protocol/resources.ts";
import { clientFailures } from "../words/client-failures.ts";
import type { Language } from "../words/words.ts";

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
  const params = { said: thrownText(error) };
  const detail = told(clientFailures[language].network(params), language);
  return { code: "network", params, detail, retryable: true };
}

export function answerUnreadable(response: Response, language: Language): ClientFailure {
  const { status } = response;
  return {
    ...{ code: "answer_unreadable", params: { status }, retryable: false, status },
    detail: told(clientFailures[language].answer_unreadable({ status }), language),
    requestId: response.headers.get("x-request-id") ?? undefined,
  };
}

/** What a download says that ends before its time. */
export function brokenOff(path: string, language: Language): string {
  return told(clientFailures[language].broken_off({ path }), language);
}

/** Undefined where the body is no JSON or breaks off. */
export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

function told(sentences: readonly string[], language: Language): string {
  return sentences.join(language === "zh" ? "" : " ");
}
