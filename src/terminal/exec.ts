import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { systemCodeOrThrow } from "../base/fault.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Client } from "../client/client.ts";
import { makeFailure } from "../protocol/failure.ts";
import type { SandboxExecution } from "../protocol/sandbox-resources.ts";
import { timeoutSecondsUsual } from "../protocol/sandbox-routes.ts";
import type { Words } from "../words/words.ts";
import type { InputStream, OutputStream } from "./console.ts";
import { describeExec, type ExecEnd, exitCodeOfExec, howOf, isConversationMissed } from "./exec-result.ts";
import { commandFailureText } from "./failure-text.ts";
import { formatBytes, jsonLine } from "./format.ts";
import { readAll } from "./lines.ts";
import type { LocalPlace } from "./local-files.ts";
import type { ExecCommand, ProgramLanguage } from "./program-commands.ts";
import { openProgramText, type ProgramText } from "./program-text.ts";
import type { CommandFailure } from "./run-result.ts";
import { safeLine } from "./safe-text.ts";

export type ExecOptions = {
  readonly command: ExecCommand;
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  readonly input: InputStream;
  readonly output: OutputStream;
  readonly errors: OutputStream;
  readonly place: LocalPlace;
  /** Whether the terminal gets the colours of the program. */
  readonly color: boolean;
  /** Fires when the process is told to end: the program is stopped first. */
  readonly leave: AbortSignal;
};

/** Whoever calls, it is their own session. */
const ownSession = "sess-agent-default";
/** How long a program that was told to stop may take to be heard of. */
const stopMsMax = 10_000;
const filesShownMax = 20;

/** Runs a program in the sandbox: its output comes as it comes, its exit code is ours. */
export async function exec(options: ExecOptions): Promise<number> {
  const end = await runProgram(options);
  if (options.command.json) options.output.write(jsonLine(describeExec(end, options.words)));
  else sayEnd(end, options);
  return exitCodeOfExec(end);
}

async function runProgram(options: ExecOptions): Promise<ExecEnd> {
  const { command, client, leave } = options;
  const code = await unlessLeft(options, readCode(options));
  if (code === undefined) return {};
  if (!code.ok) return { failure: code.failure };
  if (leave.aborted) return {};
  const submitted = await client.call("execute", {
    params: { id: ownSession },
    body: {
      code: code.value,
      language: command.programLanguage ?? languageOfFile(command.file),
      ...(command.timeoutSeconds !== undefined && { timeout: command.timeoutSeconds }),
      ...(command.conversation !== undefined && { conversation_id: command.conversation }),
    },
  });
  if (!submitted.ok) return { failure: submitted.failure };
  return follow(submitted.value.execution_id, options);
}

/** Undefined when the process is told to end before the code is there. */
async function unlessLeft<T>({ leave, input }: ExecOptions, code: Promise<T>): Promise<T | undefined> {
  const left = Promise.withResolvers<undefined>();
  const onLeft = () => left.resolve(undefined);
  leave.addEventListener("abort", onLeft);
  if (leave.aborted) onLeft();
  const first = await Promise.race([code, left.promise]);
  leave.removeEventListener("abort", onLeft);
  if (first === undefined) input.destroy();
  return first;
}

async function readCode({ command, input, place, words }: ExecOptions): Promise<Result<string, CommandFailure>> {
  const { exec: texts } = words.terminal;
  const { code, file } = command;
  if (code !== undefined) return ok(code);
  if (file !== undefined) return readCodeFile(file, place, words);
  const isRead = command.isInputAwaited === true || input.isTTY !== true;
  const piped = isRead ? await readAll(input) : "";
  return piped.trim() === "" ? failed(makeFailure("usage", { what: texts.codeMissing(), command: "exec" })) : ok(piped);
}

async function readCodeFile(file: string, place: LocalPlace, words: Words): Promise<Result<string, CommandFailure>> {
  const { exec: texts } = words.terminal;
  const path = safeLine(file, 120);
  const refuse = (what: string) => failed(makeFailure("usage", { what, command: "exec" }));
  let bytes: Buffer;
  try {
    bytes = await readFile(resolve(place.folder, file));
  } catch (error) {
    const said = systemCodeOrThrow(error);
    return refuse(`${path}: ${said === "ENOENT" ? words.faults.noFile() : words.faults.unreadable({ said })}`);
  }
  try {
    return ok(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return refuse(texts.fileNoText({ path }));
  }
}

function languageOfFile(file: string | undefined): ProgramLanguage {
  switch (extname(file ?? "").toLowerCase()) {
    case ".sh":
    case ".bash":
      return "bash";
    case ".js":
    case ".mjs":
    case ".cjs":
      return "javascript";
    default:
      return "python";
  }
}

/** Until its result is there. Where it is told to end, or has no reader, it is stopped and waited for, but not for ever. */
async function follow(id: string, options: ExecOptions): Promise<ExecEnd> {
  const { client, clock, command, output, leave } = options;
  const streams = { stdout: streamOf(output, options), stderr: streamOf(options.errors, options) };
  const givenUp = new AbortController();
  const missing = { stdout: 0, stderr: 0 };
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    void client.call("cancelExecution", { params: { id } });
    clock.after(stopMsMax, () => givenUp.abort());
  };
  leave.addEventListener("abort", stop);
  output.once("error", stop);
  if (leave.aborted) stop();
  try {
    for await (const news of client.followExecution(id, { signal: givenUp.signal })) {
      if (news.frame === "failed") return { failure: news.failure };
      if (news.frame === "result") return { execution: news.execution, missing };
      if (news.frame === "cut") missing[news.stream] += news.bytes;
      else if (!command.json) await streams[news.stream].write(news.text);
    }
    return {};
  } finally {
    for (const stream of Object.values(streams)) await stream.end();
    leave.removeEventListener("abort", stop);
    output.off("error", stop);
  }
}

/** A terminal gets nothing that it would act upon, but for colours; a pipe gets all as it is. */
function streamOf(to: OutputStream, { color }: ExecOptions) {
  const shown: ProgramText = to.isTTY === true ? openProgramText({ color }) : { add: (text) => text, end: () => "" };
  return { write: (text: string) => write(to, shown.add(text)), end: () => write(to, shown.end()) };
}

/** No faster than it is taken. */
async function write(to: OutputStream, text: string): Promise<void> {
  if (text === "") return;
  const isTaken = to.write(text);
  if (isTaken || to.destroyed) return;
  const { promise, resolve: goOn } = Promise.withResolvers<void>();
  const events = ["drain", "close", "error"];
  for (const event of events) to.once(event, goOn);
  await promise;
  for (const event of events) to.off(event, goOn);
}

/** On standard error, after the program's own words: what it did to files, what is missing, why it came to no good end. */
function sayEnd({ execution, missing, ...end }: ExecEnd, { command, words, errors }: ExecOptions): void {
  const { exec: texts } = words.terminal;
  const failure = end.failure ?? execution?.failure;
  if (failure) return void errors.write(`✗ ${commandFailureText(words, failure)}\n`);
  if (execution === undefined) return void errors.write(`${texts.cancelled()}\n`);
  for (const line of fileLines(execution, words)) errors.write(`${line}\n`);
  for (const stream of ["stdout", "stderr"] as const) {
    const bytes = missing?.[stream] ?? 0;
    const path = execution[`${stream}_path`] ?? undefined;
    if (bytes > 0) errors.write(`${texts.outputMissing({ stream, bytes, path })}\n`);
  }
  if (execution.is_over_limit) errors.write(`${texts.overLimit()}\n`);
  if (isConversationMissed(execution)) errors.write(`${texts.noConversation()}\n`);
  const why = whyNot(execution, command, words);
  if (why !== undefined) errors.write(`${why}\n`);
}

function fileLines(execution: SandboxExecution, words: Words): readonly string[] {
  const { exec: texts } = words.terminal;
  const former = new Set(execution.changed_files);
  const there = execution.artifacts.map(({ path, size }) => {
    const file = { path: safeLine(path, 120), size: formatBytes(size, words) };
    return former.has(path) ? texts.fileChanged(file) : texts.fileMade(file);
  });
  const removed = execution.removed_files.map((path) => texts.fileRemoved({ path: safeLine(path, 120) }));
  return [...there.slice(0, filesShownMax), ...removed.slice(0, filesShownMax)];
}

/** Nothing is said of a program that ended by itself: its own words say enough. */
function whyNot(execution: SandboxExecution, command: ExecCommand, words: Words): string | undefined {
  const { exec: texts } = words.terminal;
  switch (howOf(execution)) {
    case "done":
      return undefined;
    case "timeout":
      return execution.timeout < (command.timeoutSeconds ?? timeoutSecondsUsual)
        ? texts.timedOutBySetting({ seconds: execution.timeout })
        : texts.timedOut({ seconds: execution.timeout });
    case "cancelled":
      return texts.cancelled();
    case "killed":
    case "lost":
      return texts.endedBadly({ why: safeLine(execution.error_message ?? texts.noReason(), 400) });
  }
}
