import { basename, join, sep } from "node:path";
import type { Words } from "../words/words.ts";
import { shellQuoted } from "./shell-quoted.ts";
import { subCommands } from "./sub-commands.ts";

export type Started = {
  readonly cwd: string;
  /** The folder that holds our package.json. */
  readonly programDir: string;
  /** It is a clone of its user's. */
  readonly isClone: boolean;
  /** What Node was told to run. */
  readonly script: string;
};

/**
 * What this user types to start our program again from the same folder. In a clone nothing of ours is on the PATH;
 * elsewhere `npx` would fetch a stranger's package of that name.
 */
export function programAsTyped({ cwd, programDir, isClone, script }: Started): string {
  const isLinked = basename(script) === "agentyard";
  if (isLinked) return script.includes(join("node_modules", ".bin")) ? "npx agentyard" : "agentyard";
  if (!isClone) return "agentyard";
  if (cwd === programDir || cwd.startsWith(programDir + sep)) return "npx agentyard";
  return `node ${shellQuoted(join(programDir, "bin", "agentyard.mjs"))}`;
}

/** Our command as this user must type it, so that it runs and acts on the same data. */
export function ownCommand({ program, data }: { readonly program: string; readonly data: string | undefined }): string {
  return data === undefined ? program : `${program} --data ${shellQuoted(data)}`;
}

/** A text that names commands of ours, with each of them as it must be typed here. */
export function asTyped({ command }: Words, text: string): string {
  return text.replaceAll(named, () => command);
}

/** What follows tells a command from the product's name and from `agentyard.yaml`; alone, the backquotes do. */
const follows = ["--help", ...Object.keys(subCommands)].join("|");
const named = new RegExp(`(?<![\\w./-]|npx )agentyard(?= (?:${follows})\\b)|(?<=\`)agentyard(?=\`)`, "g");
