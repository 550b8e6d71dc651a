import { join } from "node:path";

/** The program that is measured: that of this clone, or, in `npm test`, the package that was built of it a moment before. */
const program = process.env.AGENTYARD_TESTED_PACKAGE ?? join(import.meta.dirname, "..");
export const entry = join(program, "bin", "agentyard.mjs");
