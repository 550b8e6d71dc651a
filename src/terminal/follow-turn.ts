import { clearLine, cursorTo } from "node:readline";
import type { ClientFailure, FollowFrame } from "../client/client.ts";
import { jsonLine } from "./format.ts";
import type { RunOptions } from "./run-command.ts";
import { describeFiles } from "./run-result.ts";
import { safeLine } from "./safe-text.ts";
import { styleFor } from "./style.ts";
import type { TurnRecord } from "./turn-record.ts";
import { TurnView } from "./turn-view.ts";
import type { FileReport } from "./upload.ts";
import { WaitingLine } from "./waiting-line.ts";
import { yesRuleFor } from "./yes-rules.ts";

export type Watch = {
  readonly conversation: string;
  readonly record: TurnRecord;
  readonly after: number;
  /** Events up to here are old: folded, not shown. */
  readonly silentUpTo: number;
  /** Not the turn that was asked for: its events are no part of `--stream-json`. */
  readonly isAside: boolean;
  /** One more turn of the same run: its conversation was named before. */
  readonly isAgain?: true;
  /** The message that is to be withdrawn when nobody has taken it up at the end. */
  readonly message?: string;
  /** What became of the files that came with it. */
  readonly files?: readonly FileReport[];
};

type WatchEnd = { readonly failure?: ClientFailure; readonly needsPerson?: string };

/** A stopped turn records its end within a second; after this long we go without it. */
const stopWithinMs = 3_000;

/** Follows a turn to its end, to a decision that nobody here can make, or until the process is to end. */
export async function followTurn(watch: Watch, options: RunOptions): Promise<WatchEnd> {
  const { client, leave } = options;
  const following = new AbortController();
  const stop = () => void stopTurn(watch, options).then(() => following.abort());
  leave.addEventListener("abort", stop);
  if (leave.aborted) stop();
  const { show, close } = makeDisplay(watch, options);
  const rules = new Yes(watch, options);
  let isCaughtUp = false;
  try {
    for await (const frame of client.follow(watch.conversation, { after: watch.after, signal: following.signal })) {
      if (frame.frame === "failed") return { failure: frame.failure };
      if (frame.frame === "caught_up") isCaughtUp = true;
      if (frame.frame === "event") watch.record.take(frame.event);
      show(frame);
      if (isCaughtUp && watch.record.end !== undefined) return {};
      if (isCaughtUp) await rules.apply();
      const tool = isCaughtUp ? watch.record.needsPerson : undefined;
      if (tool !== undefined && (await isAtRest(watch, options))) return { needsPerson: tool };
    }
    return {};
  } finally {
    leave.removeEventListener("abort", stop);
    following.abort();
    close();
  }
}

/** Says yes to what `--yes` allows, once to each. */
class Yes {
  readonly #watch: Watch;
  readonly #options: RunOptions;
  readonly #said = new Set<string>();

  constructor(watch: Watch, options: RunOptions) {
    this.#watch = watch;
    this.#options = options;
  }

  async apply(): Promise<void> {
    const { client, command, errors, words } = this.#options;
    for (const asked of this.#watch.record.asked) {
      const rule = yesRuleFor(command.limits?.yes ?? [], asked);
      if (rule === undefined || this.#said.has(asked.id)) continue;
      this.#said.add(asked.id);
      const params = { id: this.#watch.conversation, decision: asked.id };
      const made = await client.call("decide", { params, body: { verdict: "approve" } });
      const told = { rule: safeLine(rule.written, 80), tool: safeLine(asked.tool, 64) };
      if (made.ok) errors.write(`${words.terminal.chat.saidYes(told)}\n`);
    }
  }
}

/** Stops the turn and waits for its end, which the follower sees; or withdraws a message that no turn has. */
async function stopTurn({ conversation, message }: Watch, { client, clock }: RunOptions): Promise<void> {
  const cancelled = await client.call("cancelTurn", { params: { id: conversation } });
  if (cancelled.ok) await clock.wait(stopWithinMs);
  else if (message !== undefined) await client.call("withdrawMessage", { params: { id: conversation, message } });
}

/** Our events are all there are, and the turn waits: what we know of it is not out of date. */
async function isAtRest({ conversation, record }: Watch, { client }: RunOptions): Promise<boolean> {
  const state = await client.call("getState", { params: { id: conversation } });
  return state.ok && state.value.status === "waiting" && state.value.head === record.seq;
}

const newsFrames: ReadonlySet<FollowFrame["frame"]> = new Set(["event", "delta", "output", "lost"]);

type Display = { show(frame: FollowFrame): void; close(): void };

function makeDisplay(watch: Watch, options: RunOptions): Display {
  const { command, words, output, errors, clock } = options;
  const close = () => {};
  if (command.output === "json") return { show: () => {}, close };
  const isOld = (frame: FollowFrame) => frame.frame === "event" && frame.event.seq <= watch.silentUpTo;
  if (command.output === "stream-json") {
    if (!watch.isAside && watch.isAgain !== true)
      output.write(jsonLine({ frame: "conversation", conversation_id: watch.conversation }));
    const files = describeFiles(watch.files ?? [], words);
    if (files.length > 0) output.write(jsonLine({ frame: "files", files }));
    const show = (frame: FollowFrame) => {
      const isNews = newsFrames.has(frame.frame);
      if (isNews && !isOld(frame) && !watch.isAside) output.write(jsonLine(frame));
    };
    return { show, close };
  }
  const status = statusLine(errors, options.hasKeys);
  const note = (line: string) => void errors.write(`${line}\n`);
  const shown = { words, style: styleFor({ color: false }) };
  const console = { isInteractive: false, answer: () => {}, note };
  const view = new TurnView({ ...shown, console, isOwn: () => true, isOwnReturn: () => true });
  const waiting = new WaitingLine({ ...shown, console: { status }, clock });
  const show = (frame: FollowFrame) => {
    if (!isOld(frame)) waiting.take(frame);
    if (frame.frame === "event" && isOld(frame)) view.learn(frame.event);
    else view.show(frame);
  };
  return { show, close: () => waiting.stop() };
}

/** One line that comes and goes, where standard error is a terminal that can do that. */
export function statusLine(errors: RunOptions["errors"], hasKeys: boolean): (line: string | undefined) => void {
  if (errors.isTTY !== true || !hasKeys) return () => {};
  let isShown = false;
  return (line) => {
    if (isShown) {
      cursorTo(errors, 0);
      clearLine(errors, 0);
    }
    if (line !== undefined) errors.write(line);
    isShown = line !== undefined;
  };
}
