import { readFileSync } from "node:fs";
import type { Client } from "../../src/client/client.ts";
import type { LogEvent } from "../../src/protocol/events.ts";
import type { ChaosServers } from "./chaos-servers.ts";
import { randomClient, type Talked } from "./chaos-talk.ts";
import { all } from "./events.ts";

/** What was counted, and below it what must be none. */
const nothing = {
  ...{ conversations: 0, acknowledged: 0, turns: 0, parked: 0, signed: 0, unknown: 0, resumed: 0, documents: 0 },
  ...{ lost: 0, turnsTwice: 0, turnsOpen: 0, turnsFailed: 0, signedTwice: 0, signedLost: 0 },
  ...{ streamsWrong: 0, documentsWrong: 0 },
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
    const { id, events, documents } = talked;
    verdict.documents += documents.whole;
    verdict.resumed += talked.resumed;
    for (const question of documents.wrong) blame("documentsWrong", question);
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
