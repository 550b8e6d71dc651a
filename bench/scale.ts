/** `npm run bench scale`: what a database server costs against the file, what more processes give, how soon one takes over. */

import { runParts } from "./run-parts.ts";
import { full, short } from "./scale/sizes.ts";
import { measureSteps } from "./scale/steps.ts";
import { measureTakeOver } from "./scale/take-over.ts";
import { measureTurns } from "./scale/turns.ts";
import { measureWakes } from "./scale/wakes.ts";
import { openWorld } from "./scale/world.ts";

const parts = { steps: measureSteps, turns: measureTurns, "take-over": measureTakeOver, wakes: measureWakes };
await runParts({ name: "scale", full, short, parts, openWorld });
