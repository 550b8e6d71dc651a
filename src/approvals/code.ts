import type { Finding } from "../protocol/approval.ts";
import type { CallFacts } from "./approvals.ts";
import { commandBytesMax, commandFindings, notRead, withinLimits } from "./commands.ts";
import { openScene, readCommand, settled, unfenced } from "./shell/open.ts";
import type { Safe } from "./shell/scene.ts";

const everythingSafe: Safe = { commands: [], onlySafe: false };

/** What asks for a decision in a program. Programs that it starts are judged as commands. */
export function codeFindings(
  code: string,
  language: "python" | "javascript" | "bash",
  facts: CallFacts,
  safe = everythingSafe,
): Finding[] {
  if (language === "bash") return commandFindings(code, facts, safe);
  if (Buffer.byteLength(code) > commandBytesMax) return [notRead(code)];
  const { scene, run } = openScene(facts, safe);
  return withinLimits(() => scene.code(unfenced(code), language, run)) ? settled(scene) : [notRead(code)];
}

/** What is known of them already. */
export type KnownScripts = Partial<Pick<CallFacts, "root" | "scripts">>;

/**
 * Scripts that a call runs: paths from the root of the files, absolute ones where they lie elsewhere. Whoever has read
 * them hands their texts in with the facts; a script may name further ones, so it can be asked again with those.
 */
export function scriptsOf(
  call: { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> },
  known?: KnownScripts,
): string[] {
  const { command, code, language } = call.arguments;
  const facts: CallFacts = {
    contained: true,
    network: false,
    tainted: false,
    root: known?.root ?? "/workspace/any",
    scripts: known?.scripts ?? new Map(),
  };
  const { scene, run } = openScene(facts, everythingSafe);
  // What cannot be read to its end asks anyway, whatever it runs.
  withinLimits(() => {
    if (typeof command === "string" && isShort(command)) readCommand(command, run);
    else if (typeof code === "string" && isShort(code)) {
      if (language === "bash") readCommand(code, run);
      else scene.code(unfenced(code), language === "javascript" ? "javascript" : "python", run);
    }
  });
  return [...scene.scripts].filter((path) => !facts.scripts.has(path));
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text) <= commandBytesMax;
}
