import { judgeCredentials } from "./credentials.ts";
import { judgeDatabase } from "./databases.ts";
import { judgeDelete } from "./deletes.ts";
import { runGit } from "./git.ts";
import { runInterpreter } from "./interpreters.ts";
import { judgeSecrets } from "./judge-secrets.ts";
import { judgeNetwork } from "./networks.ts";
import { runFunction } from "./nodes.ts";
import { outputOf } from "./outputs.ts";
import { judgePackages } from "./packages.ts";
import { placesOf } from "./paths.ts";
import { judgePrivilege } from "./privileges.ts";
import {
  any,
  type Call,
  fork,
  isUnknown,
  type Run,
  report,
  type Stream,
  shellLimits,
  spend,
  unknownStream,
} from "./scene.ts";
import { runShellWord, shellWords } from "./shell-words.ts";
import { judgeProgramWrites } from "./uploads.ts";
import { isWrapper, runWrapped } from "./wrappers.ts";

/** Judges one simple command, and tells what it prints. Whatever it runs in turn comes back here. */
export function runCall(argv: readonly string[], run: Run, what: string): Stream {
  const [first = "", ...args] = argv;
  const { scene, state } = run;
  spend(scene, callSteps + argv.length * wordSteps);
  scene.words += scene.wrapped === 0 ? 0 : argv.length;
  const isTooMuch = scene.wrapped >= shellLimits.wrappedMax || scene.words > shellLimits.wordsMax;
  if (!isTooMuch) judgeSecrets(run, argv, what);
  if (isTooMuch || !isReadable(first)) {
    report(scene, "unreadable", "high", what);
    return unknownStream;
  }
  const named = run.isDirect === true ? undefined : runNamed(first, args, run, what);
  const program = programOf(run, first);
  // The program counts as well: scripts expand no alias, and a function can be taken back or passed by (`env x`).
  const call: Call = { ...run, state: named === undefined ? state : fork(state), isDirect: false, program, args, what };
  const before = scene.findings.length;
  scene.wrapped += 1;
  const stream = isHelp(call) ? unknownStream : runProgram(call, first);
  scene.wrapped -= 1;
  if (named !== undefined) return named;
  if (!isSafe(call) && scene.findings.length === before) report(scene, "not_safe", "medium", what, `${program} *`);
  return stream;
}

/** What it costs, in pieces of an expression. */
const callSteps = 50;
const wordSteps = 6;

/** A name with parts that only show when it runs: nobody knows what it would do. */
function isReadable(first: string): boolean {
  const isTest = first === "[" || first === "[[";
  return !isUnknown(first) && (isTest || !/[*?[]/.test(first));
}

/** An alias or a function of that name. */
function runNamed(first: string, args: readonly string[], run: Run, what: string): Stream | undefined {
  const alias = run.state.aliases.get(first);
  return alias === undefined ? runFunction(first, args, run) : runAlias(first, alias, args, run, what);
}

function runAlias(first: string, alias: string, args: readonly string[], run: Run, what: string): Stream {
  run.state.aliases.delete(first);
  const quoted = args.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(" ");
  const stream = run.scene.shell(`${alias} ${quoted}`, run, what);
  run.state.aliases.set(first, alias);
  return stream;
}

/** The name of a program, also when it is called by a path, a link or a copy. */
function programOf(run: Run, first: string): string {
  const [place = first] =
    first.includes("/") || first.startsWith("~") ? placesOf(run.scene, run.state, first) : [first];
  const base = place.slice(place.lastIndexOf("/") + 1);
  return base === "" ? any : base;
}

/** Asked for help, a program does nothing else. Not so where the words after it belong to another program. */
function isHelp({ program, args }: Call): boolean {
  const [first = "", second = ""] = args;
  if (args.length > 1 && /^(npx|pnpx|bunx|uvx|pipx|ssh|xargs|env|sudo|doas|su|find|eval|source|exec)$/.test(program))
    return false;
  if (["--help", "--version", "-V"].includes(first) && args.length <= 2) return true;
  if (first === "-h" && args.length === 1) return true;
  return args.length === 2 && /^[a-z-]+$/.test(first) && (second === "--help" || second === "--version");
}

function runProgram(call: Call, first: string): Stream {
  const own = runShellWord(call) ?? runWrapped(call) ?? runInterpreter(call, first) ?? runGit(call);
  judgeDelete(call);
  judgeProgramWrites(call);
  judgeCredentials(call, operandsOf(call), call.what, call.program);
  judgeDatabase(call);
  judgeNetwork(call);
  judgePackages(call);
  judgePrivilege(call);
  return own ?? outputOf(call);
}

/** Words that can name a file: `--file=x` and `@x`, too. */
function operandsOf({ args }: Call): string[] {
  return args.flatMap((arg) => {
    const value = /^(?:--?[\w-]+=|@|[\w-]+=@?|-[a-zA-Z]@?(?=[/~.]))(.+)$/.exec(arg)?.[1];
    const file = /^file:\/{2,3}(\/.*)$/i.exec(arg)?.[1] ?? /^file:(\/[^/].*)$/i.exec(arg)?.[1];
    return [arg, ...(value === undefined ? [] : [value]), ...(file === undefined ? [] : [file])];
  });
}

/** Where nothing contains a program, or the operator wants it so, only those on the list go without asking. */
function isSafe({ scene, program, args }: Call): boolean {
  const { safe, facts } = scene;
  if (facts.contained && !safe.onlySafe) return true;
  // What these run has been judged by itself.
  if (shellWords.has(program) || (isWrapper(program) && args.length > 0)) return true;
  const words = [program, ...args];
  return safe.commands.some((entry) => entry.split(" ").every((word, at) => word === words[at]));
}
