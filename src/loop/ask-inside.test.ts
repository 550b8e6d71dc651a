import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { type TestContext, test } from "node:test";
import { z } from "zod";
import { askedHash } from "../log/log.ts";
import type { EventBody, NewEvent } from "../protocol/events.ts";
import { failure } from "../protocol/failure.ts";
import type { FormField } from "../protocol/form.ts";
import { localOwner } from "../protocol/ids.ts";
import type { Storage } from "../storage/storage.ts";
import { defineTool, type FormAsked } from "../tools/tools.ts";
import { askInside } from "./ask-inside.ts";
import type { Parts } from "./parts.ts";
import { keepOne, said, spawned, started } from "./tenure.testing.ts";

const fields: FormField[] = [{ name: "count", kind: "integer", required: true }];
const tool = defineTool({
  ...{ name: "mcp_order", description: "Orders. For tests.", class: "unsafe", input: z.object({}) },
  run: () => assert.fail("it is only asked about"),
});

/** A call that asks a person. `onRead`: in the moment in which it has looked at the log. */
async function asking(t: TestContext, met: { isFull?: boolean; onRead?: () => Promise<unknown> } = {}) {
  const kept = await keepOne(t, {
    before: [said("m1"), started, spawned("w"), { ...started, agent: "w", message: "w-brief" } as NewEvent],
    wrap: (real: Storage): Storage => ({
      ...real,
      append: async (batch) => (met.isFull ? failure("storage_full", {}) : real.append(batch)),
    }),
  });
  const { log, number, others, agent } = kept;
  let listening = 0;
  const heard = Promise.withResolvers<void>();
  const stop = new AbortController();
  const parts: Parts = {
    ...kept.parts,
    log: {
      ...log,
      async read(...given) {
        const events = await log.read(...given);
        await met.onRead?.();
        return events;
      },
      onAppend(...given) {
        listening += 1;
        heard.resolve();
        const unlisten = log.onAppend(...given);
        return () => {
          listening -= 1;
          unlisten();
        };
      },
    },
  };
  const asked = async () => {
    const all = await log.read(number, { after: 0, limit: 10 });
    return all.find((event) => event.type === "decision.asked");
  };
  const made = async (more: Partial<EventBody<"decision.made">>): Promise<NewEvent> => ({
    ...{ type: "decision.made", id: (await asked())?.id ?? "none", verdict: "answer", by: "me" },
    ...{ argumentsHash: "", previous: "", ...more },
  });
  return {
    ...{ ...kept, met, stop, asked, isAsked: heard.promise },
    ask: (who = "root", form: Partial<FormAsked> = {}) =>
      askInside(agent(who), parts, {
        ...{ call: "c1", tool, form: { question: "How many?", fields, ...form }, signal: stop.signal },
      }),
    answer: async (more: Partial<EventBody<"decision.made">>, ...before: NewEvent[]) =>
      others(...before, await made(more)),
    left: () => [listening, getEventListeners(stop.signal, "abort").length],
  };
}

test("what a server asks in the middle of a call is in the inbox with who asks, and the answer is given to it as it wants it [H4][G1][A1]", async (t) => {
  const { ask, answer, asked, isAsked, left, real } = await asking(t);
  const answered = ask("w", { context: "for tea" });
  await isAsked;
  const { type: _, seq, at, hash, ...body } = (await asked()) ?? assert.fail();
  assert.deepEqual(body, {
    ...{ agent: "w", path: ["root", "w"], turn: 1, id: body.id, call: "c1", tool: "mcp_order", kind: "elicitation" },
    ...{ question: "How many?", fields, context: "for tea", time: 1 },
  });
  assert.deepEqual([seq, at, hash], [5, 1, askedHash(body)]);
  assert.match(body.id, /^[0-9a-f]{12}$/);
  const [row] = await real.openDecisions(localOwner, 10);
  assert.deepEqual([row?.conversation.id, JSON.parse(row?.body ?? "").id], ["c", body.id]);
  await answer({ id: "another", answer: "9" });
  await answer({ answer: "3" });
  assert.deepEqual([await answered, left()], [{ action: "accept", content: { count: 3 } }, [0, 0]]);
});

test("a person who says no declines, and an answer that does not fit is none [G1][H4]", async (t) => {
  const { ask, answer, isAsked } = await asking(t);
  const declined = ask();
  await isAsked;
  await answer({ verdict: "reject" });
  assert.deepEqual(await declined, { action: "decline" });
  const other = await asking(t);
  const unfit = other.ask();
  await other.isAsked;
  await other.answer({ answer: "many" });
  assert.deepEqual(await unfit, { action: "cancel" });
});

test("an answer is heard behind a thousand other events, and in the moment in which the log was looked at [H4][L7]", async (t) => {
  const { ask, answer, isAsked } = await asking(t);
  const answered = ask();
  await isAsked;
  const renamed = Array.from({ length: 1_000 }, (): NewEvent => ({ type: "conversation.renamed", title: "x" }));
  await answer({ answer: "3" }, ...renamed);
  assert.deepEqual(await answered, { action: "accept", content: { count: 3 } });
  const other = await asking(t);
  other.met.onRead = async () => {
    other.met.onRead = async () => {};
    await other.answer({ answer: "4" });
  };
  assert.deepEqual(await other.ask(), { action: "accept", content: { count: 4 } });
});

test("a call that is stopped asks nobody and waits for nobody any more, and neither does one whose question cannot be stored [L6][G1][Q2]", async (t) => {
  const { ask, stop, left, asked, isAsked } = await asking(t);
  const waiting = ask();
  await isAsked;
  stop.abort("cancel");
  assert.deepEqual([await waiting, left()], [{ action: "cancel" }, [0, 0]]);
  const late = await asking(t);
  late.stop.abort("cancel");
  assert.deepEqual([await late.ask(), await late.asked()], [{ action: "cancel" }, undefined]);
  assert.equal((await asked())?.call, "c1");
  const full = await asking(t);
  full.met.isFull = true;
  assert.deepEqual([await full.ask(), full.left()], [{ action: "cancel" }, [0, 0]]);
  const over = await asking(t);
  await over.others({ type: "turn.finished", turn: 1, outcome: "done" });
  await over.tenure.root.catchUp();
  assert.deepEqual([await over.ask(), await over.asked()], [{ action: "cancel" }, undefined]);
});
