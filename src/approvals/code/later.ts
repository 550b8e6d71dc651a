import { judgeTargets } from "../shell/deletes.ts";
import { runModule, runRequired } from "../shell/modules.ts";
import { any, report } from "../shell/scene.ts";
import { isDeleting, isRunning, knownRef, type Program } from "./calls.ts";
import { moduleName } from "./names.ts";
import type { Value } from "./reader.ts";
import type { Token } from "./tokens.ts";

/**
 * A function that is named and not called. Programs of one conversation share their variables, and the next of them can
 * call it by a name that tells nothing: it counts as called on any path.
 */
export function judgeTaken(program: Program, { ref = "", owner }: Value, at: number): void {
  const own = knownRef(ref);
  if (/\.(unlink|rmtree|removedirs)$/.test(own) && !isDeleting(own) && owner !== undefined)
    judgeTargets(program.run, owner.ref === undefined ? owner.texts : [any], false, program.whatAt(at));
  if (!own.includes(".")) return;
  if (isDeleting(own)) judgeTargets(program.run, [any], true, program.whatAt(at));
  else if (isRunning(own)) report(program.run.scene, "run_unseen", "high", program.whatAt(at));
}

/** An imported function that deletes: under another name at once, under its own when nothing here calls it. */
export function judgeImported(program: Program, name: string, ref: string, what: string): void {
  const isWhole = /^(os|shutil|fs|child_process|subprocess)\.\*$/.test(ref);
  if (!isDeleting(ref) && !isWhole) return;
  if (isWhole || !ref.endsWith(`.${name}`)) judgeTargets(program.run, [any], true, what);
  else program.unused.set(name, what);
}

export function judgeUnused(program: Program): void {
  for (const what of program.unused.values()) judgeTargets(program.run, [any], true, what);
}

/** Modules of the workspace that an import runs. */
export function runImported(
  program: Program,
  tokens: readonly Token[],
  pairs: readonly (readonly [string, string])[],
  what: string,
): void {
  const { run, language } = program;
  if (language === "python") {
    const isFrom = tokens[0]?.text === "from";
    const modules = isFrom ? pairs.map(([, ref]) => ref.replace(/\.\*$/, "")) : wordsOf(tokens);
    for (const module of new Set(modules)) runModule(run, module, what);
    return;
  }
  const source = tokens.findLast(({ kind }) => kind === "text")?.pieces?.join("") ?? "";
  runRequired(run, moduleName(source), what);
}

/** `import a.b as c, d` */
function wordsOf(tokens: readonly Token[]): string[] {
  const text = tokens.slice(1).map((token) => (token.text === "as" ? " as " : token.text));
  return text
    .join("")
    .split(",")
    .map((group) => group.split(" as ")[0] ?? "");
}
