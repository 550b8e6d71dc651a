import { z } from "zod";
import type { FailureCode } from "./failure.ts";

/** One row of the route table. */
export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";
  readonly path: string;
  /** What a parameter of the path looks like, where it is not simply all up to the next slash; a regular expression. */
  readonly patterns?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly answer: z.ZodType;
  readonly status: 200 | 201 | 202 | 204;
  /** The answer is a stream of server-sent events, each one frame. */
  readonly streams?: true;
  /** The body is the bytes of a file, the answer is: no JSON then, and no limit but the route's own. */
  readonly takesBytes?: true;
  readonly givesBytes?: true;
  /** The body is multipart/form-data, taken as it comes. */
  readonly takesForm?: true;
  readonly failures: readonly FailureCode[];
};

export const Empty = z.object({});
export const ById = z.object({ id: z.string() });
