import { z } from "zod";
import { Empty, type Route } from "./route.ts";

/** Backups of everything, for admins. */
export const backupRoutes = {
  backup: {
    method: "GET",
    path: "/api/v1/backup",
    scope: "admin",
    summary: "The database and all files as one tar file, with a list of their hashes at its end.",
    params: Empty,
    query: z.object({
      /** With the key that stored secrets are locked with. */
      key: z.stringbool().default(false),
    }),
    body: Empty,
    status: 200,
    failures: [],
    answer: Empty,
    givesBytes: true,
    makesFile: "application/x-tar",
  },
} as const satisfies Record<string, Route>;
