import type { Finding } from "../protocol/approval.ts";
import type { CallFacts } from "./approvals.ts";
import { withoutSecrets } from "./secrets.ts";
import { openScene, readCommand, settled } from "./shell/open.ts";
import type { Safe } from "./shell/scene.ts";

/** A longer command is not read: nobody could decide about it. It belongs in a file. */
export const commandBytesMax = 256 * 1024;

/**
 * What asks for a decision in a shell command, in the order it would happen. Nothing runs and nothing is looked up: the
 * text is parsed, its variables, folders and pipes are followed, and every command that it can run is judged by itself.
 */
export function commandFindings(command: string, facts: CallFacts, safe: Safe): Finding[] {
  if (Buffer.byteLength(command) > commandBytesMax) return [notRead(command)];
  const { scene, run } = openScene(facts, safe);
  return withinLimits(() => readCommand(command, run)) ? settled(scene) : [notRead(command)];
}

/**
 * Whether it came to its end. A text can be deeper than a parser can follow, or cost too much (`spend`): then it is not
 * read, and a person is asked, which is the safe side of whatever the engine finds too large.
 */
export function withinLimits(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof RangeError && tooLarge.test(error.message)) return false;
    throw error;
  }
}

/** The words of `spend`, and of the engine for a stack, a text or a collection; other ranges are left by a mistake of ours. */
const tooLarge =
  /^(?:too much to be read|Maximum call stack size exceeded|Invalid string length|(?:Map|Set) maximum size exceeded)$/;

/** What is too long or too deep to be read asks as it is. */
export function notRead(text: string): Finding {
  return { kind: "unreadable", action: "ask", risk: "high", layer: "default", what: beginningOf(text) };
}

/** The beginning of a text that is not read: enough to know it again. */
function beginningOf(text: string): string {
  return `${withoutSecrets(text.slice(0, beginningCharactersMax * 8)).slice(0, beginningCharactersMax)}…`.toWellFormed();
}

const beginningCharactersMax = 80;
