/** `npm run bench agents`: what many agents in one tree cost, against one durable append and one agent that is alone. */
import { measureMail } from "./agents/mail.ts";
import { measureMemory } from "./agents/memory.ts";
import { full, short } from "./agents/sizes.ts";
import { measureSteps } from "./agents/steps.ts";
import { openWorld } from "./agents/world.ts";
import { runParts } from "./run-parts.ts";

const parts = { memory: measureMemory, mail: measureMail, steps: measureSteps };
await runParts({ name: "agents", full, short, parts, openWorld });
