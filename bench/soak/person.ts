import { systemIds } from "../../src/base/ids.ts";
import type { Client } from "../../src/client/client.ts";
import { pause } from "../../test/world/events.ts";
import type { Chance } from "../../test/world/fuzz-chance.ts";
import { persist } from "../../test/world/persist.ts";
import { type Kind, kinds } from "./answers.ts";

/** What all of them did, as they saw it. */
export type Ledger = {
  /** Conversations that were not deleted, with the messages that were acknowledged in them. */
  readonly kept: Map<string, { readonly client: Client; readonly messages: string[] }>;
  readonly counts: Map<string, number>;
  /** Milliseconds from saying something to its first word, since somebody looked. */
  firstWords: number[];
  readonly faults: string[];
};

export type Person = {
  readonly name: string;
  readonly client: Client;
  readonly chance: Chance;
  readonly isOver: () => boolean;
  readonly pauseMsMax: number;
};

const conversationsMax = 4;
const turnMsMax = 240_000;
/** Most of all they talk. */
const acts = [...kinds, "run", "chat", "chat", "chat", "code"] as const;
const table = `value\n${Array.from({ length: 2_000 }, (_, row) => row).join("\n")}\n`;
const text = `${"A line about something else.\n".repeat(400)}The heron stands in the reeds.\n`;

/** Somebody who works there: asks, uploads, has code run, searches, lets others work, changes their mind, tidies up. */
export async function live(person: Person, ledger: Ledger): Promise<void> {
  const { chance, client, name, isOver } = person;
  const mine: string[] = [];
  while (!isOver()) {
    await pause(chance.int(0, person.pauseMsMax));
    const act = chance.pick(acts);
    count(ledger, act);
    try {
      if (act === "run") await run(client, name);
      else {
        if (mine.length === 0 || chance.odds(0.3)) mine.push(await open(client, ledger));
        await ask(person, ledger, { id: chance.pick(mine), kind: act });
      }
      if (mine.length > conversationsMax) await remove(client, ledger, mine.shift() ?? "");
    } catch (error) {
      ledger.faults.push(`${name}, ${act}: ${String(error)}`);
    }
  }
}

async function open(client: Client, { kept }: Ledger): Promise<string> {
  const id = systemIds.uuid();
  await persist(() => client.call("createConversation", { body: { id } }), { isFine: "conversation_exists" });
  kept.set(id, { client, messages: [] });
  return id;
}

async function remove(client: Client, ledger: Ledger, id: string): Promise<void> {
  // While it is being deleted nobody expects anything of it.
  ledger.kept.delete(id);
  await persist(() => client.call("deleteConversation", { params: { id } }), { isFine: "conversation_not_found" });
  count(ledger, "deleted");
}

async function run(client: Client, name: string): Promise<void> {
  const body = { code: "print(6 * 7)", language: "python" } as const;
  const done = await persist(() => client.call("executeSync", { params: { id: `sb-session-${name}` }, body }));
  // One that a restart met is over, and says so.
  if (done?.status === "completed" && done.stdout?.trim() !== "42") throw new Error(`42 is ${done.stdout}`);
}

type Asked = { readonly id: string; readonly kind: Kind };

async function ask({ client, chance }: Person, ledger: Ledger, { id, kind }: Asked): Promise<void> {
  if (kind === "code") await persist(() => client.upload(id, "data.csv", Buffer.from(table)));
  if (kind === "search") await persist(() => client.upload(id, "notes.txt", Buffer.from(text)));
  const body = { id: systemIds.uuid(), text: `${kind} ${chance.int(1, 1e6)}` };
  const saidAt = performance.now();
  const sent = await persist(() => client.call("sendMessage", { params: { id }, body }));
  ledger.kept.get(id)?.messages.push(body.id);
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(turnMsMax)]);
  let [turn, isHeard]: [number | undefined, boolean] = [undefined, false];
  for await (const frame of client.follow(id, { after: sent?.seq ?? 0, signal })) {
    if (frame.frame === "failed") throw new Error(`the stream ended: ${frame.failure.code}`);
    if (frame.frame === "lost") isHeard = true; // A restart is no latency.
    if (frame.frame === "event" && frame.event.type === "turn.started" && frame.event.message === body.id)
      turn = frame.event.turn;
    if (frame.frame === "delta" && turn !== undefined) {
      if (!isHeard) ledger.firstWords.push(performance.now() - saidAt);
      isHeard = true;
      if (kind === "slow")
        await persist(() => client.call("cancelTurn", { params: { id } }), { isFine: "turn_not_running" });
    }
    // Agents that were given a part of it have turns of their own.
    const isEnd = frame.frame === "event" && frame.event.type === "turn.finished" && frame.event.agent === undefined;
    if (isEnd && frame.event.turn === turn) {
      stop.abort();
      return;
    }
  }
  throw new Error(`no end of its turn within ${turnMsMax / 1000} s: conversation ${id}, message ${body.id}`);
}

function count({ counts }: Ledger, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
