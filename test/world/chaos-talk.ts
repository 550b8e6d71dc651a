import { readFileSync } from "node:fs";
import { systemIds } from "../../src/base/ids.ts";
import { type Client, createClient } from "../../src/client/client.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { ChaosServers } from "./chaos-servers.ts";
import { all, pause } from "./events.ts";
import type { Chance } from "./fuzz-chance.ts";
import { type Answer, type AskedRequest, calls, says, stepOf } from "./model-server.ts";
import { persist } from "./persist.ts";

/** What a client knows at the end of a conversation: what it was told for certain, and all that its streams gave it. */
export type Talked = {
  readonly id: string;
  /** Messages that were acknowledged, with their place. */
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly events: readonly LogEvent[];
  /** How often its stream was lost and found again. */
  readonly resumed: number;
};

/** Signs two things, then says a few words slowly. Which ones follows from what was asked, so a repeated request has the same answer. */
export function chaosAnswer(request: AskedRequest): Answer {
  const last = request.body.messages.findLast(({ role }) => role === "user");
  const [job = ""] = /job \S+/.exec(String(last?.content)) ?? [];
  const step = stepOf(request);
  if (step < signsPerTurn)
    return calls(["use_tool", { name: "sign", arguments: JSON.stringify({ what: `${job.slice(4)}/${step}` }) }]);
  return { ...says(`${job} is done, ${"and that is that, ".repeat(3)}truly`), paceMs: 20 };
}

const signsPerTurn = 2;

/** Whose every request comes to any of the servers that are there. */
function randomClient(servers: ChaosServers): Client {
  return createClient({
    fetch: (url, init) => fetch(url.replace("http://localhost", servers.anyAddress()), init),
    newKey: () => systemIds.uuid(),
  });
}

export type Talking = {
  readonly id: string;
  readonly chance: Chance;
  readonly isOver: () => boolean;
  /** Told what it waits for, to be said of one that waits for ever. */
  readonly waitsFor: (what: string) => void;
};

/** Turn after turn, each by whatever server is there; whoever is not answered asks again, in the same words and under the same id. */
export async function talk(servers: ChaosServers, { id, chance, isOver, waitsFor }: Talking): Promise<Talked> {
  const client = randomClient(servers);
  const { gone } = servers;
  waitsFor("its beginning");
  await persist(() => client.call("createConversation", { body: { id } }), {
    ...{ gone, isFine: "conversation_exists" },
  });
  const stream = followAll(client, id, gone);
  const acknowledged = new Map<string, number>();
  for (let turn = 0; turn === 0 || !isOver(); turn += 1) {
    await pause(chance.int(0, 400));
    const body = { id: systemIds.uuid(), text: `job ${id}.${turn}` };
    waitsFor(`a receipt for message ${turn}`);
    const sent = await persist(() => client.call("sendMessage", { params: { id }, body }), { gone });
    if (sent !== undefined) acknowledged.set(body.id, sent.seq);
    waitsFor(`the end of turn ${turn}`);
    await stream.turnsOver(turn + 1);
  }
  await stream.close();
  return { id, acknowledged, events: stream.events, resumed: stream.resumed() };
}

/** One stream from the beginning to the end, however often it is lost on the way. */
function followAll(client: Client, id: string, gone: AbortSignal) {
  const events: LogEvent[] = [];
  const over = new AbortController();
  let [resumed, turns, onTurnOver] = [0, 0, () => {}];
  const following = (async () => {
    for await (const frame of client.follow(id, { signal: AbortSignal.any([over.signal, gone]) })) {
      if (frame.frame === "found") resumed += 1;
      if (frame.frame === "failed") throw new Error(`the stream of ${id} ended: ${frame.failure.code}`);
      if (frame.frame !== "event") continue;
      events.push(frame.event);
      if (frame.event.type !== "turn.finished") continue;
      turns += 1;
      onTurnOver();
    }
  })();
  return {
    events,
    resumed: () => resumed,
    async turnsOver(count: number): Promise<void> {
      while (turns < count && !gone.aborted) {
        const next = new Promise<void>((resolve) => {
          onTurnOver = resolve;
        });
        await Promise.race([next, following]);
      }
    },
    async close(): Promise<void> {
      over.abort();
      await following;
    },
  };
}

/** What was counted, and below it what must be none. */
const nothing = {
  ...{ conversations: 0, acknowledged: 0, turns: 0, parked: 0, signed: 0, unknown: 0, resumed: 0 },
  ...{ lost: 0, turnsTwice: 0, turnsOpen: 0, turnsFailed: 0, signedTwice: 0, signedLost: 0 },
  streamsWrong: 0,
};

export type Verdict = Record<keyof typeof nothing, number>;

/** Holds what clients know against what the log has, and both against what was really done. */
export async function judge(servers: ChaosServers, talks: readonly Talked[]) {
  const client = randomClient(servers);
  const verdict: Verdict = { ...nothing, conversations: talks.length };
  const wrong: string[] = [];
  const blame = (what: keyof Verdict, about: string) => {
    verdict[what] += 1;
    wrong.push(`${what}: ${about}`);
  };
  const deeds = readFileSync(servers.deeds, "utf8").split("\n").slice(0, -1);
  verdict.signed = deeds.length;
  const done = new Set(deeds);
  for (const deed of deeds) if (!done.delete(deed)) blame("signedTwice", deed);
  for (const talked of talks) {
    const { id, events } = talked;
    verdict.resumed += talked.resumed;
    const log = await wholeLog(client, id, events.at(-1)?.seq ?? 0);
    if (JSON.stringify(events) !== JSON.stringify(log))
      blame("streamsWrong", `${id}: ${events.length} of ${log.length}`);
    judgeTurns(talked, log, { verdict, blame });
    judgeCalls(log, new Set(deeds), { verdict, blame });
  }
  return { verdict, wrong };
}

type Judging = { readonly verdict: Verdict; readonly blame: (what: keyof Verdict, about: string) => void };

function judgeTurns({ id, acknowledged }: Talked, log: readonly LogEvent[], { verdict, blame }: Judging): void {
  const started = all(log, "turn.started");
  const ended = all(log, "turn.finished");
  verdict.turns += started.length;
  for (const [message, seq] of acknowledged) {
    verdict.acknowledged += 1;
    const stored = all(log, "message.user").filter((event) => event.id === message);
    if (stored.length !== 1 || stored[0]?.seq !== seq) blame("lost", `${id} ${message} ${seq}`);
    const turns = started.filter((event) => event.message === message).map(({ turn }) => turn);
    if (turns.length > 1) blame("turnsTwice", `${id} ${turns.join(", ")}`);
    const ends = ended.filter(({ turn }) => turns.includes(turn));
    if (ends.length > 1) blame("turnsTwice", `${id} ${turns.join(", ")} ended ${ends.length} times`);
    if (ends.length === 0) blame("turnsOpen", `${id} ${message}`);
    for (const { turn, outcome, failure } of ends) {
      // One that was killed again and again is not tried for ever.
      if (outcome === "crashed") verdict.parked += 1;
      else if (outcome !== "done") blame("turnsFailed", `${id} ${turn} ${outcome} ${failure?.code}`);
    }
  }
  if (started.length > acknowledged.size) blame("turnsTwice", `${id}: ${started.length} of ${acknowledged.size}`);
}

/** What the log says was signed was; of what was interrupted it says that nobody knows. */
function judgeCalls(log: readonly LogEvent[], deeds: ReadonlySet<string>, { verdict, blame }: Judging): void {
  for (const { outcome, text } of all(log, "call.finished")) {
    const [, what] = /^signed (\S+)$/m.exec(text) ?? [];
    if (outcome !== "ok") verdict.unknown += 1;
    else if (what === undefined || !deeds.has(what)) blame("signedLost", text);
  }
}

async function wholeLog(client: Client, id: string, upTo: number): Promise<LogEvent[]> {
  const over = new AbortController();
  const log: LogEvent[] = [];
  for await (const frame of client.follow(id, { signal: over.signal })) {
    if (frame.frame === "event") log.push(frame.event);
    if (frame.frame === "failed") throw new Error(`${id}: ${frame.failure.code}`);
    if (frame.frame === "caught_up" && (log.at(-1)?.seq ?? 0) >= upTo) over.abort();
  }
  return log;
}
