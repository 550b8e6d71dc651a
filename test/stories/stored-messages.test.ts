import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { OutgoingMessage } from "../../src/loop/loop.ts";
import { all } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { must, startYard } from "../world/yard.ts";

test("all that comes with a message is stored with it, and nothing that was not said [L2][C1]", async () => {
  await using model = await modelServer(() => says("fine"));
  await using yard = await startYard({ model, isOneProcess: true });
  const row = await yard.start("c");
  const stored = async (message: OutgoingMessage) => {
    const { seq } = await must(yard.engine.send(row, message));
    const event = all(await yard.events("c"), "message.user").find((one) => one.seq === seq);
    assert.ok(event !== undefined);
    const { seq: _, at: __, ...body } = event;
    await yard.whenAtRest("c");
    return body;
  };
  const images = [{ mime: "image/png", base64: "AA==" }];
  const instead = [{ role: "user", text: "before" }] as const;
  const full: OutgoingMessage = {
    ...{ id: "m1", text: "go", mode: "queue", slot: "code", budget: { tokens: 90_000, steps: 3 }, images },
    ...{ reply: "reply-1", run: "run-1", instead: [...instead], inputs: { colour: "green" } },
  };
  const callerPart = { instructions: "Be brief." };
  assert.deepEqual(await stored({ ...full, callerPart }), { type: "message.user", ...full, program: callerPart });
  const plain = { id: "m2", text: "more", mode: "steer" } as const;
  assert.deepEqual(await stored({ ...plain, images: [], inputs: {}, files: [], selected: [] }), {
    ...{ type: "message.user", ...plain },
  });
  const others = { id: "m3", text: "mine, not mine", mode: "queue" } as const;
  assert.deepEqual(await stored({ ...others, own: 4 }), { type: "message.user", ...others, own: 4, untrusted: true });
  const own = { id: "m4", text: "mine", mode: "queue" } as const;
  assert.deepEqual(await stored({ ...own, own: 4 }), { type: "message.user", ...own });
  assert.deepEqual(await stored({ ...own, id: "m5", own: 99 }), { type: "message.user", ...own, id: "m5" });
  await must(yard.engine.upload(row, { name: "a.txt", keep: false, chunks: Readable.from([Buffer.from("a")]) }));
  const attached = await stored({ ...own, id: "m6", own: 99, files: ["uploads/a.txt"] });
  assert.deepEqual([attached.own, attached.text.slice(0, 4), attached.untrusted], [4, "mine", undefined]);
  const again = await must(yard.engine.send(row, { ...own, id: "m5" }));
  const first = all(await yard.events("c"), "message.user").find(({ id }) => id === "m5");
  assert.deepEqual(again, { message: "m5", seq: first?.seq }, "sent twice it is stored once");
});
