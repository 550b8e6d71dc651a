/** `npm run bench markdown`: what an answer that streams costs the main thread of a browser. */

import { measureStreaming } from "./markdown/streaming.ts";
import { openWorld } from "./markdown/world.ts";
import { runParts } from "./run-parts.ts";

const parts = { streaming: measureStreaming };
await runParts({ name: "markdown", full: { textBytes: 100_000 }, short: { textBytes: 4_000 }, parts, openWorld });
