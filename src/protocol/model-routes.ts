import { z } from "zod";
import { LocalServer, ModelInfo } from "./resources.ts";
import { Empty, type Route } from "./route.ts";

/** The rows of the route table that are about models. */
export const modelRoutes = {
  listModels: {
    method: "GET",
    path: "/api/v1/models",
    scope: "any",
    summary: "The model slots, and the local model servers that were found.",
    params: Empty,
    query: z.object({ detect: z.stringbool().default(false) }),
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({ slots: z.array(ModelInfo), found: z.array(LocalServer) }),
  },
} as const satisfies Record<string, Route>;
