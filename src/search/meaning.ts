import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Embedder, ModelError } from "../models/models.ts";
import type { Logger } from "../observe/observe.ts";
import type { Ask } from "./access.ts";
import { openEmbedTexts, type Vectors } from "./embed-texts.ts";
import type { SearchFailure } from "./search.ts";
import type { Unembedded } from "./sqlite/vectors.ts";

/** A second ranking, by what passages mean. Words are enough without it, and while it does not work. */
export type MeaningOptions = {
  readonly embedder: Embedder;
  /** Of passages, in a day of UTC. What a question costs does not count. */
  readonly charactersPerDayMax: number;
  /** What keeps it from its work, once until it works again. */
  readonly onTrouble: (trouble: MeaningTrouble) => void;
  readonly logger: Pick<Logger, "error">;
};

export type MeaningTrouble =
  | { readonly why: "limit"; readonly charactersMax: number }
  | { readonly why: "failed"; readonly error: ModelError };

export type MeaningState = {
  readonly passages: number;
  /** So many of them have a vector. */
  readonly embedded: number;
  readonly trouble?: MeaningTrouble | undefined;
};

/** In one request. Its answer is read in a few milliseconds, during which nobody else is served. */
const batchTexts = 32;
/** Whoever asks waits for it. */
const questionTimeoutMs = 3_000;
/** After a failure nobody waits for the server again, and no passage is sent. */
const questionRestMs = 60_000;
const restMs = 10 * 60_000;
const dayMs = 86_400_000;
/** Questions that were asked last: people ask again, and agents with other limits. */
const questionsMax = 256;

type Parts = MeaningOptions & { readonly write: Ask; readonly read: Ask; readonly clock: Clock };

export function openMeaning(parts: Parts) {
  const { embedder, read, clock } = parts;
  const closing = new AbortController();
  const { signal } = closing;
  const troubles = openTroubles(parts);
  const rest = openRest(clock, () => work.wake());
  const questions = openQuestions({ embedder, clock, troubles }, signal);
  const work = openWork({ ...parts, troubles, rest }, signal);
  let hasVectors = false;

  return {
    model: embedder.name,
    /** There may be something new. */
    wake: work.wake,
    /** Undefined: words alone must do. */
    async vectorOf(query: string): Promise<Float32Array | undefined> {
      if (!hasVectors) {
        const has = await read({ do: "hasVectors" });
        hasVectors = has.ok && has.value;
      }
      return hasVectors ? questions(query) : undefined;
    },
    async state(owner: string): Promise<Result<MeaningState, SearchFailure>> {
      const state = await read({ do: "vectorState", owner });
      const trouble = troubles.now();
      return state.ok ? ok({ ...state.value, ...(trouble && { trouble }) }) : state;
    },
    async close(): Promise<void> {
      closing.abort();
      await work.ended();
      embedder.close();
    },
  };
}

type Troubles = ReturnType<typeof openTroubles>;

/** What is in the way of passages and of questions. The same is told once, until it is over. */
function openTroubles({ onTrouble }: Pick<Parts, "onTrouble">) {
  const met = new Map<"passages" | "questions", MeaningTrouble>();
  return {
    tell(of: "passages" | "questions", trouble: MeaningTrouble): void {
      const isTold = [...met.values()].some(({ why }) => why === trouble.why);
      met.set(of, trouble);
      if (!isTold) onTrouble(trouble);
    },
    over: (of: "passages" | "questions") => void met.delete(of),
    now: () => met.get("passages") ?? met.get("questions"),
  };
}

type Rest = ReturnType<typeof openRest>;

/** How long nothing is tried. */
function openRest(clock: Clock, wake: () => void) {
  let restsUntil = Number.NEGATIVE_INFINITY;
  return {
    begin(ms: number): void {
      restsUntil = clock.monotonic() + ms;
      clock.after(ms, wake);
    },
    isOver: () => clock.monotonic() >= restsUntil,
  };
}

type WorkParts = Parts & { readonly troubles: Troubles; readonly rest: Rest };

/** Embeds what has no vectors yet, in the background: until all have some, or something is in the way. */
function openWork(parts: WorkParts, signal: AbortSignal) {
  const { embedder, write, logger, rest } = parts;
  const embedAll = openBatches(parts, signal);
  let working: Promise<void> | undefined;
  let isAwake = false;

  const work = async (): Promise<void> => {
    while (!signal.aborted) {
      const found = await write({ do: "unembedded", model: embedder.name, countMax: batchTexts });
      if (!found.ok || found.value.length === 0) return;
      const vectors = await embedAll(found.value);
      if (vectors === undefined) return;
      const kept = await write({ do: "keepVectors", model: embedder.name, pieces: keptOf(found.value, vectors) });
      if (!kept.ok) return;
    }
  };

  const workOn = async (): Promise<void> => {
    // Who came in while the last look was taken is not forgotten.
    while (isAwake && !signal.aborted && rest.isOver()) {
      isAwake = false;
      await inBackground(logger, "passages could not be embedded", work());
    }
    working = undefined;
  };

  return {
    wake() {
      isAwake = true;
      if (!signal.aborted && rest.isOver()) working ??= workOn();
    },
    ended: async () => working,
  };
}

/** The vectors of one batch; undefined where it has to rest. */
function openBatches(
  { embedder, write, clock, charactersPerDayMax: charactersMax, rest, troubles }: WorkParts,
  signal: AbortSignal,
) {
  const embed = openEmbedTexts({ embedder, clock, signal });
  let size: number | undefined;

  /** Vectors that are now of this size and now of that cannot be compared. */
  const isOfSize = (vectors: Vectors): boolean => {
    size ??= vectors.find((vector) => vector !== undefined)?.length;
    return vectors.every((vector) => vector === undefined || vector.length === size);
  };

  const restFor = (ms: number, trouble: MeaningTrouble): undefined => {
    rest.begin(ms);
    troubles.tell("passages", trouble);
  };

  return async (pieces: readonly Unembedded[]): Promise<Vectors | undefined> => {
    const texts = pieces.flatMap((piece) => piece.texts);
    if (texts.length === 0) return [];
    const now = clock.now();
    const day = Math.floor(now / dayMs);
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    const spent = await write({ do: "spend", day, characters, charactersMax });
    if (!spent.ok) return undefined;
    if (!spent.value) return restFor((day + 1) * dayMs - now, { why: "limit", charactersMax });
    const embedded = await embed(texts);
    if (signal.aborted) return undefined;
    if (!embedded.ok) {
      const { failure: error } = embedded;
      return restFor(Math.max(restMs, error.retryAfterMs ?? 0), { why: "failed", error });
    }
    if (!isOfSize(embedded.value)) return restFor(restMs, { why: "failed", error: otherSize });
    troubles.over("passages");
    return embedded.value;
  };
}

const otherSize: ModelError = { kind: "protocol", retryable: false, because: "no_vectors", message: "" };

type QuestionParts = Pick<WorkParts, "embedder" | "clock" | "troubles">;

/** The vectors of questions, the last ones remembered. After a failure none is asked for for a while. */
function openQuestions({ embedder, clock, troubles }: QuestionParts, signal: AbortSignal) {
  const known = new Map<string, Float32Array>();
  let restsUntil = Number.NEGATIVE_INFINITY;
  return async (query: string): Promise<Float32Array | undefined> => {
    const before = known.get(query);
    if (before !== undefined) return before;
    if (clock.monotonic() < restsUntil || signal.aborted) return undefined;
    const embedded = await embedder.embed([query], { signal, timeoutMs: questionTimeoutMs });
    if (!embedded.ok) {
      restsUntil = clock.monotonic() + questionRestMs;
      troubles.tell("questions", { why: "failed", error: embedded.failure });
      return undefined;
    }
    troubles.over("questions");
    const [vector] = embedded.value;
    if (vector === undefined) return undefined;
    known.set(query, vector);
    for (const oldest of known.keys()) if (known.size > questionsMax) known.delete(oldest);
    return vector;
  };
}

function keptOf(pieces: readonly Unembedded[], vectors: Vectors) {
  let from = 0;
  return pieces.map(({ texts, ...piece }) => {
    const own = vectors.slice(from, from + texts.length);
    from += texts.length;
    return { ...piece, vectors: own };
  });
}
