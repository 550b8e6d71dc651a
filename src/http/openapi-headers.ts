import type { Route } from "../protocol/route.ts";
import type { Json } from "./openapi-schemas.ts";

/** The headers that requests may have, by the names under which the document refers to them. */
export const parameters = {
  ActsAs: header("x-account-id", "Act as this user, where nobody has to sign in."),
  Language: header("Accept-Language", "In which language texts are: English or Chinese.", { example: "zh-CN" }),
  ChatLanguage: header("x-language", "The same, as clients of the chat service say it; it counts first.", {
    example: "zh-CN",
  }),
  BusinessDomain: header("x-business-domain", "Kept on the user's sandbox session.", {
    schema: { type: "string", maxLength: 200, default: "bd_public" },
  }),
  IdempotencyKey: header("Idempotency-Key", "The same key gives the same answer and does the work once.", {
    schema: { type: "string", minLength: 1, maxLength: 255 },
  }),
  LastEventId: header("Last-Event-ID", "The id of the last event that came: the stream goes on behind it."),
  Range: header("Range", "One part of the file.", { example: "bytes=0-99" }),
};

type More = { readonly schema?: Json; readonly example?: string };

function header(name: string, description: string, { schema = { type: "string" }, ...more }: More = {}): Json {
  return { name, in: "header", required: false, description, schema, ...more };
}

/** Which of them a route takes. */
export function headersOf(name: string, route: Route): Json[] {
  const { scope, dialect, creates, streams, givesBytes, makesFile } = route;
  const refer = (parameter: keyof typeof parameters) => ({ $ref: `#/components/parameters/${parameter}` });
  return [
    ...(scope === "open" ? [] : [refer("ActsAs")]),
    refer("Language"),
    ...(dialect === "chat" ? [refer("ChatLanguage")] : []),
    ...(looksAfterSandbox.has(name) || name === "createSession" ? [refer("BusinessDomain")] : []),
    ...(creates ? [refer("IdempotencyKey")] : []),
    ...(streams || name === "resumeChat" ? [refer("LastEventId")] : []),
    ...(givesBytes && makesFile === undefined ? [refer("Range")] : []),
  ];
}

/** The routes that see to it that the caller has a sandbox. */
const looksAfterSandbox: ReadonlySet<string> = new Set([
  "chatCompletion",
  "debugCompletion",
  "apiChatCompletion",
  "plainChatCompletion",
]);

/** The headers of an answer that tell more than its body; undefined where there are none. */
export function answerHeaders(name: string): Json | undefined {
  return looksAfterSandbox.has(name) ? sandboxHeaders : undefined;
}

const sandboxHeaders = {
  "x-sandbox-session": { description: "The caller's sandbox session.", schema: { type: "string" } },
  "x-sandbox-error": {
    description: "Why there is none, by the code of the failure: the chat goes on without it.",
    schema: { type: "string" },
  },
};
