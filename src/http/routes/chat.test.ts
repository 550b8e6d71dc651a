import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as settle } from "node:timers/promises";
import { callOver } from "../../../test/world/callers.ts";
import { all, until } from "../../../test/world/events.ts";
import { type ModelServer, modelServer, says } from "../../../test/world/model-server.ts";
import { type WritingYard, writingYard } from "../../../test/world/writing-yard.ts";
import { must } from "../../../test/world/yard.ts";
import type { NewEvent } from "../../protocol/events.ts";
import { failure } from "../../protocol/failure.ts";
import { localOwner } from "../../protocol/ids.ts";

const said = (id: string): NewEvent => ({
  ...{ type: "message.user", id, text: id, mode: "queue", run: `run ${id}`, reply: `to ${id}` },
});
const started = (turn: number, message: string): NewEvent => ({ type: "turn.started", turn, message, epoch: 1 });
const finished = (turn: number): NewEvent => ({ type: "turn.finished", turn, outcome: "done" });

const root = "/api/agent-app/v1/app/app";
/** What befalls the storage: it is full, for all or for one conversation, and somebody else deletes one first. */
const met = { isFull: false, stuck: 0, faster: "" };
let model: ModelServer;
let yard: WritingYard;
before(async () => {
  model = await modelServer(() => says("goes on"));
  yard = await writingYard({
    model,
    wrapStorage: (real) => ({
      ...real,
      append: async (batch) =>
        met.isFull || batch.number === met.stuck ? failure("storage_full", {}) : real.append(batch),
      async searchConversations(...wanted) {
        const found = await real.searchConversations(...wanted);
        const first = found.items.find(({ id }) => id === met.faster);
        if (first !== undefined) await must(yard.engine.remove(first));
        return found;
      },
    }),
  });
});
after(async () => {
  await yard[Symbol.asyncDispose]();
  await model.close();
});

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

test("an answer that is being written is read on and set going again, one that is over or waits is only read [C4][L2]", async () => {
  const row = await yard.start("going");
  const read = async (run?: string) => {
    const { code, run: found } = await resume("going", run === undefined ? {} : { agent_run_id: run });
    for (let turns = 0; turns < 20; turns += 1) await settle();
    return [code || found, model.asked.length];
  };
  assert.deepEqual(await read(), ["AgentAPP.Agent.ResumeFailed", 0]);
  await yard.append(row, said("a"), started(1, "a"), finished(1), said("b"), started(2, "b"), said("d"));
  assert.deepEqual(await read("run a"), ["a", 0]);
  assert.deepEqual(await read("run d"), ["d", 0], "one that waits is only read");
  assert.deepEqual(await read("run x"), ["AgentAPP.Agent.ResumeFailed", 0]);
  await yard.append(row, { type: "message.withdrawn", id: "d" });
  const { run } = await resume("going", { agent_run_id: "" });
  assert.equal(run, "b", "an empty name is none: the one that runs");
  const ends = async () => all(await yard.events("going"), "turn.finished").length;
  await until("it went on", async () => (await ends()) === 2);
  assert.deepEqual(await read(), ["b", 1], "the newest that counts");
  assert.equal(await ends(), 2);
});

test("the turn that is named is stopped, one that is over is left, with what runs by now; no room for it is told [C4][L6]", async () => {
  const row = await yard.start("stops");
  await yard.append(row, said("a"), started(1, "a"), finished(1), said("b"), started(2, "b"), said("d"));
  const terminate = async (body: object) => {
    const before = (await yard.events("stops")).length;
    const { status } = await callOver(yard.app, `POST ${root}/chat/termination`, {
      body: { conversation_id: "stops", ...body },
    });
    const events = (await yard.events("stops")).slice(before);
    return [
      status,
      ...all(events, "cancel.asked").map(({ turn }) => turn),
      ...all(events, "message.withdrawn").map(({ id }) => id),
    ];
  };
  for (const run of ["run a", "run x"]) assert.deepEqual(await terminate({ agent_run_id: run }), [204]);
  assert.deepEqual(await terminate({ agent_run_id: "run d" }), [204, "d"]);
  met.isFull = true;
  assert.deepEqual(await terminate({ agent_run_id: "run b" }), [507]);
  met.isFull = false;
  assert.deepEqual(await terminate({ interrupted_assistant_message_id: "to b" }), [204, 2]);
});

test("all conversations of an app are deleted, and those that somebody else deleted first are no hindrance [C4]", async () => {
  const make = (id: string) => must(yard.engine.create(localOwner, { id, agent: { appKey: "app" } }));
  const [, middle] = [await make("c0"), await make("c1"), await make("c2")];
  const deleteAll = async () => {
    const { status } = await callOver(yard.app, `DELETE ${root}/conversation`);
    const { text } = await callOver(yard.app, `GET ${root}/conversation`);
    return [status, JSON.parse(text).total];
  };
  met.stuck = middle.number;
  assert.deepEqual(await deleteAll(), [507, 2], "the newest one had gone by then");
  met.stuck = 0;
  met.faster = "c1";
  assert.deepEqual(await deleteAll(), [204, 0]);
});
