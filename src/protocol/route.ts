import { z } from "zod";
import type { FailureCode } from "./failure.ts";

/** What a key may be used for. `open`: no sign-in is asked; `any`: every signed-in caller. */
export const scopes = ["chat", "files", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** In which words a route speaks of its failures: our own, the chat service's, OpenAI's or the operator platform's. */
export type Dialect = "own" | "chat" | "openai" | "operators";

/** One row of the route table. */
export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  readonly path: string;
  /** What a parameter of the path looks like, where it is not simply all up to the next slash; a regular expression. */
  readonly patterns?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly scope: Scope | "open" | "any";
  readonly dialect?: Exclude<Dialect, "own">;
  /** Something is made: `Idempotency-Key` counts, and the same key makes it once. */
  readonly creates?: true;
  /** Somebody shows who they are: counted for the place they come from before anything of it is read. */
  readonly isTry?: true;
  /** What is asked may hold a secret: of its body nothing is stored under an `Idempotency-Key`, not even a hash. */
  readonly hasSecret?: true;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly answer: z.ZodType;
  readonly status: 200 | 201 | 202 | 204;
  /** The answer is a stream of server-sent events, each one frame. */
  readonly streams?: true;
  /** It is where the caller wants it so; else one JSON answer. */
  readonly mayStream?: true;
  /** Of a JSON body, where neither a small nor the usual limit is enough (`bodyBytesMaxOf`). */
  readonly bodyBytesMax?: number;
  /** The body is the bytes of a file, the answer is: no JSON then, and no limit but the route's own. */
  readonly takesBytes?: true;
  readonly givesBytes?: true;
  /** What kind of file it makes for the answer: nothing of it can be asked for by `Range`. */
  readonly makesFile?: "application/zip" | "application/x-tar";
  /** The answer is plain text. */
  readonly givesText?: true;
  /** The body is multipart/form-data, taken as it comes. */
  readonly takesForm?: true;
  readonly failures: readonly FailureCode[];
};

/** `open`: whoever sends it is not known. `large`: it holds what somebody wrote, with pictures. */
export const bodyBytes = { open: 16 * 1024, usual: 1024 * 1024, large: 32 * 1024 * 1024 } as const;

export function bodyBytesMaxOf({ scope, bodyBytesMax }: Pick<Route, "scope" | "bodyBytesMax">): number {
  return bodyBytesMax ?? (scope === "open" ? bodyBytes.open : bodyBytes.usual);
}

export const Empty = z.object({});
export const ById = z.object({ id: z.string() });

export const limits = {
  messageCharactersMax: 4_000_000,
  titleCharactersMax: 200,
  pageMax: 200,
  messageFilesMax: 100,
} as const;
