/** `npm run bench http`: what the server costs against a plain relay and a bare sink, in one run and in turns. */
import { measureFirstToken } from "./http/first-token.ts";
import { measureLongText } from "./http/long-text.ts";
import { measureManyStreams } from "./http/many-streams.ts";
import { full, short } from "./http/sizes.ts";
import { measureUploads } from "./http/uploads.ts";
import { openWorld } from "./http/world.ts";
import { runParts } from "./run-parts.ts";

const parts = {
  tokens: measureFirstToken,
  text: measureLongText,
  streams: measureManyStreams,
  uploads: measureUploads,
};
await runParts({ name: "http", full, short, parts, openWorld });
