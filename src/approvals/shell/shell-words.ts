import { fileText } from "./files.ts";
import { holdsAll, placesOf } from "./paths.ts";
import { any, type Call, emptyStream, fork, type Run, report, type Stream, unknownStream } from "./scene.ts";

/** What a shell does by itself. These touch nothing but the shell: they are not programs that a list has to name. */
export const shellWords: ReadonlySet<string> = new Set(
  (
    ": [ [[ test true false cd pushd popd pwd echo printf read mapfile readarray set shift unset export declare typeset " +
    "local readonly let getopts return exit break continue wait jobs fg bg disown alias unalias umask ulimit type hash " +
    "trap eval source . exec command builtin env shopt times dirs logout help history complete compgen enable " +
    "if then else fi for while do done case esac function select time sleep"
  ).split(" "),
);

/** Runs the words that change what the shell itself knows; `undefined` for all others. */
export function runShellWord(call: Call): Stream | undefined {
  runSubscripts(call);
  switch (call.program) {
    case "cd":
    case "pushd":
      return changeFolder(call);
    case "popd":
      call.state.folders = [any];
      return emptyStream;
    case "set":
      return setOptions(call);
    case "shift":
      call.state.parameters = call.state.parameters?.slice(Number(call.args[0] ?? 1) || 1);
      return emptyStream;
    case "unset":
      for (const key of call.args) call.state.variables.delete(key);
      return emptyStream;
    case "alias":
      for (const arg of call.args) if (arg.includes("=")) call.state.aliases.set(...pair(arg));
      return emptyStream;
    case "unalias":
      for (const key of call.args) call.state.aliases.delete(key);
      return emptyStream;
    case "hash":
      // `hash -p /bin/rm ls`: from now on that name is that program.
      if (call.args[0] === "-p" && call.args[2] !== undefined)
        call.state.aliases.set(call.args[2], call.args[1] ?? any);
      return emptyStream;
    case "declare":
    case "local":
    case "typeset":
      // `declare -n a=b`: what is in b by then.
      if (call.args.some((arg) => /^-\w*n/.test(arg)))
        for (const arg of call.args) call.state.variables.set(pair(arg)[0], { values: [any] });
      return undefined;
    case "read":
    case "mapfile":
    case "readarray":
      return readVariables(call);
    case "eval":
      return runText(call, call.args.join(" "));
    case "trap":
      return runTrap(call);
    case "compgen":
    case "complete":
      for (const [at, arg] of call.args.entries())
        if (arg === "-C") runText({ ...call, state: fork(call.state) }, call.args[at + 1] ?? "");
      return undefined;
    case "source":
    case ".":
      return runSource(call);
    default:
      return undefined;
  }
}

/** `test -v 'a[$(x)]'`: words that take the name of a variable run what stands in its subscript, quoted or not. */
function runSubscripts(call: Call): void {
  if (!/^(test|\[\[?|read|mapfile|readarray|declare|typeset|local|let|unset|wait|printf)$/.test(call.program)) return;
  const names = call.program === "printf" ? call.args.slice(0, call.args[0] === "-v" ? 2 : 0) : call.args;
  for (const word of names)
    if (/^\w+\[.*(\$\(|`)/.test(word)) runText({ ...call, state: fork(call.state) }, `: "${word}"`);
}

function pair(arg: string): [string, string] {
  return [arg.slice(0, arg.indexOf("=")), arg.slice(arg.indexOf("=") + 1)];
}

/** `cd` can fail: then the shell stays where it was, unless the folder is there for sure. */
function changeFolder({ scene, state, args }: Call): Stream {
  const to = args.filter((arg) => arg === "-" || !arg.startsWith("-"))[0] ?? "~";
  const before = state.folders;
  // With `CDPATH` set, a name is looked for elsewhere first.
  const isElsewhere = to === "-" || (state.variables.has("CDPATH") && !/^[/.~]/.test(to));
  state.folders = isElsewhere ? [any] : placesOf(scene, state, to);
  const isThere = (place: string) =>
    scene.made.has(place) || holdsAll(scene, place) || place === "/tmp" || place.includes("\uE001");
  state.failed = state.endsOnFailure || state.folders.every(isThere) ? [] : before;
  return emptyStream;
}

function setOptions({ state, args }: Call): Stream {
  const [first = ""] = args;
  if (/^-\w*e/.test(first) || args.includes("errexit")) state.endsOnFailure = true;
  const at = args.indexOf("--");
  if (at !== -1) state.parameters = args.slice(at + 1);
  else if (first !== "" && !/^[-+]/.test(first)) state.parameters = args;
  return emptyStream;
}

/** `read x` takes a line of what comes in. */
function readVariables(call: Call): Stream {
  const { state, args, stdin, program } = call;
  const each = program === "read" ? -1 : args.indexOf("-C");
  if (each !== -1) runText({ ...call, state: fork(state) }, args[each + 1] ?? "");
  const keys = args.filter((arg, at) => !arg.startsWith("-") && !/^-[dnNptua]$/.test(args[at - 1] ?? ""));
  const values = stdin === undefined || stdin.items.length === 0 || stdin.unseen ? [any] : stdin.items;
  const isList = program !== "read" || args.some((arg) => /^-\w*a$/.test(arg));
  const named = isList ? [args.at(-1) ?? "MAPFILE"] : keys.length === 0 ? ["REPLY"] : keys;
  for (const key of named)
    state.variables.set(key, {
      values: named.length === 1 && !isList ? values : values.flatMap((value) => [...value.split(/\s+/), value]),
      list: isList ? values.flatMap((value) => (program === "read" ? value.split(/\s+/) : [value])) : undefined,
    });
  return emptyStream;
}

/** Text that becomes commands: read like the rest, or not seen by anybody. */
export function runText(run: Run & { readonly what: string }, text: string): Stream {
  const { scene, what } = run;
  if (text.trim() === "") return emptyStream;
  if (/^\s*\uE000+\s*$/.test(text)) {
    report(scene, "run_unseen", "critical", what);
    return unknownStream;
  }
  return scene.shell(text, run, what);
}

function runTrap(call: Call): Stream {
  const [first = "", ...signals] = call.args.filter((arg) => arg !== "--");
  if (signals.length === 0 || first.startsWith("-")) return emptyStream;
  runText({ ...call, state: fork(call.state) }, first);
  call.scene.traps.push({ run: { ...call }, text: first });
  return emptyStream;
}

function runSource(call: Call): Stream {
  const [path, ...parameters] = call.args;
  if (path === undefined) return emptyStream;
  const { scene, state, what } = call;
  if (path === "/dev/stdin" && call.stdin !== undefined) return runStream(call, call.stdin);
  const file = fileText(call, path, true);
  if (file === "unseen") report(scene, "run_unseen", "critical", what);
  else if (file !== undefined) {
    if (parameters.length > 0) state.parameters = parameters;
    return scene.shell(file.text, call, what);
  } else if (path.includes(any) || path.startsWith("/dev/fd/")) report(scene, "run_unseen", "critical", what);
  return unknownStream;
}

/** The same as naming the files: their texts are asked for. Where none of them is there, nothing is run. */
export function isMissing(run: Run, { files }: Stream): boolean {
  const found = files?.map((file) => fileText(run, file, true));
  return found?.every((text) => text === undefined) ?? false;
}

/** A shell that reads its commands from a pipe or a here-document. */
export function runStream(run: Run & { readonly what: string }, stream: Stream): Stream {
  if (stream.text !== undefined && !stream.unseen) return runText(run, stream.text);
  if (!isMissing(run, stream)) report(run.scene, "run_unseen", "critical", run.what);
  return unknownStream;
}
