import { type Client, createClient } from "../../src/client/client.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Tool } from "../../src/tools/tools.ts";
import { killingStorage } from "../world/killing-storage.ts";
import type { Answer, AskedRequest } from "../world/model-server.ts";
import { replicaEnv } from "../world/replicas.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

/** Something that people do with a yard, which can be interrupted anywhere and is then begun again from the start. */
export type Scenario = {
  /** What the model says: a function of the request, so that a repeated request gets the same answer. */
  readonly answer: (request: AskedRequest) => Answer;
  readonly env?: Readonly<Record<string, string>>;
  readonly tools?: (data: string) => readonly Tool[];
  /**
   * The people's part, repeated after a restart as a client would: under the same ids and keys, and what has neither is
   * done unless it can be seen that it is done.
   */
  readonly play: (yard: TestYard) => Promise<void>;
  /** What is there afterwards; after any kill it is what an undisturbed run leaves. */
  readonly outcome: (yard: TestYard) => Promise<unknown>;
  /** Where a kill may leave one of several things; otherwise the outcome is the same to the letter. */
  readonly check?: (outcome: unknown) => void;
};

type Place = {
  readonly data: string;
  /** The address of a database that is no file. */
  readonly database?: string | undefined;
  readonly modelUrl: string;
  readonly wrapStorage?: (storage: Storage) => Storage;
  /** The folder that several servers have in common, where there are several: for files, and for what tools leave. */
  readonly shared?: string | undefined;
};

export async function startScenario(
  { tools, env }: Scenario,
  { modelUrl, database, shared, ...place }: Place,
): Promise<TestYard> {
  const together = shared === undefined ? {} : replicaEnv(shared, 2);
  const where = { MODEL_BASIC_BASE_URL: modelUrl, ...(database && { AGENTYARD_DATABASE_URL: database }), ...together };
  const yard = await startYard({
    ...place,
    env: { ...model, ...where, ...env },
    tools: tools?.(shared ?? place.data) ?? [],
  });
  return { ...yard, data: shared ?? place.data };
}

/**
 * What the kernel has taken stays, however a process ends: nobody waits for the disk itself here. Whether what was
 * acknowledged survives a power cut, too, is shown by those (power-cut-*.test.ts).
 */
const model = {
  ...{ MODEL_BASIC_ID: "test-model", MODEL_BASIC_CONTEXT_WINDOW: "128000" },
  AGENTYARD_SYNCHRONOUS: "normal",
};

/** What was written, in a word: the last event, which is where the log ends then, or what else the storage was asked for. */
export function writtenBy(name: string, given: readonly unknown[]): string {
  return name === "append" ? (eventsIn(given).at(-1) ?? name) : name;
}

/** Types of the events that a write carries. */
export function eventsIn([batch]: readonly unknown[]): string[] {
  const { events = [] }: { readonly events?: readonly { readonly type: string }[] } = Object(batch);
  return events.map(({ type }) => type);
}

/** A client that does what it makes under this key, however often it has to ask. */
export function under(yard: TestYard, key: string): Client {
  return createClient({ fetch: yard.fetch, newKey: () => key });
}

/** The conversation is there, whether it is made now or was before. */
export async function begin(yard: TestYard, id: string): Promise<void> {
  const made = await yard.client.call("createConversation", { body: { id } });
  if (!made.ok && made.failure.code !== "conversation_exists") throw new Error(made.failure.code);
}

/** Says it, and waits until so many turns have ended; `act` is what a person does who sees an event. */
export async function say(
  yard: TestYard,
  message: { readonly id: string; readonly text: string; readonly turns: number; readonly files?: string[] },
  act: (event: LogEvent) => Promise<unknown> = async () => {},
): Promise<void> {
  const { id, text, turns, files } = message;
  const sent = { id: `m-${text}`.slice(0, 64), text, mode: "queue" as const, ...(files && { files }) };
  await must(yard.client.call("sendMessage", { params: { id }, body: sent }));
  if ((await yard.events(id)).filter(isEndOfTurn).length >= turns) return;
  const stop = new AbortController();
  let ended = 0;
  for await (const frame of yard.client.follow(id, { after: 0, signal: stop.signal })) {
    if (frame.frame === "failed") throw new Error(frame.failure.code);
    if (frame.frame !== "event") continue;
    if (isEndOfTurn(frame.event)) ended += 1;
    if (ended >= turns) break;
    await act(frame.event);
  }
  stop.abort();
}

/** Whoever is told to come again does not know whether it was done; everything else is an answer. */
export async function heard(
  asked: Promise<{ ok: true } | { ok: false; failure: { code: string; retryable: boolean } }>,
): Promise<void> {
  const answer = await asked;
  if (!answer.ok && answer.failure.retryable) throw new Error(answer.failure.code);
}

/** Agents that others made have turns of their own. */
function isEndOfTurn(event: LogEvent): boolean {
  return event.type === "turn.finished" && event.agent === undefined;
}

export async function count(yard: TestYard, id: string, type: LogEvent["type"]): Promise<number> {
  return (await yard.events(id)).filter((event) => event.type === type).length;
}

/** For what is done without an id or a key: whoever does not know whether it was done looks into the log. */
export async function unlessDone(
  yard: TestYard,
  { id, shows }: { readonly id: string; readonly shows: (event: LogEvent) => boolean },
  work: () => Promise<unknown>,
): Promise<void> {
  if (!(await yard.events(id)).some(shows)) await work();
}

/** How the turns ended and what was said, in the log as it stands. */
export async function told(yard: TestYard, id: string): Promise<{ turns: string[]; answers: string[] }> {
  const events = await yard.events(id);
  return {
    turns: events.flatMap((event) => (event.type === "turn.finished" ? [event.outcome] : [])),
    answers: events.flatMap((event) => (event.type === "message.assistant" && event.text !== "" ? [event.text] : [])),
  };
}

/** After which write: the third one, or the third one of this name. */
export type KillAfter = { readonly write?: string; readonly times: number };

type StandTold = {
  /** A line for whoever will kill this process: what was acknowledged, in the moment it was, and what was written last. */
  readonly tell: (told: object) => void;
  /** The last write is on disk, and nothing moves any more. */
  readonly stand: () => void;
};

/** A storage at which a yard comes to a stand when this write of it is on disk. */
export function standingAfter(
  killAfter: KillAfter | undefined,
  { tell, stand }: StandTold,
): (storage: Storage) => Storage {
  let times = 0;
  const isLast = (name: string, given: readonly unknown[]) => {
    const write = writtenBy(name, given);
    if ((killAfter?.write ?? write) === write) times += 1;
    const isSo = times === killAfter?.times;
    if (isSo) tell({ last: { write, events: eventsIn(given) } });
    return isSo;
  };
  return (storage) => killingStorage(telling(storage, tell), { isLast, kill: stand });
}

function telling(storage: Storage, tell: StandTold["tell"]): Storage {
  return {
    ...storage,
    async append(batch) {
      const stored = await storage.append(batch);
      if (stored.ok) tell({ number: batch.number, seq: stored.value.lastSeq });
      return stored;
    },
  };
}
