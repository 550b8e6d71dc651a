import type { LogEvent } from "../../src/protocol/events.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { must, type TestYard } from "../../test/world/yard.ts";

/** A conversation of many turns: reads on from where it was, instead of everything again. */
export type LongTalk = {
  readonly id: string;
  /** Says something, waits until the conversation rests or asks a person, and answers with what was new in its log. */
  say(text: string, more?: { readonly files?: string[] }): Promise<readonly LogEvent[]>;
  decide(verdict: (n: number) => "approve" | "reject"): Promise<readonly LogEvent[]>;
};

export async function longTalk(yard: TestYard): Promise<LongTalk> {
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  const found = await yard.log.find(localOwner, id);
  if (!found.ok) throw new Error(found.failure.code);
  const { number } = found.value;
  let seq = 0;
  const rest = async () => {
    const fresh: LogEvent[] = [];
    for (;;) {
      const moved = Promise.withResolvers<void>();
      const forget = yard.log.onAppend(number, () => moved.resolve());
      try {
        const events = await yard.log.read(number, { after: seq, limit: 10_000 });
        fresh.push(...events);
        seq = events.at(-1)?.seq ?? seq;
        const newest = fresh.at(-1)?.type;
        if (newest === "turn.finished" || newest === "decision.asked") {
          const { status } = await must(yard.client.call("getState", { params: { id } }));
          if (status !== "running") return fresh;
        }
        await moved.promise;
      } finally {
        forget();
      }
    }
  };
  return {
    id,
    async say(text, more = {}) {
      await must(yard.client.call("sendMessage", { params: { id }, body: { text, ...more } }));
      return rest();
    },
    async decide(verdict) {
      const { decisions } = await must(yard.client.call("getState", { params: { id } }));
      for (const [n, { id: decision }] of decisions.entries()) {
        const body = { verdict: verdict(n), reason: "as agreed" };
        await must(yard.client.call("decide", { params: { id, decision }, body }));
      }
      return rest();
    },
  };
}
