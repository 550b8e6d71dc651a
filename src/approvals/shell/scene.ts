import type { Function as FunctionNode, ParsedScript } from "unbash";
import { type Finding, type FindingKind, Risk } from "../../protocol/approval.ts";
import type { CallFacts } from "../approvals.ts";

/** Where a text that was read has a part that is known only when it runs: any text at all. */
export const any = "\uE000";
/** The same, of which is known that it leads nowhere else as a piece of a path: a number, a name, what lies below a folder. */
export const name = "\uE001";

/** Stands for the text of a script that is there and could not be read: no text has this character in it. */
export const unreadScript = "\uE002";

/** Which commands go without asking, where only those do. */
export type Safe = { readonly commands: readonly string[]; readonly onlySafe: boolean };

export const shellLimits = {
  /** All that one call may cost, whatever it is made of (`spend`): about half a second. */
  spentMax: 1_000_000,
  /** Simple commands and their readings, of all nested texts together; more cannot be read by a person either. */
  stepsMax: 8_000,
  /** Texts within texts: `bash -c "bash -c …"`, functions that call themselves, scripts that run scripts. */
  nestedMax: 12,
  /** Readings of one command, when its variables can have several values, or its name stand for several functions. */
  variantsMax: 64,
  /** Values that a variable can have at one place. */
  valuesMax: 200,
  /** Longer values are known to be there, and no more. */
  valueCharactersMax: 65_536,
  /** Programs that run programs that run programs: `env nice timeout 5 …`. */
  wrappedMax: 40,
  /** Words of commands that stand in the arguments of others, each time that they are gone through. */
  wordsMax: 30_000,
  /** Folders that a shell can be in at one place. */
  foldersMax: 32,
  /** More than anybody reads; what comes then counts only where it is worse. */
  findingsMax: 200,
  /** So many secrets that nothing of the text is shown. */
  secretsMax: 64,
  whatCharactersMax: 300,
} as const;

/** What a program hands on: exactly, where it is known, and else what it can be made of, item by item. */
export type Stream = {
  readonly text?: string | undefined;
  readonly items: readonly string[];
  /** It was fetched or decoded: nobody has seen it. */
  readonly unseen: boolean;
  /** Whole files as they lie there, by absolute path, which nobody has read for us. */
  readonly files?: readonly string[] | undefined;
};

export const unknownStream: Stream = { items: [any], unseen: false };
export const emptyStream: Stream = { text: "", items: [], unseen: false };
export const unseenStream: Stream = { items: [any], unseen: true };
export const fileStream = (files: readonly string[]): Stream => ({ items: [any], unseen: false, files });

export type Variable = { readonly values: readonly string[]; readonly list?: readonly string[] | undefined };

export type Body = { readonly node: FunctionNode; readonly source: string };

/** What a shell knows at one place of its text. */
export type State = {
  variables: Map<string, Variable>;
  /** After branches a name can stand for several. */
  functions: Map<string, readonly Body[]>;
  aliases: Map<string, string>;
  /** Where it can be: absolute paths. */
  folders: readonly string[];
  /** Where it would be had the last `cd` failed; empty when that cannot be. */
  failed: readonly string[];
  parameters: readonly string[] | undefined;
  /** Where a program looks for its modules, besides the folder it stands in: absolute paths. */
  modules: readonly string[];
  /** `set -e`: what fails ends it. */
  endsOnFailure: boolean;
};

/** A text that is being read, and from where. */
export type Run = {
  readonly scene: Scene;
  readonly state: State;
  readonly source: string;
  readonly stdin: Stream | undefined;
  /** Behind `command` and `builtin`: functions and aliases do not count. */
  readonly isDirect?: boolean | undefined;
};

/** One simple command, one reading of it. */
export type Call = Run & {
  readonly program: string;
  readonly args: readonly string[];
  /** As it stands in the text. */
  readonly what: string;
};

export type Language = "python" | "javascript" | "other";

/** What all texts of one call share. */
export type Scene = {
  readonly facts: CallFacts;
  readonly safe: Safe;
  /** Files that the text itself writes, by absolute path; `undefined` for fetched or decoded ones. */
  readonly files: Map<string, string | undefined>;
  /** Those that are just being written, by absolute path, and whether by something else as well. */
  readonly open: Map<string, { readonly isShared: boolean }>;
  /** Links and copies of programs that the text itself makes. */
  readonly links: Map<string, string>;
  /** Folders that are there for sure. */
  readonly made: Set<string>;
  /** Scripts that the text runs, from the root of the files where they lie below it. */
  readonly scripts: Set<string>;
  /** What they tell is masked and shortened in the end (`settled`). */
  readonly findings: Finding[];
  readonly secrets: Set<string>;
  /** Functions that are being read. */
  readonly active: Set<FunctionNode>;
  /** What those that call themselves were read with by then: folders and words. */
  readonly again: Map<FunctionNode, readonly string[]>;
  /** What is run when a shell ends: by then all its functions are there. */
  readonly traps: { readonly run: Run; readonly text: string }[];
  /** Modules of the workspace that were read: the second import runs nothing. */
  readonly imported: Set<string>;
  spent: number;
  steps: number;
  words: number;
  depth: number;
  /** Calls within calls. */
  wrapped: number;
  /** Reads a text as shell commands, and tells what they print. */
  shell(text: string, run: Run, what?: string): Stream;
  /** Runs what stands in `$(…)` or `<(…)`. */
  substitute(script: ParsedScript, run: Run): Stream;
  /** Reads a program; `what` where its lines say too little. */
  code(text: string, language: Language, run: Run, what?: string): void;
  /** Runs a command that stands in the arguments of another one. */
  call(argv: readonly string[], run: Run, what: string): Stream;
};

/**
 * Adds a finding; the same again only raises its risk. The levels in one place, because people decide by them:
 * | finding | risk |
 * | --- | --- |
 * | delete | medium for one file; high for a folder, a pattern or a name that is not known; critical for all files or for `uploads/` |
 * | change_upload, secret, credentials, privilege, unreadable | high |
 * | database | high; critical for a whole database |
 * | network | medium; high when something is sent along; low to this machine |
 * | packages | medium |
 * | run_unseen | critical; high for data that a filter puts into a command |
 * | not_safe | medium; high for writing outside the files |
 * After text from outside was read, what reaches out or cannot be brought back is one level higher (`settled`).
 */
export function report(scene: Scene, kind: FindingKind, risk: Risk, what: string, shape?: string): void {
  const raw = what.slice(0, rawCharactersMax);
  const at = scene.findings.findIndex((one) => one.kind === kind && one.what === raw);
  const before = scene.findings[at];
  const strictest = before === undefined || risks.indexOf(risk) > risks.indexOf(before.risk) ? risk : before.risk;
  const found: Finding = { kind, action: "ask", risk: strictest, layer: "default", what: raw };
  const finding = shape === undefined ? found : { ...found, shape };
  if (at !== -1) scene.findings[at] = finding;
  else if (scene.findings.length < shellLimits.findingsMax) scene.findings.push(finding);
  else {
    const lesser = scene.findings.findLastIndex((one) => risks.indexOf(one.risk) < risks.indexOf(risk));
    if (lesser !== -1) scene.findings[lesser] = finding;
  }
}

/**
 * Counts what the reading of a call costs. Texts are hostile, and the ways to make a reader do much for little have no
 * end: above the limit nothing is read any more (`withinLimits`), from however deep it was called.
 */
export function spend(scene: Scene, steps: number): void {
  scene.spent += steps;
  if (scene.spent > shellLimits.spentMax) throw new RangeError("too much to be read");
}

export const risks = Risk.options;

/** Shortened when all is read: a secret that is cut in two is not found any more. */
const rawCharactersMax = 4096;

/** As people read it. */
export function shortened(what: string): string {
  const plain = what.replaceAll(any, "…").replaceAll(name, "…").trim().toWellFormed();
  return plain.length > shellLimits.whatCharactersMax ? `${plain.slice(0, shellLimits.whatCharactersMax - 1)}…` : plain;
}

/** Whether a part of it is known only when it runs. */
export function isUnknown(text: string): boolean {
  return text.includes(any) || text.includes(name);
}

/** A state of its own: a subshell, a branch, one end of a pipe. */
export function fork(state: State): State {
  return {
    ...state,
    variables: new Map(state.variables),
    functions: new Map(state.functions),
    aliases: new Map(state.aliases),
  };
}

/** After a branch that may or may not have been taken, both can be true. */
export function join(state: State, other: State): void {
  for (const [key, theirs] of other.variables) {
    const ours = state.variables.get(key);
    state.variables.set(key, ours === undefined || ours === theirs ? theirs : either(ours, theirs));
  }
  for (const [key, theirs] of other.functions) {
    const ours = state.functions.get(key) ?? [];
    if (ours !== theirs) state.functions.set(key, [...new Set([...ours, ...theirs])]);
  }
  for (const [key, theirs] of other.aliases) state.aliases.set(key, theirs);
  state.folders = union(state.folders, other.folders);
  state.failed = union(state.failed, other.failed);
}

/** Any of these ends can be the true one: one of them is printed, and nobody knows which. */
export function joined(state: State, ends: readonly { readonly state: State; readonly stream: Stream }[]): Stream {
  for (const end of ends) join(state, end.state);
  return ends.reduce<Stream>((all, { stream }) => ({ ...follow(all, stream), text: undefined }), emptyStream);
}

function either(ours: Variable, theirs: Variable): Variable {
  return { values: bounded(union(ours.values, theirs.values)), list: theirs.list ?? ours.list };
}

export function union(some: readonly string[], others: readonly string[]): readonly string[] {
  return others.length === 0 ? some : [...new Set([...some, ...others])];
}

/** So many values that nobody can name them: any value. */
export function bounded(values: readonly string[]): readonly string[] {
  if (values.length > shellLimits.valuesMax) return [any];
  return values.map((value) => (value.length > shellLimits.valueCharactersMax ? any : value));
}

/** What two programs print one after the other. */
export function follow(first: Stream, second: Stream): Stream {
  const text = first.text === undefined || second.text === undefined ? undefined : first.text + second.text;
  return {
    text: text !== undefined && text.length <= shellLimits.valueCharactersMax * 4 ? text : undefined,
    items: bounded(union(first.items, second.items)),
    unseen: first.unseen || second.unseen,
  };
}

/** A stream of a text that is known, but for its marks. */
export function streamOf(text: string, unseen = false): Stream {
  const items = text.split("\n").filter((line) => line !== "");
  return { text, items: bounded(items), unseen };
}
