import { posix } from "node:path";
import { fileText } from "./files.ts";
import { runModule } from "./modules.ts";
import { readOptions } from "./options.ts";
import { isBelow, placesOf } from "./paths.ts";
import { any, type Call, fork, isUnknown, type Language, report, type Stream, unknownStream } from "./scene.ts";
import { isMissing, runStream, runText } from "./shell-words.ts";

/** Programs that run a text: given in their arguments, by a pipe, or in a file. `undefined` for all others. */
export function runInterpreter(call: Call, first: string): Stream | undefined {
  const { program } = call;
  if (/^(ba|da|z|k|a|fi|rba|mk)?sh$/.test(program)) return runShell(call);
  const language = languageOf(program);
  if (language !== undefined) return runLanguage(call, language);
  if (/^(g|m|n)?awk$/.test(program)) return runAwk(call);
  if (program === "sed") runSed(call);
  if (program in hooks) runHooks(call);
  return isScript(call, first) ? runFile(call, first, undefined, call.args) : undefined;
}

function languageOf(program: string): Language | undefined {
  if (/^(i?python|pypy)[\d.]*$/.test(program)) return "python";
  if (/^(node|nodejs|deno|bun|tsx|ts-node)$/.test(program)) return "javascript";
  return /^(perl|ruby|php|lua|luajit|Rscript|R|osascript|tclsh|guile|julia|groovy|expect|emacs)[\d.]*$/.test(program)
    ? "other"
    : undefined;
}

function runShell(call: Call): Stream {
  const valued = ["o", "O", "rcfile", "init-file"];
  // `+e` turns an option off.
  const first = call.args.findIndex((arg, at) => !/^\+\w/.test(arg) && call.args[at - 1] !== "+o");
  const { rest, flags } = readOptions(first === -1 ? [] : call.args.slice(first), valued, true);
  // `-lc`, `-ec`: whichever stands with it, the first operand is the text.
  const state = fork(call.state);
  if (flags.has("c")) {
    const [text = "", named = "bash", ...parameters] = rest;
    state.parameters = parameters;
    state.variables.set("0", { values: [named] });
    return runText({ ...call, state }, text);
  }
  const [path, ...parameters] = rest;
  if (flags.has("s") || path === undefined || path === "-" || path === "/dev/stdin")
    return call.stdin === undefined ? unknownStream : runStream({ ...call, state }, call.stdin);
  state.parameters = parameters;
  return runFile({ ...call, state }, path, "shell", parameters);
}

/** Options whose next word is the text that runs, by language or program; the last are those of all others. */
const textOptions: Readonly<Record<string, readonly string[]>> = {
  python: ["c"],
  javascript: ["e", "eval", "p", "print"],
  perl: ["e", "E"],
  ruby: ["e"],
  php: ["r"],
  other: ["e", "E", "c", "eval"],
};

function runLanguage(call: Call, language: Language): Stream {
  const { what, scene, stdin } = call;
  const own = language === "other" ? call.program.replace(/[\d.]+$/, "") : language;
  const args = call.args.flatMap((arg) => apart(arg, language));
  const file = args.findIndex(
    (arg, at) => !arg.startsWith("-") && !takesText(args[at - 1], own) && !takesValue(args[at - 1], own),
  );
  if (language === "javascript" && ["eval", "-p"].includes(args[0] ?? ""))
    return readCode(call, args[1] ?? "", language);
  const texts = args.flatMap((arg, at) =>
    takesText(arg, own) ? [{ text: args[at + 1] ?? "", isOwn: file === -1 || at < file }] : [],
  );
  // Behind what looks like a script it is most likely meant for that one; but that may be the word of an unknown option.
  for (const { text, isOwn } of texts) if (isOwn || !isUnknown(text)) readCode(call, text, language);
  if (texts.some(({ isOwn }) => isOwn)) return unknownStream;
  const module = language === "python" ? args.indexOf("-m") : -1;
  if (module !== -1) runModule(call, args[module + 1] ?? any, call.what, true);
  if (module !== -1) return unknownStream;
  const path = file === -1 ? undefined : args[file];
  if (path === undefined || path === "-" || path === "/dev/stdin") {
    if (stdin === undefined || args.some((arg) => /^--?(version|V|v|h|help)$/.test(arg))) return unknownStream;
    if (stdin.text !== undefined && !stdin.unseen) return readCode(call, stdin.text, language);
    if (!isMissing(call, stdin)) report(scene, "run_unseen", "critical", what);
    return unknownStream;
  }
  if (["deno", "bun"].includes(call.program) && ["run", "test"].includes(path))
    return runFile(call, args[file + 1] ?? any, language, []);
  return runFile(call, path, language, args.slice(file + 1));
}

/** `-c"…"` and `--eval=…` are an option and its text. */
function apart(arg: string, language: Language): readonly string[] {
  const long = /^(--(?:eval|print))=(.*)$/s.exec(arg);
  if (long !== null) return long.slice(1);
  const joined = language === "python" ? /^(-[a-zA-Z]*?c)(.+)$/s : /^(-[lna0]*[eErp]?[eEr])(?=.*[\s("'`])(.+)$/s;
  return (language === "javascript" ? undefined : joined.exec(arg)?.slice(1)) ?? [arg];
}

/** `-pe`, `-lne`: what stands last in a cluster takes the text; in `-MEncode` and `-rdate` it ends the name of a module. */
function takesText(arg: string | undefined, own: string): boolean {
  const keys = textOptions[own] ?? textOptions.other ?? [];
  if (arg?.startsWith("--") === true) return keys.includes(arg.slice(2));
  const letters = arg?.startsWith("-") === true ? arg.slice(1) : "";
  const isName = !/^(python|javascript)$/.test(own) && /^[MmIFrx]./.test(letters);
  const last = isName ? undefined : /^[a-zA-Z0-9]*([ceEr])$/.exec(letters)?.[1];
  return keys.includes(last ?? letters);
}

/** Words after these belong to them. */
const valued: Readonly<Record<string, readonly string[]>> = {
  python: ["-W", "-X"],
  javascript: ["-r", "--require", "--import", "--loader", "--env-file"],
  perl: ["-I"],
  ruby: ["-I", "-r", "-E", "-C"],
  php: ["-d", "-c"],
  lua: ["-l"],
};

function takesValue(before: string | undefined, own: string): boolean {
  return valued[own]?.includes(before ?? "") ?? false;
}

function readCode(call: Call, text: string, language: Language): Stream {
  const isUnseen = /^\s*\uE000+\s*$/.test(text);
  if (isUnseen) report(call.scene, "run_unseen", "critical", call.what);
  else call.scene.code(text, language, call, call.what);
  return unknownStream;
}

/** A script in a file is judged like the text itself where somebody has read it; a program of the system is not one. */
function isScript({ scene, state }: Call, first: string): boolean {
  if (!first.includes("/")) return false;
  const places = placesOf(scene, state, first);
  return places.every((place) => !/^\/(usr\/|s?bin\/|opt\/|run\/)/.test(place) || isBelow(place, scene.facts.root));
}

function runFile(call: Call, path: string, as: Language | "shell" | undefined, parameters: readonly string[]): Stream {
  const { scene, what } = call;
  const file = fileText(call, path, true);
  if (file === "unseen" || path.startsWith("/dev/fd/")) report(scene, "run_unseen", "critical", what);
  if (file === "unseen" || file === undefined) return unknownStream;
  const language = as ?? languageOfFile(path, file.text);
  const state = fork(call.state);
  state.parameters = parameters;
  state.modules = placesOf(scene, state, path).map((place) => posix.dirname(place));
  if (language === "shell") return scene.shell(file.text, { ...call, state }, what);
  scene.code(file.text, language, { ...call, state });
  return unknownStream;
}

function languageOfFile(path: string, text: string): Language | "shell" {
  const named = `${path} ${/^#!.*/.exec(text)?.[0] ?? ""}`;
  if (/\.py\b|python/.test(named)) return "python";
  if (/\.[cm]?[jt]s\b|node|deno|bun/.test(named)) return "javascript";
  return /\.(pl|rb|php|lua)\b|perl|ruby/.test(named) ? "other" : "shell";
}

const awkCommands = /(?:system\s*\(|\|&?)\s*"((?:[^"\\]|\\.)*)"(\s*[^)}\s;])?|"((?:[^"\\]|\\.)*)"\s*\|\s*getline/g;

/** `system("…")`, and pipes to and from commands. */
function runAwk(call: Call): Stream | undefined {
  const [text = ""] = readOptions(call.args, ["F", "v", "f"]).rest;
  for (const [, run, more, read] of text.matchAll(awkCommands)) {
    const command = (run ?? read ?? "").replaceAll('\\"', '"');
    // What is put behind it, and what is printed into it, comes from the data.
    runText({ ...call, stdin: unknownStream }, more === undefined ? command : command + any);
  }
  if (/system\s*\(\s*[^"\s)]|[^"\s]\s*\|\s*getline|\|\s*(cmd|\$)/.test(text))
    report(call.scene, "run_unseen", "high", call.what);
  return undefined;
}

/** `e` runs what it finds in the text, or after it. */
function runSed(call: Call): void {
  const { rest, values } = readOptions(call.args, ["e", "expression", "f", "file", "l"]);
  const scripts = [...(values.get("e") ?? []), ...(values.get("expression") ?? [])];
  const [text = ""] = scripts.length > 0 ? [scripts.join("\n")] : rest;
  const command = /(?:^|[;{}\n]|\d|\$|\/)\s*e\s+([^\n]+)/.exec(text)?.[1];
  if (command !== undefined && !/^s\W/.test(text)) runText(call, command);
  if (/^s([/|#,@])(?:(?!\1).)*\1(?:(?!\1).)*\1[gpiI\d]*e/.test(text))
    report(call.scene, "run_unseen", "critical", call.what);
}

/** Programs that are told to run one on the way. */
function runHooks(call: Call): void {
  const { args, program, stdin } = call;
  const lines = /^(ed|ex|sqlite3|psql)$/.test(program) ? (stdin?.text ?? "").split("\n") : [];
  for (const [at, arg] of [...args, ...lines].entries()) {
    const own = hooks[program]?.exec(arg)?.slice(1).find(Boolean);
    const text = own ?? (nextWord[program]?.test(arg) === true ? args[at + 1] : undefined);
    // It gets each file that is searched.
    const isEach = program === "rg" && text !== undefined;
    if (text !== undefined) runText({ ...call, state: fork(call.state) }, isEach ? `${text} '${any}'` : text);
  }
}

/** Options whose next word is a command. */
const nextWord: Readonly<Record<string, RegExp>> = {
  tar: /^(-I|--to-command|--use-compress-program)$/,
  man: /^(-P|--pager)$/,
  rg: /^--pre$/,
  sort: /^--compress-program$/,
  split: /^--filter$/,
};

const editor = /^\+?:?!(.+)$/;
const hooks: Readonly<Record<string, RegExp>> = {
  tar: /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command)=(.+)$/,
  sqlite3: /^\.(?:shell|system)\s+(.+)$/,
  ...Object.fromEntries(["vim", "vi", "nvim", "ex", "view", "less", "more"].map((one) => [one, editor])),
  man: /^--pager=(.+)$/,
  ed: /^!(.+)$/,
  rg: /^--pre=(.+)$/,
  sort: /^--compress-program=(.+)$/,
  split: /^--filter=(.+)$/,
  psql: /^\\!\s*(.+)$|\bprogram\s+'([^']+)'/i,
};
