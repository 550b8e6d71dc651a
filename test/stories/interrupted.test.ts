import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { lastOf } from "../world/company.ts";
import { all, until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, openReplica, startYard } from "../world/yard.ts";

const ageMsMax = 60_000;

test("after a start four interrupted turns go on at a time; those that lie too long back are only named, and no message stays without its answer [L2][L8]", async (t) => {
  let now = 1_000_000;
  const clock: Clock = { ...systemClock, now: () => now };
  const data = folderWith(t, {});
  const goOn = Promise.withResolvers<void>();
  let held = 0;
  let most = 0;
  await using model = await modelServer();
  const first = await startYard({ model, data, clock, isOneProcess: true });
  const begin = async (id: string) => {
    const asked = model.asked.length;
    await first.start(id);
    await must(first.client.call("sendMessage", { params: { id }, body: { text: "go", mode: "queue" } }));
    await until("the model is asked", () => model.asked.length > asked);
  };
  model.answerWith([says("all is said")]);
  await first.ask("go");
  model.answerWith(() => ({ text: "never", fault: { after: 0, kind: "stall" } }));
  await begin("old");
  const { number } = await first.start("unread");
  const message = { type: "message.user", id: "m", text: "go", mode: "queue" } as const;
  await must(first.log.append(number, [message], { with: { received: "m", wake: { notBefore: 0 } } }));
  now += 1;
  const young = ["a", "b", "c", "d", "e"];
  for (const id of young) await begin(id);
  await first[Symbol.asyncDispose]();

  now += ageMsMax;
  model.answerWith((request) => {
    if (lastOf(request).text.startsWith("meanwhile")) return says("of course");
    held += 1;
    most = Math.max(most, held);
    const letGo = goOn.promise.then(() => {
      held -= 1;
    });
    return { ...says("here I am"), heldUntil: letGo };
  });
  const { yard, logger } = await openReplica(
    { model, isOneProcess: true },
    { own: data, cwd: data, shared: {}, clock },
  );
  const { resumed, older } = await yard.engine.recover({ ageMsMax });
  assert.deepEqual([resumed, older.map(({ id }) => id)], [young.length + 1, ["old"]]);
  const endsOf = async (id: string) => {
    const row = await must(yard.log.find(localOwner, id));
    const events = await yard.log.read(row.number, { after: 0, limit: 100 });
    return all(events, "turn.finished").map(({ outcome }) => outcome);
  };
  await until("four are at work", () => held >= 4);
  // Whoever says something meanwhile need not wait for them.
  const row = await must(yard.engine.create(localOwner, { id: "meanwhile" }));
  await must(yard.engine.send(row, { text: "meanwhile", mode: "queue" }));
  await until("that is answered", async () => (await endsOf("meanwhile")).length === 1);
  goOn.resolve();
  for (const id of [...young, "unread"])
    await until(`${id} is answered`, async () => (await endsOf(id)).join() === "done");
  assert.deepEqual([most, await endsOf("old")], [4, []]);
  await yard.close();
  await logger.close();
});
