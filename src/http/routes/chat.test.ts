import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { callOver } from "../../../test/world/callers.ts";
import { type WritingYard, writingYard } from "../../../test/world/writing-yard.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { OwnerId } from "../../protocol/ids.ts";

const said = (id: string): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", run: `run ${id}`, reply: `to ${id}` },
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });

const root = "/api/agent-app/v1/app/app";
let yard: WritingYard;
before(async () => {
  yard = await writingYard();
});
after(() => yard[Symbol.asyncDispose]());

/** Reads on in a conversation: the first frame, or why there is none. */
async function resume(id: string, body: object = {}, lastEventId?: string) {
  const request = new Request(`http://127.0.0.1:7420${root}/chat/resume`, {
    method: "POST",
    headers: {
      ...{ host: "127.0.0.1:7420", "content-type": "application/json" },
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    },
    body: JSON.stringify({ conversation_id: id, ...body }),
  });
  const response = await yard.app.fetch(request, { door: "tcp", address: "127.0.0.1" });
  if (response.status !== 200) return { code: JSON.parse(await response.text()).error_code, run: undefined, seq: -1 };
  const reader = response.body?.getReader();
  const text = Buffer.from((await reader?.read())?.value ?? []).toString();
  await reader?.cancel();
  const { seq_id: seq } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? "");
  return { code: "", run: /"run ([a-z])"/.exec(text)?.[1], seq };
}

test("who reads on goes on behind the last frame they have, as they or their browser say it [C3][C4]", async () => {
  const row = await yard.start("read");
  await yard.append(row, said("a"), started(1, "a"), finished(1));
  const next = async (body: object, lastEventId?: string) => (await resume("read", body, lastEventId)).seq;
  assert.deepEqual(
    [await next({}), await next({ last_seq_id: 4 }), await next({}, "7"), await next({ last_seq_id: 4 }, "7")],
    [0, 5, 8, 5],
  );
  assert.deepEqual([await next({ last_seq_id: 0 }), await next({}, "7-1"), await next({}, "9".repeat(16))], [1, 0, 0]);
});

const ann = OwnerId.parse("ann");

test("how a conversation stands is told by its newest answer, in the words that clients of the chat service know [C4]", async () => {
  let count = 0;
  const begun = started(1, "m");
  const standing = async (...events: NewEvent[]) => {
    count += 1;
    const row = await yard.start(`stands-${count}`, ann);
    if (events.length > 0) await yard.append(row, ...events);
    const sent = { "x-account-id": "ann" };
    const { text } = await callOver(yard.app, `GET ${root}/conversation/${row.id}`, sent);
    const body = JSON.parse(text);
    assert.deepEqual(body.Messages, body.messages);
    return [body.status, body.run_state, body.message_index];
  };
  assert.deepEqual(await standing(), ["", "", 0]);
  assert.deepEqual(await standing(said("m")), ["processing", "queued", 2]);
  assert.deepEqual(await standing(said("m"), begun), ["processing", "running", 2]);
  const outcomes = {
    ...{ done: "completed", limit: "completed", failed: "failed", crashed: "failed", cancelled: "cancelled" },
  } as const;
  for (const outcome of Object.keys(outcomes) as (keyof typeof outcomes)[])
    assert.deepEqual(
      await standing(said("m"), begun, { type: "turn.finished", turn: 1, outcome }),
      [outcomes[outcome], "", 2],
      outcome,
    );
});
