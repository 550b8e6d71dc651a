import { z } from "zod";
import { Empty, type Route } from "./route.ts";

const nothing = { params: Empty, query: Empty, body: Empty } as const;

/** For whoever watches over the server: a monitor, or what starts and stops processes. */
export const observeRoutes = {
  alive: {
    ...nothing,
    method: "GET",
    path: "/healthz",
    scope: "open",
    summary: "Whether the process answers.",
    status: 200,
    failures: [],
    answer: z.object({ status: z.literal("ok") }),
  },
  ready: {
    ...nothing,
    method: "GET",
    path: "/readyz",
    scope: "open",
    summary:
      "Whether requests can be served: the database can be read and written, and the server is not about to end.",
    status: 200,
    failures: ["not_ready"],
    answer: z.object({ status: z.literal("ready") }),
  },
  metrics: {
    ...nothing,
    method: "GET",
    path: "/metrics",
    scope: "admin",
    summary: "Counts and measures in the text format of Prometheus; 404 where none are kept.",
    status: 200,
    failures: ["route_not_found"],
    answer: z.string(),
    givesText: true,
  },
} as const satisfies Record<string, Route>;
