import assert from "node:assert/strict";
import { test } from "node:test";
import type { Storage } from "../../src/storage/storage.ts";
import { modelServer, says } from "../world/model-server.ts";
import { playedProvider, sandboxOver } from "../world/played-provider.ts";
import { must, startYard } from "../world/yard.ts";

test("a message longer than the window that is withdrawn in the moment it is taken up is gone, and no model is asked about it [L7][Z2]", async () => {
  const tried = Promise.withResolvers<void>();
  let takeBack: (() => Promise<unknown>) | undefined;
  const wrapStorage = (storage: Storage): Storage => ({
    ...storage,
    async append(batch) {
      const isStart = batch.epoch !== undefined && batch.events.some(({ type }) => type === "turn.started");
      const taken = isStart ? takeBack?.() : undefined;
      if (isStart) takeBack = undefined;
      await taken;
      const stored = await storage.append(batch);
      if (isStart) tried.resolve();
      return stored;
    },
  });
  await using model = await modelServer(() => says("I see."));
  const env = { MODEL_BASIC_CONTEXT_WINDOW: "4096" };
  await using yard = await startYard({ model, env, wrapStorage });
  const { id } = await yard.start("c");
  const message = "11111111-1111-4111-8111-111111111111";
  takeBack = () => must(yard.client.call("withdrawMessage", { params: { id, message } }));
  const body = { id: message, text: `Read this. ${"word ".repeat(20_000)}`, mode: "queue" } as const;
  await must(yard.client.call("sendMessage", { params: { id }, body }));
  await tried.promise;
  const { events } = await yard.whenAtRest(id);
  assert.deepEqual([events.map(({ type }) => type), model.asked.length], [["message.user", "message.withdrawn"], 0]);
});

test("a conversation is forgotten when its programs have ended, and only then is temp/ empty: what they still wrote goes with it [L9][X1]", async () => {
  const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { openSandbox } = sandboxOver(playedProvider());
  const reset = () => {
    asked.resolve();
    return ended.promise;
  };
  await using yard = await startYard({
    isOneProcess: true,
    openSandbox: (parts) => ({ ...openSandbox(parts), reset }),
  });
  const row = await yard.start("c");
  const files = yard.engine.files(row);
  const done = yard.engine.reset(row);
  await asked.promise;
  await must(files.write("temp/late.txt", "written by a program at its end"));
  ended.resolve();
  await must(done);
  assert.equal((await files.read("temp/late.txt")).ok, false);
});
