import { drawFirst } from "./first-draw.ts";

/**
 * The command `agentyard`. A chat is drawn before anything else is read: who waits at a terminal may type while the rest
 * is opened. Answers the exit code.
 */
export async function main(argv: readonly string[]): Promise<number> {
  const drawn = await drawFirst(argv);
  const { runTyped } = await import("./command.ts");
  return runTyped(argv, drawn);
}
