import { homedir } from "node:os";
import type { Writable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Client } from "../client/client.ts";
import { makeFailure } from "../protocol/failure.ts";
import { type Language, type Words, wordsFor } from "../words/words.ts";
import type { ChatOptions } from "./chat.ts";
import type { Recovery } from "./chat-start.ts";
import type { Machine } from "./chat-state.ts";
import { type Command, languageAsked, parseCommandLine } from "./command-line.ts";
import { completionScript } from "./completion.ts";
import type { InputStream, OutputStream } from "./console.ts";
import type { DoctorParts } from "./doctor-command.ts";
import type { DoctorFacts } from "./doctor-report.ts";
import { describeExec } from "./exec-result.ts";
import { exitCodes, exitReasonOf } from "./exit-codes.ts";
import { failureText } from "./failure-text.ts";
import { jsonLine } from "./format.ts";
import { helpText } from "./help.ts";
import type { LocalPlace } from "./local-files.ts";
import { alignColumns, connectLines, type ModelTest, modelTable, modelTestLines } from "./model-view.ts";
import type { RichConsole } from "./rich/rich-console.ts";
import { type CommandFailure, describeRefusal } from "./run-result.ts";
import { safeLine } from "./safe-text.ts";
import type { Listening } from "./serve-command.ts";

export { printVerdict } from "./approvals-command.ts";
export { type BackupReport, openCounter, printBackup, printMoved, printRestored } from "./backup-command.ts";
export type { Recovery } from "./chat-start.ts";
export type { Machine } from "./chat-state.ts";
export type { CopyCommand } from "./copy-line.ts";
export type { DatabaseFacts, DataFacts, DoctorFacts, RecordFacts, SandboxFacts, SkillFacts } from "./doctor-report.ts";
export { exitCodes } from "./exit-codes.ts";
export { failureText } from "./failure-text.ts";
export { readJsonFile } from "./json-file.ts";
export type { ModelTest } from "./model-view.ts";
export { ownCommand, programAsTyped } from "./own-command.ts";
export {
  exitCodeOfFiles,
  printSearch,
  printSearchLine,
  printUnread,
  type SearchedFile,
  type SearchedPassage,
} from "./search-command.ts";
export type { SearchCommand } from "./search-line.ts";

/** What the process brings along. */
export type Streams = { readonly input: InputStream; readonly output: OutputStream; readonly errors: Writable };

/** A command that needs more than words. */
export type YardCommand = Exclude<Command, { name: "help" | "version" | "completion" }>;

type Beginning = Streams & {
  readonly language: Language;
  readonly version: string;
  /** How our program is started from here: `agentyard`, `npx agentyard`. */
  readonly program?: string;
};

/** Reads the command line. What needs no yard, and what is wrong, is answered at once with an exit code. */
export function beginCommand(
  argv: readonly string[],
  { output, errors, language, version, program = "agentyard" }: Beginning,
): YardCommand | { readonly name: "ended"; readonly code: number } {
  const words = { ...wordsFor(languageAsked(argv) ?? language), command: program };
  const parsed = parseCommandLine(argv, words.terminal);
  const ended = (code: number) => ({ name: "ended", code }) as const;
  output.on("error", sayOnce({ errors, words }));
  errors.on("error", () => {}); // There is nowhere left to say it.
  if (!parsed.ok) return ended(sayFailure(parsed.failure, { output, errors, words, object: objectWanted(argv) }));
  const command = parsed.value;
  if (command.name === "help") output.write(helpText(words.terminal, command.about));
  else if (command.name === "version") output.write(`agentyard ${version}\n`);
  else if (command.name === "completion") output.write(completionScript(command.shell, words.terminal));
  else return command;
  return ended(exitCodes.done);
}

/** A command that is a client of the yard. */
export type ClientCommand = Exclude<
  YardCommand,
  | { name: "config" | "doctor" | "backup" | "restore" | "migrate" | "search" | "mcp" | "sandbox-host" }
  | { name: "model" | "approvals"; action: "test" }
>;

export type CommandParts = Streams & {
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  readonly logFile?: string | undefined;
  /** What was interrupted when the process last ended. */
  readonly recovery?: Recovery | undefined;
  /** Where files that are named lie; the process's own folders otherwise. */
  readonly place?: LocalPlace;
  /** False with NO_COLOR, and where the output is no terminal. */
  readonly color: boolean;
  /** False with TERM=dumb, and for who has it read out: lines instead of keys. */
  readonly hasKeys: boolean;
  /** What only this machine can do for a person at it. */
  readonly machine?: Machine | undefined;
  /** Present: a chat may be drawn, where there is a terminal for it. */
  readonly rich?: RichSettings | undefined;
  /** Of `sandbox`: where it can be reached, and whose data it is. */
  readonly listening?: Listening | undefined;
  /** Opens an address for who sits before the screen. */
  readonly openBrowser?: ((url: string) => void) | undefined;
  /** Where the server of this data is reached, if there is one. */
  readonly servedAt?: string | undefined;
  /** Who is at the screen takes what the process has to tell meanwhile. */
  readonly onNotice?: (take: (line: string) => void) => void;
  /** Fires when the process is told to end. */
  readonly leave: AbortSignal;
};

export type RichSettings = {
  /** The terminal shows ASCII only. */
  readonly isAscii: boolean;
  /** Where what was typed is kept for the next time. */
  readonly historyFile: string | undefined;
  /** It stands on the screen already. */
  readonly drawn?: RichConsole | undefined;
};

/** The library that draws is read only where something is drawn. */
async function richOpener({ isAscii, historyFile: file, drawn }: RichSettings): Promise<ChatOptions["openRich"]> {
  const { RichConsole } = await import("./rich/rich-console.ts");
  const { displays } = await import("./rich/displays.ts");
  return ({ folder, words, prompt, suggest, ...parts }) => {
    const rest = { isAscii, history: { file, folder }, onLeave: () => {} };
    const console = drawn ?? new RichConsole({ ...parts, ...rest, words });
    console.begin({ words, prompt, suggest, displays });
    return console;
  };
}

/** Runs a command against the yard; answers the exit code. */
export async function runCommand(command: ClientCommand, given: CommandParts): Promise<number> {
  // A terminal that knows no keys knows no colours either.
  const color = given.color && given.hasKeys;
  const parts = { place: { folder: process.cwd(), homeDir: homedir() }, ...given, color };
  switch (command.name) {
    case "chat": {
      const { chat } = await import("./chat.ts");
      const isInteractive = parts.hasKeys && parts.input.isTTY === true && parts.output.isTTY === true;
      const openRich = isInteractive && given.rich !== undefined ? await richOpener(given.rich) : undefined;
      return chat({ ...parts, isInteractive, openRich, going: command.going, slot: command.slot });
    }
    case "run": {
      const { run } = await import("./run-command.ts");
      return run({ ...parts, command });
    }
    case "exec": {
      const { exec } = await import("./exec.ts");
      return exec({ ...parts, command });
    }
    case "sandbox": {
      const { serveSandbox } = await import("./sandbox-command.ts");
      const { address, dataDir } = parts.listening ?? { address: "", dataDir: "" };
      return serveSandbox({ ...parts, listening: { address, dataDir } });
    }
    case "serve": {
      const { serve } = await import("./serve-command.ts");
      const openBrowser = command.opens === true ? parts.openBrowser : undefined;
      return serve({ ...parts, openBrowser, listening: parts.listening ?? { address: "", dataDir: "" } });
    }
    case "user": {
      const { users } = await import("./user-command.ts");
      return users(command, parts);
    }
    case "approvals": {
      const { approvals } = await import("./approvals-command.ts");
      return approvals(command, parts);
    }
    case "log":
    case "replay": {
      const { printLog, printReplay } = await import("./log-command.ts");
      return (command.name === "log" ? printLog : printReplay)({ ...parts, id: command.id, json: command.json });
    }
    case "model":
      return printModels(parts, command);
  }
}

/** What `model test` found out, for people. The object of `--json` is the tester's own. */
export function printModelTest(test: ModelTest, { output, words }: { output: Writable; words: Words }): void {
  output.write(`${modelTestLines(test, words).join("\n")}\n`);
}

/** `agentyard doctor`: what the facts about this machine mean, and what mends it. Answers the exit code. */
export async function runDoctor(
  command: { readonly json: boolean; readonly fix: boolean },
  parts: DoctorParts,
): Promise<number> {
  const { doctor } = await import("./doctor-command.ts");
  return doctor(command, parts);
}

/** What the facts about this machine mean, in lines. */
export async function describeMachine(facts: DoctorFacts, words: Words): Promise<readonly string[]> {
  const { doctorLines } = await import("./doctor-command.ts");
  return doctorLines(facts, words);
}

/** The settings and where each comes from. */
export function printSettings(
  rows: readonly { readonly name: string; readonly value: string; readonly source: string }[],
  { output, json }: { output: Writable; json: boolean },
): void {
  const table = () => `${alignColumns(rows.map(({ name, value, source }) => [name, value, source])).join("\n")}\n`;
  output.write(json ? jsonLine({ settings: rows }) : table());
}

type Saying = { readonly output: Writable; readonly errors: Writable; readonly words: Words };

/** Says why a command cannot be run, and answers the exit code. A script that wants an object gets it in this case too. */
export function refuse(failure: CommandFailure, saying: Saying & { readonly command?: YardCommand }): number {
  const { command } = saying;
  const isRun = command?.name === "run" && command.output !== "text";
  return sayFailure(failure, { ...saying, object: isRun ? "run" : isJsonExec(command) ? "exec" : undefined });
}

type CrashSaying = Saying & {
  readonly command?: YardCommand | undefined;
  readonly id: string;
  /** Where the rest stands; undefined where no log file was open yet. */
  readonly logFile: string | undefined;
};

/** Our own mistake in the command itself: an id, and where its details stand. Without a log file they stand here. */
export function sayCrash(error: unknown, { id, logFile, command, ...saying }: CrashSaying): number {
  const { errors, words } = saying;
  const code = refuse(makeFailure("internal", { id }), { ...saying, ...(command && { command }) });
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  errors.write(
    `${logFile === undefined ? words.notes.crash_without_log({ details }) : words.notes.crash_log({ logFile })}\n`,
  );
  return code;
}

function isJsonExec(command: YardCommand | undefined): boolean {
  return command?.name === "exec" && command.json;
}

/** The exit code that a failure leads to. */
export function exitCodeOf(failureCode: string): number {
  return exitCodes[exitReasonOf(failureCode)];
}

/** What a script that asked for JSON expects. */
type ObjectWanted = { readonly object: "run" | "exec" | undefined };

function sayFailure(failure: CommandFailure, { output, errors, words, object }: Saying & ObjectWanted): number {
  const exit = exitCodeOf(failure.code);
  errors.write(`✗ ${failureText(words, failure)}\n`);
  if (object === "run") output.write(jsonLine(describeRefusal(failure, words)));
  if (object === "exec") output.write(jsonLine({ ...describeExec({ failure }, words), exit }));
  return exit;
}

/** Found even where the rest of the line is wrong: a script is to read an object, whatever happens. */
function objectWanted(argv: readonly string[]): ObjectWanted["object"] {
  if (argv.includes("run") && (argv.includes("--json") || argv.includes("--stream-json"))) return "run";
  return argv.includes("exec") && argv.includes("--json") ? "exec" : undefined;
}

async function printModels(
  { client, output, errors, words }: CommandParts,
  { json }: { json: boolean },
): Promise<number> {
  const listed = await client.call("listModels", { query: { detect: true } });
  if (!listed.ok) return refuse(listed.failure, { output, errors, words });
  output.write(
    json
      ? jsonLine(listed.value)
      : `${[...modelTable(listed.value, words), ...connectLines(listed.value, words)].join("\n")}\n`,
  );
  return exitCodes.done;
}

/** `agentyard log … | head` closes our output: nobody reads on, and that is no fault. A full disk is one. */
function sayOnce({ errors, words }: { errors: Writable; words: Words }): (error: NodeJS.ErrnoException) => void {
  let isSaid = false;
  return (error) => {
    if (error.code === "EPIPE" || isSaid) return;
    isSaid = true;
    errors.write(`${words.terminal.usage.outputFailed({ why: safeLine(error.message, 200) })}\n`);
    // The command goes on to its end, so that nothing is left half done; whatever it answers, it has failed.
    process.once("exit", () => {
      process.exitCode = exitCodes.failed;
    });
  };
}
