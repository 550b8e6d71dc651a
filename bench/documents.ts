/** `npm run bench documents`: how far our reading of documents agrees with another, and what it costs beside the Python stack. */
import { measureAgreement } from "./documents/agreement.ts";
import { measureFormats } from "./documents/formats.ts";
import { full, short } from "./documents/sizes.ts";
import { measureStack } from "./documents/stack.ts";
import { measureStalls } from "./documents/stalls.ts";
import { openWorld } from "./documents/world.ts";
import { runParts } from "./run-parts.ts";

const parts = {
  agreement: measureAgreement,
  formats: measureFormats,
  stack: measureStack,
  stalls: measureStalls,
};
await runParts({ name: "documents", full, short, parts, openWorld });
