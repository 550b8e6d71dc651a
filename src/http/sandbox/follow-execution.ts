import { whenOver } from "../../base/background.ts";
import type { Clock } from "../../base/clock.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import type { ExecutionFrame } from "../../protocol/sandbox-resources.ts";
import type { OutputPlace, ProgramOutput, Sandbox } from "../../sandbox/sandbox.ts";
import type { Language } from "../../words/words.ts";
import { pingMs } from "../bell.ts";
import { toExecution } from "./execution-answer.ts";

/** The id of a frame, by which a reader goes on after it. */
export function idOfFrame(frame: ExecutionFrame): string | undefined {
  switch (frame.frame) {
    case "output":
    case "cut":
      return idOf(frame.at);
    case "result":
      return endId;
    case "closing":
      return frame.after;
    default:
      return undefined;
  }
}

/** Who has the result has everything; who asks again gets it again. */
const endId = "end";

function idOf({ stdout, stderr }: OutputPlace): string {
  return `${stdout}-${stderr}`;
}

/** What an id stands for: the beginning where it is none of ours. */
export function placeOfId(id: string | undefined): OutputPlace {
  if (id === endId) return { stdout: Number.MAX_SAFE_INTEGER, stderr: Number.MAX_SAFE_INTEGER };
  const [, stdout, stderr] = /^(\d{1,15})-(\d{1,15})$/.exec(id ?? "") ?? [];
  return { stdout: Number(stdout ?? 0), stderr: Number(stderr ?? 0) };
}

type View = {
  readonly executions: Sandbox["executions"];
  readonly clock: Clock;
  readonly owner: OwnerId;
  readonly id: string;
  /** What of the output the reader has already. */
  readonly after: OutputPlace;
  readonly language: Language;
  /** Fires when the reader is gone. */
  readonly signal: AbortSignal;
  /** Fires when the server ends; the reader is told. */
  readonly closing: AbortSignal;
};

/** What an execution says as it says it, from a place on; its end is the last frame. Silence is filled with pings. */
export async function* followExecution(view: View): AsyncGenerator<ExecutionFrame[], void, undefined> {
  const { executions, owner, id, after } = view;
  const ended = AbortSignal.any([view.signal, view.closing]);
  let place = after;
  const output = executions.follow(owner, id, after)?.[Symbol.asyncIterator]();
  const pulse = openPulse(view);
  try {
    let next = output?.next();
    while (output !== undefined && next !== undefined) {
      const first = yield* patiently(pulse, next);
      if (first === undefined || first.done === true) break;
      const batch = await gather(output, first.value);
      place = batch.at;
      yield batch.frames;
      next = batch.next ?? output.next();
    }
    const over = ended.aborted ? undefined : yield* patiently(pulse, executions.wait(owner, id, ended));
    if (over !== undefined) yield [{ frame: "result", execution: toExecution(over, view.language) }];
    else if (view.closing.aborted && !view.signal.aborted) yield [{ frame: "closing", after: idOf(place) }];
  } finally {
    pulse.stop();
    void output?.return?.();
  }
}

type Next = Promise<IteratorResult<ProgramOutput, unknown>>;

/**
 * With all that waits already, as one: a program that prints line by line would otherwise cost every reader a frame a
 * line. Others get their turn in between. `next`: what is asked for and has not come yet.
 */
async function gather(
  output: AsyncIterator<ProgramOutput, unknown>,
  first: ProgramOutput,
): Promise<{ readonly frames: ExecutionFrame[]; readonly at: OutputPlace; readonly next: Next | undefined }> {
  const frames: ExecutionFrame[] = [];
  let characters = add(frames, first);
  let { at } = first;
  let next: Next | undefined;
  const turn = nextTurn();
  while (characters < batchCharactersMax) {
    next = output.next();
    const more = await Promise.race([next, turn]);
    if (more === undefined || more.done === true) return { frames, at, next };
    next = undefined;
    characters += add(frames, more.value);
    ({ at } = more.value);
  }
  await turn;
  return { frames, at, next };
}

const batchCharactersMax = 64 * 1024;
const frameCharactersMax = 10_000;

function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => {
    setImmediate(resolve, undefined);
  });
}

/** Answers how many characters it has. */
function add(frames: ExecutionFrame[], { stream, text, cutBytes: bytes, at }: ProgramOutput): number {
  if (bytes > 0) frames.push({ frame: "cut", stream, bytes, at });
  if (text === "") return 0;
  const last = frames.at(-1);
  const isJoined = last?.frame === "output" && last.stream === stream;
  // One event holds no more, so that it need not go out in parts.
  if (isJoined && last.text.length + text.length <= frameCharactersMax)
    frames[frames.length - 1] = { ...last, text: last.text + text, at };
  else frames.push({ frame: "output", stream, text, at });
  return text.length;
}

/** Waits for a value and says from time to time that we are still here; undefined when the reader is gone. */
async function* patiently<T>(
  pulse: Pulse,
  value: Promise<T>,
): AsyncGenerator<ExecutionFrame[], T | undefined, undefined> {
  let isOver = false;
  void whenOver(value).then(() => {
    isOver = true;
    pulse.wake();
  });
  for (;;) {
    const next = await pulse.next(() => isOver);
    if (next === "gone") return undefined;
    if (next === "ping") yield [{ frame: "ping" }];
    else if (isOver) return await value;
  }
}

/** One timer for as long as a reader stays, whatever is said meanwhile. */
type Pulse = {
  wake(): void;
  /** Resolves when that is true, when there was silence for long enough, or when the reader is gone. */
  next(isThere: () => boolean): Promise<"there" | "ping" | "gone">;
  stop(): void;
};

function openPulse({ clock, signal: gone, closing }: View): Pulse {
  const signal = AbortSignal.any([gone, closing]);
  let spokeAt = clock.monotonic();
  let isDue = false;
  let wake = () => {};
  let stopTimer = () => {};
  const arm = (ms: number) => {
    stopTimer = clock.after(ms, () => {
      const rest = spokeAt + pingMs - clock.monotonic();
      isDue = rest <= 0;
      arm(isDue ? pingMs : rest);
      wake();
    });
  };
  const onGone = () => wake();
  signal.addEventListener("abort", onGone);
  arm(pingMs);
  return {
    wake: () => wake(),
    async next(isThere) {
      while (!signal.aborted && !isThere() && !isDue)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      if (signal.aborted) return "gone";
      const what = isThere() ? "there" : "ping";
      spokeAt = clock.monotonic();
      isDue = false;
      return what;
    },
    stop() {
      stopTimer();
      signal.removeEventListener("abort", onGone);
    },
  };
}
