import type { Writable } from "node:stream";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure } from "../client/client.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import { hasVisible } from "../protocol/message.ts";
import type { ConversationState } from "../protocol/resources.ts";
import { callersForModels, type Words } from "../words/words.ts";
import type { Command } from "./command-line.ts";
import { type InputStream, type OutputStream, usualColumns } from "./console.ts";
import { commandFailureText } from "./failure-text.ts";
import { findConversation } from "./find-conversation.ts";
import { followTurn, statusLine } from "./follow-turn.ts";
import { formatTime, jsonLine } from "./format.ts";
import { type InputFile, inputAsFile } from "./input-file.ts";
import { readAll, readIfReady } from "./lines.ts";
import type { LocalFiles, LocalPlace } from "./local-files.ts";
import { unknownText } from "./mentions.ts";
import { findNamedFiles, hintText, problemText } from "./named-files.ts";
import { describeRun, type RunEnd } from "./run-result.ts";
import { safeLine, safeText } from "./safe-text.ts";
import { SentFiles } from "./sent-files.ts";
import { type AnswerShape, readAnswerShape } from "./structured-answer.ts";
import { styleFor } from "./style.ts";
import { TurnRecord } from "./turn-record.ts";
import { type UploadParts, uploadFiles } from "./upload.ts";

export type RunOptions = {
  readonly command: Extract<Command, { name: "run" }>;
  readonly client: Client;
  readonly words: Words;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly input: InputStream;
  readonly output: Writable;
  readonly errors: OutputStream;
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
  } else if (end.structured?.value != null) {
    options.output.write(jsonLine(end.structured.value));
  } else if (result.answer !== "") {
    options.output.write(`${safeText(result.answer)}\n`);
  }
  if (options.command.output === "text") sayWhyNot(end, options);
  return result.exit.code;
}

type Message = { readonly text: string; readonly files: LocalFiles; readonly shape: AnswerShape | undefined };

async function takeTurn(options: RunOptions): Promise<RunEnd> {
  const none = { conversation: null, record: new TurnRecord() };
  const read = await unlessLeft(options, readMessage(options));
  if (read === undefined) return none;
  const input = await readInputFile(options);
  if (!input.ok) return options.leave.aborted ? none : { ...none, failure: input.failure };
  try {
    return await takeTurnWith(read, input.value, options);
  } finally {
    await input.value?.remove();
  }
}

async function takeTurnWith(read: string, input: InputFile | undefined, options: RunOptions): Promise<RunEnd> {
  const { client, command, words } = options;
  const none = { conversation: null, record: new TurnRecord() };
  const text = hasVisible(read) ? read : "";
  if (text === "" && (command.going === undefined || command.files !== undefined)) {
    return { ...none, failure: makeFailure("usage", { what: words.terminal.usage.promptMissing() }) };
  }
  const files = await findFiles(options, input);
  if (!files.ok) return { ...none, failure: files.failure };
  const shape = await readShape(options);
  if (!shape.ok) return { ...none, failure: shape.failure };
  const message = { text, files: files.value, shape: shape.value };
  if (command.going === undefined) return sendInNew(options, message);
  const found = await findConversation(client, command.going, words.terminal);
  if (!found.ok) return { ...none, failure: found.failure };
  const { id } = found.value;
  const state = await client.call("getState", { params: { id } });
  if (!state.ok) return { ...none, conversation: id, failure: state.failure };
  sayRemoved(state.value, options);
  const finished = await finishInterrupted(state.value, text !== "", options);
  if (text === "") {
    const nothing = makeFailure("usage", { what: words.terminal.usage.nothingToContinue() });
    return finished ?? { ...none, conversation: id, failure: nothing };
  }
  const isHeldUp = finished?.failure !== undefined || finished?.needsPerson !== undefined || options.leave.aborted;
  return isHeldUp && finished !== undefined ? finished : sayUntilFitting(options, id, message);
}

async function readShape({ command, words }: RunOptions): Promise<Result<AnswerShape | undefined, Failure>> {
  const path = command.limits?.answerSchema;
  if (path === undefined) return ok(undefined);
  const shape = await readAnswerShape(path, words);
  const what = shape.ok ? "" : `--json-schema ${safeLine(path, 120)}: ${shape.failure}`;
  return shape.ok ? shape : failed(makeFailure("usage", { what }));
}

/** A script that goes on with a conversation may have left its input open: it is read there only when asked for. */
async function readMessage({ command, input, clock, errors, words }: RunOptions): Promise<string> {
  const { message, going } = command;
  const isPiped = going === undefined && !input.isTTY && !isInputFile(command);
  const isAwaited = command.isInputAwaited === true || (message === "" && isPiped);
  if (isAwaited) return joined(message, await readAll(input));
  if (!isPiped) return message;
  const said = await readIfReady(input, clock);
  if (said === undefined) errors.write(`${words.terminal.chat.inputNotRead()}\n`);
  return joined(message, said ?? "");
}

function isInputFile({ files = [] }: RunOptions["command"]): boolean {
  return files.includes("-");
}

async function readInputFile({
  command,
  input,
  leave,
  words,
}: RunOptions): Promise<Result<InputFile | undefined, Failure>> {
  if (!isInputFile(command)) return ok(undefined);
  const file = await inputAsFile(input, leave);
  return file.ok
    ? file
    : failed(makeFailure("usage", { what: words.terminal.usage.inputUnreadable({ why: file.failure }) }));
}

/** What the words of the command name; not what is piped in, which may be anything. */
async function findFiles(
  { command, place, errors, words }: RunOptions,
  input: InputFile | undefined,
): Promise<Result<LocalFiles, ClientFailure>> {
  const named = (command.files ?? []).map((path) => (path === "-" ? (input?.path ?? path) : path));
  const found = await findNamedFiles(command.message, [...new Set(named)], place);
  for (const hint of found.hints) errors.write(`! ${hintText(hint, words.terminal)}\n`);
  if (found.problems.length === 0) return ok(found);
  const problems = found.problems.map((problem) => problemText(problem, words.terminal)).join("; ");
  const { fullStop, gap, files: texts } = words.terminal;
  // Wrong usage for a script, but help on options helps nobody who mistyped a name.
  const detail = `${problems}${fullStop}${gap}${texts.nothingSent()}`;
  return failed({ ...makeFailure("usage", { what: problems }), detail });
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

/** A conversation into which nothing was sent is taken away again: nobody would know what it is. */
async function sendInNew(options: RunOptions, message: Message): Promise<RunEnd> {
  const { client } = options;
  // Under an id of our own, so that a request that had to be sent twice makes one conversation.
  const id = options.ids.uuid();
  const created = await client.call("createConversation", { body: { id } });
  if (!created.ok && created.failure.code !== "conversation_exists") {
    return { conversation: null, record: new TurnRecord(), failure: created.failure };
  }
  const end = await sayUntilFitting(options, id, message);
  if (!end.isUnsent) return end;
  const removed = await client.call("deleteConversation", { params: { id } });
  return removed.ok ? { ...end, conversation: null, files: end.files?.filter(({ success }) => !success) } : end;
}

/** As a chat says it when it opens such a conversation. */
function sayRemoved({ filesRemovedAt }: ConversationState, { words, errors }: RunOptions): void {
  if (filesRemovedAt === null) return;
  errors.write(`! ${words.terminal.files.removed({ at: formatTime(filesRemovedAt) })}\n`);
}

/** Undefined when nothing was interrupted. */
async function finishInterrupted(
  { status, head, conversation: { id } }: ConversationState,
  isAside: boolean,
  options: RunOptions,
): Promise<RunEnd | undefined> {
  const record = new TurnRecord();
  if (status === "idle") return undefined;
  const resumed = await options.client.call("resumeTurn", { params: { id } });
  if (!resumed.ok) return { conversation: id, record, failure: resumed.failure };
  const watch = { conversation: id, record, after: 0, silentUpTo: head, isAside };
  return { conversation: id, record, ...(await followTurn(watch, options)) };
}

/** So often an answer may be tried again that is not what was asked for. */
const fittingTriesMax = 3;

/** Where the answer has to be of a shape, what is wrong with it is said to the model, and it answers again. */
async function sayUntilFitting(options: RunOptions, id: string, { text, files, shape }: Message): Promise<RunEnd> {
  if (shape === undefined) return sendMessage(options, id, { text, files });
  let end = await sendMessage(options, id, { text: `${text}\n\n${shape.instruction}`, files });
  const earlier: TurnRecord[] = [];
  for (let tries = 1; ; tries += 1) {
    if (end.record.end?.outcome !== "done") return { ...end, earlier };
    const answer = shape.check(end.record.summary().answer);
    if (answer.ok) return { ...end, earlier, structured: answer.value };
    const unfit = makeFailure("answer_unfit", { why: answer.failure });
    if (tries === fittingTriesMax) return { ...end, earlier, structured: { value: null }, failure: unfit };
    earlier.push(end.record);
    const sent = { files: end.files };
    end = {
      ...(await sendMessage(options, id, { text: callersForModels.notFitting(answer.failure), isAgain: true })),
      ...sent,
    };
  }
}

type Saying = { readonly text: string; readonly files?: LocalFiles; readonly isAgain?: true };

async function sendMessage(options: RunOptions, id: string, { text, files: local, isAgain }: Saying): Promise<RunEnd> {
  const { client, command, ids } = options;
  const message = ids.uuid();
  const record = new TurnRecord(message);
  const { files, failure } = await uploadFiles(id, local ?? noFiles, uploadParts(options));
  const end = { conversation: id, record, files };
  if (options.leave.aborted) return { ...end, isUnsent: true };
  if (failure !== undefined) return { ...end, failure, isSaid: true, isUnsent: true };
  const paths = files.flatMap((file) => (file.success ? [file.path] : []));
  const named = paths.length > 0 && { files: paths };
  const { slot, budget } = command;
  const wanted = { ...(slot !== undefined && { slot }), ...(budget !== undefined && { budget }) };
  const body = { id: message, text, ...wanted, ...named };
  const sent = await client.call("sendMessage", { params: { id }, body });
  // Without an answer it may well be there.
  if (!sent.ok) return { ...end, failure: sent.failure, isUnsent: sent.failure.status !== undefined };
  const place = { after: sent.value.seq, silentUpTo: 0, isAside: false, ...(isAgain && { isAgain }) };
  for (const unknown of sent.value.unknownMentions ?? [])
    options.errors.write(`! ${unknownText(unknown, options.words)}\n`);
  return { ...end, ...(await followTurn({ conversation: id, record, message, files, ...place }, options)) };
}

const noFiles = { files: [], unreadables: [] };

function uploadParts({ client, words, errors, hasKeys, leave: signal }: RunOptions): UploadParts {
  const note = (line: string) => void errors.write(`${line}\n`);
  const console = { note, status: statusLine(errors, hasKeys), columns: errors.columns ?? usualColumns };
  return { client, words, console, style: styleFor({ color: false }), sentFiles: new SentFiles(), signal };
}

/** What the turn's own lines have not said yet. */
function sayWhyNot({ failure, isSaid, needsPerson }: RunEnd, { words, errors }: RunOptions): void {
  const alone = needsPerson === undefined ? undefined : makeFailure("nobody_to_ask", { tool: needsPerson });
  const why = failure ?? alone;
  if (!isSaid && why !== undefined) errors.write(`✗ ${commandFailureText(words, why)}\n`);
}
