import { z } from "zod";
import type { FailureCode } from "./failure.ts";

/** One row of the route table. */
export type Route = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType;
  readonly answer: z.ZodType;
  readonly status: 200 | 201 | 202 | 204;
  /** The answer is a stream of server-sent events; see `StreamFrame`. */
  readonly streams?: true;
  /** The body is the bytes of a file, the answer is: no JSON then, and no limit but the route's own. */
  readonly takesBytes?: true;
  readonly givesBytes?: true;
  readonly failures: readonly FailureCode[];
};

export const Empty = z.object({});
export const ById = z.object({ id: z.string() });
