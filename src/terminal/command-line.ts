import { parseArgs } from "node:util";
import { nearest } from "../base/nearest.ts";
import { ok, type Result } from "../base/result.ts";
import type { BudgetLimits } from "../protocol/budget.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { Slot } from "../protocol/message.ts";
import { type Language, languages, type TerminalWords } from "../words/words.ts";
import { type ApprovalsCommand, readApprovals } from "./approvals-line.ts";
import { type CopyCommand, readCopy } from "./copy-line.ts";
import {
  type ExecCommand,
  readExec,
  readSandbox,
  readSandboxHost,
  type SandboxCommand,
  type SandboxHostCommand,
} from "./program-commands.ts";
import { type RunLimits, readRunLimits } from "./run-limits.ts";
import { readSearch, type SearchCommand } from "./search-line.ts";
import { readServe, type ServeCommand } from "./serve-line.ts";
import {
  aliases,
  isSubCommand,
  type OptionName,
  options,
  optionsOf,
  optionValue,
  type SubCommandName,
  subCommands,
} from "./sub-commands.ts";
import { readUser, type UserCommand } from "./user-line.ts";

export type Command = { readonly data?: string; readonly language?: Language; readonly url?: string } & (
  | { readonly name: "chat"; readonly going?: GoingOn; readonly slot?: Slot; readonly surface?: Surface }
  | {
      readonly name: "run";
      readonly output: "text" | "json" | "stream-json";
      readonly going?: GoingOn;
      readonly slot?: Slot;
      /** Empty: to be read from standard input, where something is piped. */
      readonly message: string;
      /** Files to send along, beside those that the message names. */
      readonly files?: readonly string[];
      /** A `-` stands at the end: what is piped in belongs to the message, however long it takes to come. */
      readonly isInputAwaited?: true;
      /** What the turn may spend. */
      readonly budget?: BudgetLimits;
      readonly limits?: RunLimits;
    }
  | { readonly name: "model"; readonly action: "list"; readonly json: boolean }
  | {
      readonly name: "model";
      readonly action: "test";
      readonly slot: Slot;
      readonly json: boolean;
      readonly request?: string;
    }
  | ApprovalsCommand
  | { readonly name: "log" | "replay"; readonly id: string; readonly json: boolean }
  | { readonly name: "config"; readonly json: boolean }
  | { readonly name: "migrate"; readonly json: boolean }
  | { readonly name: "doctor"; readonly json: boolean; readonly fix: boolean }
  | ExecCommand
  | SandboxCommand
  | SandboxHostCommand
  | SearchCommand
  | ServeCommand
  | { readonly name: "mcp" }
  | UserCommand
  | CopyCommand
  | { readonly name: "completion"; readonly shell: Shell }
  | { readonly name: "help"; readonly about?: SubCommandName }
  | { readonly name: "version" }
);

/** How a chat looks: drawn, in lines with keys, or in lines alone. */
export type Surface = "rich" | "plain" | "screen_reader";

/** With which conversation to go on: the newest, or one by the beginning of its id. */
export type GoingOn = "newest" | { readonly id: string };

const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export type UsageResult<T> = Result<T, Failure<"usage">>;

/** What was typed, checked in full. Options may stand before or after the sub-command. */
export function parseCommandLine(argv: readonly string[], words: TerminalWords): UsageResult<Command> {
  const parsed = readLine(argv, words);
  if (parsed.ok || argv.find(isSubCommand) !== "exec") return parsed;
  return failure("usage", { ...parsed.failure.params, command: "exec" });
}

function readLine(argv: readonly string[], words: TerminalWords): UsageResult<Command> {
  const typed = readTokens(argv, words);
  if (!typed.ok) return typed;
  const { positionals } = typed.value;
  // `help run` is `run --help`.
  const isHelp = positionals[0] === "help";
  const [first, ...rest] = isHelp ? positionals.slice(1) : positionals;
  if (first !== undefined && !isSubCommand(first)) {
    return usage(
      words.usage.unknownCommand({ name: first, near: likely(first, ["help", ...Object.keys(subCommands)]) }),
    );
  }
  const name = first ?? "chat";
  const wrong = checkOptions(name, typed.value, words);
  if (wrong !== undefined) return usage(wrong);

  const { value, has } = typed.value;
  const language = languages.find((known) => known === value("lang"));
  const data = value("data");
  const url = value("url");
  const common = {
    ...(data !== undefined && { data }),
    ...(language !== undefined && { language }),
    ...(url !== undefined && { url }),
  };
  if (has("help") || isHelp) return ok({ ...common, name: "help", ...(first !== undefined && { about: name }) });
  if (has("version")) return ok({ ...common, name: "version" });
  const command = readCommand(name, rest, typed.value, words);
  return command.ok ? ok({ ...common, ...command.value }) : command;
}

/** The language asked for, found even where the rest of the line is wrong: the error is to be said in it. */
export function languageAsked(argv: readonly string[]): Language | undefined {
  const at = argv.findIndex((word) => word === "--lang" || word.startsWith("--lang="));
  const value = at < 0 ? undefined : argv[at]?.includes("=") ? argv[at].slice("--lang=".length) : argv[at + 1];
  return languages.find((language) => language === value);
}

export type Typed = {
  readonly positionals: readonly string[];
  readonly used: readonly { name: OptionName; raw: string }[];
  /** The last one, where an option was given several times. */
  value(name: OptionName): string | undefined;
  values(name: OptionName): readonly string[];
  has(name: OptionName): boolean;
};

function readTokens(argv: readonly string[], words: TerminalWords): UsageResult<Typed> {
  const known = {
    ...options,
    ...Object.fromEntries(Object.entries(aliases).map(([name, real]) => [name, options[real]])),
  };
  const { tokens } = parseArgs({
    args: [...argv],
    options: known,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const positionals: string[] = [];
  const used: { name: OptionName; raw: string }[] = [];
  const given: { name: OptionName; value: string }[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const name = aliases[token.name] ?? (isOption(token.name) ? token.name : undefined);
    if (name === undefined) {
      const near = likely(token.name, Object.keys(known));
      const wrong = { name: token.rawName, command: "agentyard", near: near && `--${near}` };
      return usage(words.usage.unknownOption(wrong));
    }
    used.push({ name, raw: token.rawName });
    if (options[name].type === "boolean") {
      if (token.value !== undefined) return usage(words.usage.valueUnwanted({ name: token.rawName }));
    } else if (token.value === undefined || (!token.inlineValue && /^-./.test(token.value))) {
      return usage(words.usage.valueMissing({ name: token.rawName, value: optionValue(name) }));
    } else {
      given.push({ name, value: token.value });
    }
  }
  const has = (name: OptionName) => used.some((option) => option.name === name);
  const values = (name: OptionName) => given.filter((option) => option.name === name).map(({ value }) => value);
  return ok({ positionals, used, has, values, value: (name) => values(name).at(-1) });
}

function checkOptions(name: SubCommandName, typed: Typed, words: TerminalWords): string | undefined {
  const allowed = optionsOf(name);
  const stranger = typed.used.find((option) => !allowed.includes(option.name));
  if (stranger !== undefined) return words.usage.unknownOption({ name: stranger.raw, command: name, near: undefined });
  if (typed.has("continue") && typed.has("resume")) {
    return words.usage.notTogether({ one: "--continue", other: "--resume" });
  }
  if (typed.has("json") && typed.has("stream-json")) {
    return words.usage.notTogether({ one: "--json", other: "--stream-json" });
  }
  if (typed.has("plain") && typed.has("screen-reader")) {
    return words.usage.notTogether({ one: "--plain", other: "--screen-reader" });
  }
  if (typed.values("file").includes("-") && typed.positionals.at(-1) === "-") {
    return words.usage.notTogether({ one: "--file -", other: "-" });
  }
  const url = typed.value("url");
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
    return words.usage.valueUnfit({ name: "--url", value: url, known: "http://…, https://…" });
  }
  if (url !== undefined && typed.has("data")) return words.usage.notTogether({ one: "--url", other: "--data" });
  if (typed.has("json") && typed.has("fix")) return words.usage.notTogether({ one: "--json", other: "--fix" });
  if (typed.value("resume")?.trim() === "") return words.usage.idEmpty({ name: "--resume" });
  if (typed.values("file").some((path) => path.trim() === "")) return words.usage.pathEmpty({ name: "--file" });
  const slot = typed.value("slot");
  if (!Slot.optional().safeParse(slot).success) {
    return words.usage.valueUnfit({ name: "--slot", value: slot ?? "", known: Slot.options.join(", ") });
  }
  const language = typed.value("lang");
  if (language !== undefined && !languages.some((known) => known === language)) {
    return words.usage.valueUnfit({ name: "--lang", value: language, known: languages.join(", ") });
  }
  return undefined;
}

function readCommand(
  name: SubCommandName,
  rest: readonly string[],
  typed: Typed,
  words: TerminalWords,
): UsageResult<Command> {
  const json = typed.has("json");
  const [one, ...more] = rest;
  const tooMany = (value: string | undefined) =>
    usage(words.usage.argumentUnwanted({ command: name, value: value ?? "" }));
  switch (name) {
    case "chat":
      return one === undefined ? ok({ name, ...readGoingOn(typed), ...readSurface(typed) }) : tooMany(one);
    case "run": {
      const output = json ? "json" : typed.has("stream-json") ? "stream-json" : "text";
      const isInputAwaited = rest.at(-1) === "-";
      const message = (isInputAwaited ? rest.slice(0, -1) : rest).join(" ");
      const files = typed.values("file");
      const budget = readBudget(typed, words);
      if (!budget.ok) return budget;
      const more = { ...(isInputAwaited && { isInputAwaited }), ...(files.length > 0 && { files }) };
      const limits = readRunLimits(typed, words);
      if (!limits.ok) return limits;
      return ok({ name, output, message, ...more, ...budget.value, ...limits.value, ...readGoingOn(typed) });
    }
    case "model":
      return readModelCommand(rest, typed, words);
    case "approvals":
      return readApprovals(rest, typed, words);
    case "log":
    case "replay":
      if (one === undefined) return usage(words.usage.argumentMissing({ command: name, name: "ID" }));
      if (one.trim() === "") return usage(words.usage.idEmpty({ name }));
      return more.length === 0 ? ok({ name, id: one, json }) : tooMany(more[0]);
    case "config":
    case "migrate":
      return one === undefined ? ok({ name, json }) : tooMany(one);
    case "doctor":
      return one === undefined ? ok({ name, json, fix: typed.has("fix") }) : tooMany(one);
    case "exec":
      return readExec(rest, typed, words);
    case "search":
      return readSearch(rest, typed, words);
    case "sandbox":
      return one === undefined ? readSandbox(typed, words) : tooMany(one);
    case "sandbox-host":
      return one === undefined ? readSandboxHost(typed, words) : tooMany(one);
    case "serve":
      return one === undefined ? readServe(typed, words) : tooMany(one);
    case "mcp":
      return one === undefined ? ok({ name }) : tooMany(one);
    case "user":
      return readUser(rest, typed, words);
    case "backup":
    case "restore":
      return readCopy(name, rest, typed, words);
    case "completion": {
      const shell = shells.find((known) => known === one);
      if (one === undefined) return usage(words.usage.argumentMissing({ command: name, name: subCommands[name].form }));
      if (shell === undefined) return usage(words.usage.valueUnfit({ name, value: one, known: shells.join(", ") }));
      return more.length === 0 ? ok({ name, shell }) : tooMany(more[0]);
    }
  }
}

function readModelCommand(rest: readonly string[], typed: Typed, words: TerminalWords): UsageResult<Command> {
  const [action = "list", slotName, ...more] = rest;
  const json = typed.has("json");
  const request = typed.value("request");
  if (action !== "list" && action !== "test") {
    return usage(words.usage.valueUnfit({ name: "model", value: action, known: "list, test" }));
  }
  const unwanted = action === "list" ? (slotName ?? request) : more[0];
  if (unwanted !== undefined)
    return usage(words.usage.argumentUnwanted({ command: `model ${action}`, value: unwanted }));
  if (action === "list") return ok({ name: "model", action, json });
  const slot = Slot.safeParse(slotName ?? "base");
  if (!slot.success) {
    return usage(words.usage.valueUnfit({ name: "SLOT", value: slotName ?? "", known: Slot.options.join(", ") }));
  }
  return ok({ name: "model", action, slot: slot.data, json, ...(request !== undefined && { request }) });
}

const dollarsMax = 1_000_000;
const stepsMax = 1_000_000;

/** `--max-budget 0.5` and `--max-turns 10`. */
function readBudget(typed: Typed, words: TerminalWords): UsageResult<{ budget?: BudgetLimits }> {
  const [dollars, steps] = [typed.value("max-budget"), typed.value("max-turns")];
  const isFit = (text: string, form: RegExp, max: number) => form.test(text) && Number(text) > 0 && Number(text) <= max;
  const unfit = (name: string, value: string, from: number, to: number) =>
    usage(words.usage.numberUnfit({ name, value, from, to }));
  if (dollars !== undefined && !isFit(dollars, /^\d{1,7}(\.\d{1,6})?$/, dollarsMax))
    return unfit("--max-budget", dollars, 0.000001, dollarsMax);
  if (steps !== undefined && !isFit(steps, /^\d{1,7}$/, stepsMax)) return unfit("--max-turns", steps, 1, stepsMax);
  if (dollars === undefined && steps === undefined) return ok({});
  const money = dollars === undefined ? {} : { money: Number(dollars) };
  return ok({ budget: { ...money, ...(steps === undefined ? {} : { steps: Number(steps) }) } });
}

function readGoingOn(typed: Typed): { going?: GoingOn; slot?: Slot } {
  const id = typed.value("resume");
  const slot = Slot.optional().safeParse(typed.value("slot")).data;
  const going = id !== undefined ? { id } : typed.has("continue") ? ("newest" as const) : undefined;
  return { ...(going !== undefined && { going }), ...(slot !== undefined && { slot }) };
}

function readSurface(typed: Typed): { surface?: Surface } {
  if (typed.has("screen-reader")) return { surface: "screen_reader" };
  return typed.has("plain") ? { surface: "plain" } : {};
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(options, name);
}

function usage(what: string) {
  return failure("usage", { what });
}

/** The word that was probably meant, if one is near enough to be worth naming. */
export function likely(word: string, known: Iterable<string>): string | undefined {
  return nearest(word, known, 1, { onlyLikely: true })[0];
}
