import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { McpFault } from "../words/words.ts";
import { throwMistake } from "./own-code.ts";

/** Why a server did not do what it was asked to. */
export type Fault = {
  readonly why: McpFault;
  /** A code of the system, a status or a sentence of the server, on one line; empty where there is none. */
  readonly said: string;
  /** The server has forgotten who we are: what was asked was not looked at, and may be asked again. */
  readonly isSessionLost?: true;
  /** What the user must have agreed to for this. */
  readonly scope?: string;
  /** The connection is of no more use. */
  readonly isBroken?: true;
};

const saidMax = 300;

/**
 * What was thrown by the client that we speak with servers through, or by the platform below it. A mistake in code of ours
 * that the client has called is no fault of the server: it is thrown on.
 */
export function faultOf(error: unknown): Fault {
  throwMistake(error);
  const { code, status, text, scope } = detailsOf(error);
  const said = oneLine(error instanceof Error ? error.message : String(error));
  if (scope !== undefined) return { why: "http", said: "403", scope };
  if (status !== undefined) {
    const isSessionLost = status === 404 || (status === 400 && /session/i.test(`${text} ${said}`));
    return { why: "http", said: String(status), ...(isSessionLost && { isSessionLost, isBroken: true }) };
  }
  const network = networkCode(error);
  if (network !== undefined) return { why: "network", said: network, isBroken: true };
  switch (code) {
    case "CONNECTION_CLOSED":
    case "NOT_CONNECTED":
    case "SEND_FAILED":
      return { why: "ended", said: "", isBroken: true };
    case "REQUEST_TIMEOUT":
      return { why: "time", said: "" };
    case "INVALID_RESULT":
    case "ERA_NEGOTIATION_FAILED":
    case "LIST_PAGINATION_EXCEEDED":
    case "UNSUPPORTED_RESULT_TYPE":
      return { why: "protocol", said };
    default:
      return { why: typeof code === "number" ? "refused" : "protocol", said };
  }
}

/** A fault as whoever asked hears of it. */
export function failureOf(server: string, { why, said }: Fault): Failure {
  return makeFailure("mcp_server_failed", { server, why, said });
}

type Details = {
  readonly code: unknown;
  readonly status: number | undefined;
  readonly text: string;
  readonly scope: string | undefined;
};

function detailsOf(error: unknown): Details {
  const own = recordOf(error);
  const data = recordOf(own.data);
  const status = typeof data.status === "number" ? data.status : undefined;
  const text = typeof data.text === "string" ? data.text : "";
  return { code: own.code, status, text, scope: typeof own.requiredScope === "string" ? own.requiredScope : undefined };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  // The fields of an error are found by name, whether it has them itself or by its class.
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

/** `ECONNREFUSED` and its like stand in the cause of the cause of what is thrown. */
function networkCode(error: unknown, depth = causesMax): string | undefined {
  if (depth === 0) return undefined;
  const { code, cause, data } = recordOf(error);
  if (typeof code === "string" && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code)) return code;
  const deeper = networkCode(cause, depth - 1) ?? networkCode(recordOf(data).cause, depth - 1);
  const isFetch = error instanceof TypeError && /fetch failed|terminated/.test(error.message);
  return deeper ?? (isFetch ? "" : undefined);
}

const causesMax = 5;

/** What others wrote, fit to stand inside a sentence of ours: paths of the machine are nobody's business. */
export function oneLine(text: string): string {
  const line = text
    .replaceAll(/\s+/g, " ")
    .replaceAll(/(?:\/[\w.@+-]+){2,}/g, "…")
    .trim()
    .toWellFormed();
  return line.length > saidMax ? `${line.slice(0, saidMax)}…` : line;
}
