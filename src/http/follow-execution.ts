import type { Clock } from "../base/clock.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { ExecutionFrame } from "../protocol/sandbox-resources.ts";
import type { OutputPlace, RunOutput, Sandbox } from "../sandbox/sandbox.ts";
import type { Language } from "../words/words.ts";
import { toExecution } from "./execution-answer.ts";

const pingMs = 15_000;

/** The id of a frame, by which a reader goes on after it. */
export function idOfFrame(frame: ExecutionFrame): string | undefined {
  return "at" in frame ? `${frame.at.stdout}-${frame.at.stderr}` : undefined;
}

/** What an id stands for: the beginning where it is none of ours. */
export function placeOfId(id: string | undefined): OutputPlace {
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
  readonly signal: AbortSignal;
};

/** What an execution says as it says it, from a place on; its end is the last frame. Silence is filled with pings. */
export async function* followExecution(view: View): AsyncGenerator<ExecutionFrame[], void, undefined> {
  const { executions, owner, id, after, signal } = view;
  const output = executions.follow(owner, id, after)?.[Symbol.asyncIterator]();
  const pulse = openPulse(view);
  try {
    let next = output?.next();
    while (output !== undefined && next !== undefined) {
      const first = yield* patiently(pulse, next);
      if (first === undefined) return;
      if (first.done === true) break;
      const batch = await gather(output, first.value);
      yield batch.frames;
      next = batch.next ?? output.next();
    }
    const over = yield* patiently(pulse, executions.wait(owner, id, signal));
    if (over !== undefined) yield [{ frame: "result", execution: toExecution(over, view.language) }];
  } finally {
    pulse.stop();
    void output?.return?.();
  }
}

type Next = Promise<IteratorResult<RunOutput, unknown>>;

/**
 * With all that waits already, as one: a program that prints line by line would otherwise cost every reader a frame a
 * line. Others get their turn in between. `next`: what is asked for and has not come yet.
 */
async function gather(
  output: AsyncIterator<RunOutput, unknown>,
  first: RunOutput,
): Promise<{ readonly frames: ExecutionFrame[]; readonly next: Next | undefined }> {
  const frames: ExecutionFrame[] = [];
  let characters = add(frames, first);
  let next: Next | undefined;
  const turn = nextTurn();
  while (characters < batchCharactersMax) {
    next = output.next();
    const more = await Promise.race([next, turn]);
    if (more === undefined || more.done === true) return { frames, next };
    next = undefined;
    characters += add(frames, more.value);
  }
  await turn;
  return { frames, next };
}

const batchCharactersMax = 64 * 1024;

function nextTurn(): Promise<undefined> {
  return new Promise((resolve) => {
    setImmediate(resolve, undefined);
  });
}

/** Answers how many characters it has. */
function add(frames: ExecutionFrame[], { stream, text, cutBytes: bytes, at }: RunOutput): number {
  if (bytes > 0) frames.push({ frame: "cut", stream, bytes, at });
  if (text === "") return 0;
  const last = frames.at(-1);
  if (last?.frame === "output" && last.stream === stream)
    frames[frames.length - 1] = { ...last, text: last.text + text, at };
  else frames.push({ frame: "output", stream, text, at });
  return text.length;
}

/** Waits for a value and says from time to time that we are still here; undefined when the reader is gone. */
async function* patiently<T>(
  pulse: Pulse,
  value: Promise<T>,
): AsyncGenerator<ExecutionFrame[], T | undefined, undefined> {
  let settled: { readonly came: T } | { readonly error: unknown } | undefined;
  const settle = (how: NonNullable<typeof settled>) => {
    settled = how;
    pulse.wake();
  };
  value.then(
    (came) => settle({ came }),
    (error: unknown) => settle({ error }),
  );
  for (;;) {
    const next = await pulse.next(() => settled !== undefined);
    if (next === "gone") return undefined;
    if (next === "ping") yield [{ frame: "ping" }];
    else if (settled !== undefined && "came" in settled) return settled.came;
    else if (settled !== undefined) throw settled.error;
  }
}

/** One timer for as long as a reader stays, whatever is said meanwhile. */
type Pulse = {
  wake(): void;
  /** Resolves when that is true, when there was silence for long enough, or when the reader is gone. */
  next(isThere: () => boolean): Promise<"there" | "ping" | "gone">;
  stop(): void;
};

function openPulse({ clock, signal }: View): Pulse {
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
