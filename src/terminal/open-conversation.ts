import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { ok, type Result } from "../base/result.ts";
import type { Client, ClientFailure, FollowFrame } from "../client/client.ts";
import type { EventOf, LogEvent, TurnOutcome } from "../protocol/events.ts";
import { type Decision, decisionOf } from "../protocol/resources.ts";
import type { Words } from "../words/words.ts";
import type { Console, TurnDisplay, WaitingMessage } from "./console.ts";
import { failureText } from "./failure-text.ts";
import type { LocalFiles } from "./local-files.ts";
import { unknownText } from "./mentions.ts";
import { ownWords } from "./own-words.ts";
import { readBytes } from "./read-bytes.ts";
import { safeLine } from "./safe-text.ts";
import type { SentFiles } from "./sent-files.ts";
import type { Style } from "./style.ts";
import { TurnView } from "./turn-view.ts";
import { type Uploads, uploadFiles } from "./upload.ts";
import { WaitingLine } from "./waiting-line.ts";

export type ConversationParts = {
  readonly client: Client;
  readonly console: Console;
  readonly words: Words;
  readonly style: Style;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly sentFiles: SentFiles;
  /** Something has changed that a status line could show. */
  readonly onNews?: (event: LogEvent) => void;
};

export type Outgoing = {
  readonly text: string;
  /** So many characters of it the person wrote; all of them, where it is not said. */
  readonly own?: number | undefined;
  readonly mode: "queue" | "steer";
  readonly slot?: string | undefined;
  readonly files: Pick<LocalFiles, "files" | "unreadables">;
  /** It was not sent, and the person is still here. */
  readonly onReturned: () => void;
};

/** How a turn ended here, for the exit code of a chat that reads from a pipe. */
export type TurnEnd = { readonly outcome: TurnOutcome; readonly failureCode: string | undefined };

const sendAgainMs = 1_000;

/** The conversation on the screen: follows its events, sends what is typed, knows whether a turn runs. */
export class OpenConversation {
  readonly id: string;
  /** Decisions that the person here is making: their events are no news. */
  readonly deciding = new Set<string>();
  readonly #parts: ConversationParts;
  readonly #view: TurnDisplay;
  readonly #waitingLine: WaitingLine;
  readonly #closing = new AbortController();
  readonly #own = new Set<string>();
  /** Messages of ours that no turn has taken up yet. */
  readonly #waiting = new Map<string, WaitingMessage>();
  readonly #decisions = new Map<string, Decision>();
  #isTurnOpen = false;
  #isStored: boolean;
  #isLost = false;
  #isGone = false;
  #sending: Promise<void> = Promise.resolve();
  /** How often we went back ourselves and the event of it has not come yet. */
  #ownReturns = 0;
  #uploading: AbortController | undefined;
  #lastEnd: TurnEnd | undefined;

  /** A new conversation is stored with its first message, so that looking in leaves nothing behind. */
  constructor(parts: ConversationParts, known?: { readonly id: string }) {
    this.id = known?.id ?? parts.ids.uuid();
    this.#isStored = known !== undefined;
    this.#parts = parts;
    this.#waitingLine = new WaitingLine(parts);
    const isOwn = (message: string) => this.#own.has(message);
    const shown = { ...parts, isOwn, isOwnReturn: () => this.#takeOwnReturn() };
    const readImage = (path: string) => this.#readImage(path);
    this.#view = parts.console.screen?.turnDisplay({ ...shown, readImage }) ?? new TurnView(shown);
  }

  /** Goes on from what the server says about it; `recent` are the events before `head` that stand on the screen. */
  attach(
    state: { head: number; isRunning: boolean; decisions: readonly Decision[] },
    recent: readonly LogEvent[],
  ): void {
    for (const decision of state.decisions) this.#decisions.set(decision.id, decision);
    for (const event of recent) this.#view.learn(event);
    this.#isTurnOpen = state.isRunning;
    this.#follow({ after: state.head, opens: true });
  }

  get isStored(): boolean {
    return this.#isStored;
  }

  /** Deleted elsewhere, for one: nothing can be said here any more. */
  get isGone(): boolean {
    return this.#isGone;
  }

  get isRunning(): boolean {
    return this.#isTurnOpen || this.#waiting.size > 0;
  }

  get isUploading(): boolean {
    return this.#uploading !== undefined;
  }

  get lastEnd(): TurnEnd | undefined {
    return this.#lastEnd;
  }

  /** Open decisions, oldest first. */
  get decisions(): readonly Decision[] {
    return [...this.#decisions.values()];
  }

  hasDecision(id: string): boolean {
    return this.#decisions.has(id);
  }

  /** Sent in the order typed, as often as it takes: the same id makes sending again harmless. */
  send(message: Outgoing): void {
    const id = this.#parts.ids.uuid();
    this.#own.add(id);
    this.#waiting.set(id, { text: message.text, mode: message.mode });
    this.#showWaiting();
    this.#sending = this.#sending.then(async () => {
      const end = await this.#deliver(id, message);
      if (end === undefined || this.#closing.signal.aborted) return;
      this.#forgetWaiting(id);
      this.#lastEnd = end;
      this.#parts.console.wake();
      message.onReturned();
    });
  }

  /** Undo and reset: whoever goes back says so, and the event of it is no news here. */
  async goBack<Answer extends { readonly ok: boolean }>(call: () => Promise<Answer>): Promise<Answer> {
    this.#ownReturns += 1;
    const answer = await call();
    if (!answer.ok) this.#takeOwnReturn();
    return answer;
  }

  /** What was typed is not sent at all: the exit code is to tell. */
  refuse(failureCode: string): void {
    this.#lastEnd = { outcome: "failed", failureCode };
  }

  /** Everything typed so far has been sent or refused. */
  get whenSent(): Promise<void> {
    return this.#sending;
  }

  /** Stops the turn. What was typed into it and not read yet is withdrawn: otherwise it would start the next one. */
  async cancel(): Promise<void> {
    const { client, console, style, words } = this.#parts;
    this.#uploading?.abort();
    const state = await client.call("getState", { params: { id: this.id } });
    for (const { id, text, mode } of state.ok ? state.value.queue : []) {
      if (mode !== "steer" || !this.#own.has(id)) continue;
      const taken = await client.call("withdrawMessage", { params: { id: this.id, message: id } });
      if (!taken.ok) continue;
      if (console.screen !== undefined) console.screen.giveBack(ownWords(text).words);
      else console.note(words.terminal.command.withdrawn({ text: safeLine(ownWords(text).words) }));
    }
    const cancelled = await client.call("cancelTurn", { params: { id: this.id } });
    if (!cancelled.ok && cancelled.failure.code !== "turn_not_running") {
      console.note(style.bad(`✗ ${failureText(words, cancelled.failure)}`));
    }
  }

  /** Off the screen; what was typed is still sent. */
  close(): void {
    this.#waitingLine.stop();
    if (!this.#closing.signal.aborted) this.#parts.console.screen?.showWaiting([]);
    this.#closing.abort();
  }

  /** The program ends. A message whose files are not all there is withdrawn: without them it says something else. */
  async leave(): Promise<void> {
    const uploading = this.#uploading;
    uploading?.abort();
    this.close();
    if (uploading !== undefined) await this.#sending;
  }

  /** The files first, then the message that names them. Answers how it ended where no turn will tell. */
  async #deliver(id: string, { text, own, mode, slot, files }: Outgoing): Promise<TurnEnd | undefined> {
    const { client, console, style, words } = this.#parts;
    const stored = await this.#untilAnswered(() => this.store());
    if (!stored.ok) return this.#sayFailed(stored.failure);
    const uploads = await this.#upload(files);
    if (uploads === "stopped") {
      console.note(words.terminal.command.withdrawn({ text: safeLine(text) }));
      return { outcome: "cancelled", failureCode: undefined };
    }
    if (uploads.failure !== undefined) return { outcome: "failed", failureCode: uploads.failure.code };
    const paths = uploads.files.flatMap((file) => (file.success ? [file.path] : []));
    const named = paths.length > 0 && { files: paths };
    const body = { id, text, own, mode, ...(slot !== undefined && { slot }), ...named };
    const sent = await this.#untilAnswered(() => client.call("sendMessage", { params: { id: this.id }, body }));
    if (!sent.ok) return this.#sayFailed(sent.failure);
    for (const unknown of sent.value.unknownMentions ?? [])
      console.note(style.attention(`! ${unknownText(unknown, words)}`));
    return undefined;
  }

  async #upload(files: Outgoing["files"]): Promise<Uploads | "stopped"> {
    const stop = new AbortController();
    const { signal } = stop;
    const whenLost = async () => {
      if (this.#closing.signal.aborted) stop.abort();
      await this.#waitForServer(signal);
    };
    if (files.files.length > 0) this.#uploading = stop;
    const uploads = await uploadFiles(this.id, files, { ...this.#parts, signal, whenLost });
    this.#uploading = undefined;
    return signal.aborted ? "stopped" : uploads;
  }

  async #untilAnswered<T>(ask: () => Promise<Result<T, ClientFailure>>): Promise<Result<T, ClientFailure>> {
    const { signal } = this.#closing;
    for (;;) {
      const answer = await ask();
      const isUnreachable = !answer.ok && answer.failure.status === undefined;
      if (!isUnreachable || signal.aborted) return answer;
      await this.#waitForServer(signal);
    }
  }

  async #waitForServer(signal: AbortSignal): Promise<void> {
    this.#sayLost();
    await this.#parts.clock.wait(sendAgainMs, signal);
  }

  #sayFailed(failure: ClientFailure): TurnEnd {
    const { console, style, words } = this.#parts;
    if (!this.#closing.signal.aborted) console.note(style.bad(`✗ ${failureText(words, failure)}`));
    return { outcome: "failed", failureCode: failure.code };
  }

  /** Makes it durable, where it is not yet. */
  async store(): Promise<Result<unknown, ClientFailure>> {
    if (this.#isStored) return ok(undefined);
    const created = await this.#parts.client.call("createConversation", { body: { id: this.id } });
    // An answer that was lost on its way: the id is ours alone.
    if (!created.ok && created.failure.code !== "conversation_exists") return created;
    this.#isStored = true;
    this.#follow({ after: 0 });
    return ok(undefined);
  }

  #follow(from: { after: number; opens?: boolean }): void {
    const { client } = this.#parts;
    const { signal } = this.#closing;
    const reading = async () => {
      for await (const frame of client.follow(this.id, { ...from, signal })) {
        if (signal.aborted) return;
        this.#take(frame);
      }
    };
    void reading();
  }

  #take(frame: FollowFrame): void {
    const { console, style, words } = this.#parts;
    this.#waitingLine.take(frame);
    if (frame.frame === "lost") return this.#sayLost();
    if (frame.frame === "failed") {
      this.#isGone = true;
      return console.note(style.bad(`✗ ${failureText(words, frame.failure)}`));
    }
    if (this.#isLost) console.note(words.terminal.chat.connectionBack());
    this.#isLost = false;
    this.#view.show(frame);
    if (frame.frame !== "event") return;
    this.#fold(frame.event);
    this.#parts.onNews?.(frame.event);
    console.wake();
  }

  #fold(event: LogEvent): void {
    const isOthers = "agent" in event && event.agent !== undefined;
    if (event.type === "agent.ended") this.#forgetAsked(event.id);
    if (event.type === "turn.started" && !isOthers) {
      this.#isTurnOpen = true;
      this.#forgetWaiting(event.message);
    }
    if (event.type === "step.started") for (const message of event.joined ?? []) this.#forgetWaiting(message);
    if (event.type === "message.withdrawn") this.#forgetWaiting(event.id);
    // What a stored rule answers stands in the log together with its answer: nobody is asked.
    const isForRule = event.type === "decision.asked" && event.layer === "always";
    if (event.type === "decision.asked" && !isForRule)
      this.#decisions.set(event.id, decisionOf(this.id, event, event.at));
    if (event.type === "decision.made") this.#close(event);
    if (event.type === "turn.finished" && !isOthers) {
      this.#isTurnOpen = false;
      this.#decisions.clear();
      this.#lastEnd = { outcome: event.outcome, failureCode: event.failure?.code };
    }
  }

  /** An agent that has ended waits for nobody. */
  #forgetAsked(agent: string): void {
    for (const [id, { path }] of this.#decisions) if (path.at(-1) === agent) this.#decisions.delete(id);
  }

  #close({ id, verdict, by, rule }: EventOf<"decision.made">): void {
    const isNews = this.#decisions.delete(id) && !this.deciding.has(id);
    const { console, style, words } = this.#parts;
    const { decision } = words.terminal;
    if (by === "rule" && rule !== undefined)
      console.note(style.dim(decision.byRule({ tool: safeLine(rule.tool, 64), id: rule.id })));
    else if (isNews) console.note(decision.elsewhere({ what: decision.verdict[verdict] }));
  }

  #forgetWaiting(message: string): void {
    if (this.#waiting.delete(message)) this.#showWaiting();
  }

  /** Only what has to wait for somebody: what is read at once would only flash up. */
  #showWaiting(): void {
    const waiting = this.#isTurnOpen ? [...this.#waiting.values()] : [];
    if (!this.#closing.signal.aborted) this.#parts.console.screen?.showWaiting(waiting);
  }

  async #readImage(path: string): Promise<Buffer | undefined> {
    const download = await this.#parts.client.download(this.id, path, { signal: this.#closing.signal });
    return download.ok ? readBytes(download.value.chunks, Number.POSITIVE_INFINITY) : undefined;
  }

  #takeOwnReturn(): boolean {
    const isOwn = this.#ownReturns > 0;
    if (isOwn) this.#ownReturns -= 1;
    return isOwn;
  }

  #sayLost(): void {
    if (!this.#isLost) this.#parts.console.note(this.#parts.words.terminal.chat.connectionLost());
    this.#isLost = true;
  }
}
