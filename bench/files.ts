/** `npm run bench files`: what work with files costs against the plain tools of the system, in one run and in turns. */
import { measureAncestors } from "./files/ancestors.ts";
import { measureLooking } from "./files/looking.ts";
import { measureSearch } from "./files/search.ts";
import { full, short } from "./files/sizes.ts";
import { openWorld } from "./files/world.ts";
import { measureWrites } from "./files/writes.ts";
import { runParts } from "./run-parts.ts";

const parts = {
  looking: measureLooking,
  ancestors: measureAncestors,
  search: measureSearch,
  writes: measureWrites,
};
await runParts({ name: "files", full, short, parts, openWorld });
