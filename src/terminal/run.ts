import type { Writable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { Client } from "../client/client.ts";
import { type Failure, failure, makeFailure } from "../protocol/failure.ts";
import type { Words } from "../words/words.ts";
import type { Command } from "./command-line.ts";
import type { InputStream } from "./console.ts";
import { commandFailureText } from "./failure-text.ts";
import { findConversation } from "./find-conversation.ts";
import { followTurn, statusLine, type Watch } from "./follow-turn.ts";
import { jsonLine } from "./format.ts";
import { readAll, readIfReady } from "./lines.ts";
import type { LocalFiles, LocalPlace } from "./local-files.ts";
import { findNamedFiles, hintText, problemText } from "./named-files.ts";
import { describeRun, type RunEnd } from "./run-result.ts";
import { safeText } from "./safe-text.ts";
import { styleFor } from "./style.ts";
import { TurnRecord } from "./turn-record.ts";
import { uploadFiles } from "./upload.ts";

export type RunOptions = {
  readonly command: Extract<Command, { name: "run" }>;
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly input: InputStream;
  readonly output: Writable;
  readonly errors: Writable & { readonly isTTY?: boolean };
  readonly place: LocalPlace;
  /** False with TERM=dumb. */
  readonly hasKeys: boolean;
  /** Fires when the process is told to end: the turn is stopped first. */
  readonly leave: AbortSignal;
};

/** One message, one answer. Prints the one object of `--json`, or the answer alone. */
export async function run(options: RunOptions): Promise<number> {
  const end = await takeTurn(options);
  const result = describeRun(end, options.words);
  if (options.command.output !== "text") {
    options.output.write(jsonLine(result));
  } else if (result.answer !== "") {
    options.output.write(`${safeText(result.answer)}\n`);
  }
  if (options.command.output === "text") sayWhyNot(end, options);
  return result.exit.code;
}

type Message = { readonly text: string; readonly files: LocalFiles };

async function takeTurn(options: RunOptions): Promise<RunEnd> {
  const { client, command, words } = options;
  const none = { conversation: null, record: new TurnRecord() };
  const text = await unlessLeft(options, readMessage(options));
  if (text === undefined) return none;
  if (text === "" && (command.going === undefined || command.files !== undefined)) {
    return { ...none, failure: makeFailure("usage", { what: words.terminal.usage.promptMissing() }) };
  }
  const files = await findFiles(options);
  if (!files.ok) return { ...none, failure: files.failure };
  const message = { text, files: files.value };
  if (command.going === undefined) {
    // Under an id of our own, so that a request that had to be sent twice makes one conversation.
    const id = options.ids.uuid();
    const created = await client.call("createConversation", { body: { id } });
    const isThere = created.ok || created.failure.code === "conversation_exists";
    return isThere ? sendMessage(options, id, message) : { ...none, failure: created.failure };
  }
  const found = await findConversation(client, command.going, words.terminal);
  if (!found.ok) return { ...none, failure: found.failure };
  const { id } = found.value;
  const finished = await finishInterrupted(options, id, text !== "");
  if (text === "") {
    const nothing = makeFailure("usage", { what: words.terminal.usage.nothingToContinue() });
    return finished ?? { ...none, conversation: id, failure: nothing };
  }
  const isHeldUp = finished?.failure !== undefined || finished?.needsPerson !== undefined || options.leave.aborted;
  return isHeldUp && finished !== undefined ? finished : sendMessage(options, id, message);
}

/** A script that goes on with a conversation may have left its input open: it is read there only when asked for. */
async function readMessage({ command, input, clock, errors, words }: RunOptions): Promise<string> {
  const { message, going } = command;
  const isPiped = going === undefined && !input.isTTY;
  const isAwaited = command.isInputAwaited === true || (message === "" && isPiped);
  if (isAwaited) return joined(message, await readAll(input));
  if (!isPiped) return message;
  const said = await readIfReady(input, clock);
  if (said === undefined) errors.write(`${words.terminal.chat.inputNotRead()}\n`);
  return joined(message, said ?? "");
}

/** What the words of the command name; not what is piped in, which may be anything. */
async function findFiles({ command, place, errors, words }: RunOptions): Promise<Result<LocalFiles, Failure<"usage">>> {
  const found = await findNamedFiles(command.message, command.files ?? [], place);
  for (const hint of found.hints) errors.write(`! ${hintText(hint, words.terminal)}\n`);
  const problems = found.problems.map((problem) => problemText(problem, words.terminal));
  return problems.length === 0 ? ok(found) : failure("usage", { what: problems.join("; ") });
}

/** Undefined when the process is told to end before the message is there. */
async function unlessLeft({ leave, input }: RunOptions, message: Promise<string>): Promise<string | undefined> {
  if (leave.aborted) return undefined;
  const left = Promise.withResolvers<undefined>();
  const onLeft = () => left.resolve(undefined);
  leave.addEventListener("abort", onLeft);
  const first = await Promise.race([message, left.promise]);
  leave.removeEventListener("abort", onLeft);
  if (first === undefined) input.destroy();
  return first;
}

function joined(message: string, piped: string): string {
  return [message, piped.trim()].filter((part) => part !== "").join("\n\n");
}

/** Undefined when nothing was interrupted. */
async function finishInterrupted(options: RunOptions, id: string, isAside: boolean): Promise<RunEnd | undefined> {
  const { client } = options;
  const record = new TurnRecord();
  const state = await client.call("getState", { params: { id } });
  if (!state.ok) return { conversation: id, record, failure: state.failure };
  if (state.value.status === "idle") return undefined;
  const resumed = await client.call("resumeTurn", { params: { id } });
  if (!resumed.ok) return { conversation: id, record, failure: resumed.failure };
  const watch = { conversation: id, record, after: 0, silentUpTo: state.value.head, isAside };
  return { conversation: id, record, ...(await followTurn(watch, options)) };
}

async function sendMessage(options: RunOptions, id: string, { text, files }: Message): Promise<RunEnd> {
  const { client, command, ids, errors, hasKeys, leave: signal } = options;
  const message = ids.uuid();
  const record = new TurnRecord(message);
  const console = { note: (line: string) => void errors.write(`${line}\n`), status: statusLine(errors, hasKeys) };
  const paths = await uploadFiles(id, files, { ...options, console, style: styleFor({ color: false }), signal });
  if (signal.aborted) return { conversation: id, record };
  if (!paths.ok) return { conversation: id, record, failure: paths.failure, isSaid: true };
  const named = paths.value.length > 0 && { files: [...paths.value] };
  const body = { id: message, text, ...(command.slot !== undefined && { slot: command.slot }), ...named };
  const sent = await client.call("sendMessage", { params: { id }, body });
  if (!sent.ok) return { conversation: id, record, failure: sent.failure };
  const watch: Watch = { conversation: id, record, after: sent.value.seq, silentUpTo: 0, isAside: false, message };
  return { conversation: id, record, ...(await followTurn(watch, options)) };
}

/** What the turn's own lines have not said yet. */
function sayWhyNot({ failure, isSaid, needsPerson }: RunEnd, { words, errors }: RunOptions): void {
  if (isSaid) return;
  const cause =
    failure ?? (needsPerson === undefined ? undefined : makeFailure("nobody_to_ask", { tool: needsPerson }));
  if (cause !== undefined) errors.write(`✗ ${commandFailureText(words, cause)}\n`);
}
