import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ProgramPlace } from "../../src/sandbox/sandbox.ts";
import { until } from "../world/events.ts";
import { modelServer, says } from "../world/model-server.ts";
import { startChat } from "../world/pty.ts";
import { noSandbox } from "../world/sandbox.ts";
import { must, startYard } from "../world/yard.ts";

test("a sandbox is made ready when somebody opens a conversation to go on with it, not when one is listed, looked at or read [X1]", async () => {
  const warmed: (number | undefined)[] = [];
  const openSandbox = () => ({
    ...noSandbox(),
    prewarm: ({ conversation }: ProgramPlace) => void warmed.push(conversation),
  });
  await using model = await modelServer([says("Hi.")]);
  await using yard = await startYard({ model, openSandbox });
  const { conversation: id } = await yard.ask("hello");
  const { client } = yard;
  warmed.length = 0;

  await must(client.call("listConversations", {}));
  await must(client.call("getConversation", { params: { id } }));
  await must(client.call("getState", { params: { id } }));
  await must(client.call("readEvents", { params: { id } }));
  await caughtUp(client.follow(id, { signal: new AbortController().signal }));
  assert.deepEqual(warmed, []);

  const chat = startChat({ client, command: { going: "newest" } });
  await chat.waitFor("You> hello\nHi.\nYou> ");
  await until("its sandbox is made ready", () => warmed.length > 0);
  chat.leave();
  await chat.ended;
  assert.deepEqual(warmed, [1]);
});

test("a connection that breaks opens nothing again, and a conversation whose files are in the trash makes none [X1][W10]", async () => {
  const warmed: (number | undefined)[] = [];
  const openSandbox = () => ({
    ...noSandbox(),
    prewarm: ({ conversation }: ProgramPlace) => void warmed.push(conversation),
  });
  await using model = await modelServer([says("Hi.")]);
  await using yard = await startYard({ model, openSandbox });
  const { conversation: id } = await yard.ask("hello");
  warmed.length = 0;
  const open = async (headers: Readonly<Record<string, string>>) => {
    const stop = new AbortController();
    const url = `http://yard/api/v1/conversations/${id}/stream?after=0&opens=true`;
    const response = await yard.fetch(url, { method: "GET", headers, signal: stop.signal });
    await response.body?.getReader().read();
    stop.abort();
  };
  // As a browser does by itself: the same address, and how far it came.
  await open({ "last-event-id": "3" });
  await open({});
  await until("its sandbox is made ready", () => warmed.length > 0);
  assert.deepEqual(warmed, [1]);

  await must(yard.client.upload(id, "a.csv", Buffer.from("x\n")));
  await until("its files are in the trash", async () => {
    const { workspaces } = await must(yard.client.call("cleanWorkspaces", { body: { days: 0, conversation: id } }));
    return workspaces === 1;
  });
  warmed.length = 0;
  await open({});
  await must(yard.client.call("getState", { params: { id } }));
  assert.deepEqual(warmed, []);
});

test("a conversation is deleted before its programs have ended; its files go when they have [S6]", async () => {
  const ended = Promise.withResolvers<void>();
  await using yard = await startYard({ openSandbox: () => ({ ...noSandbox(), leave: () => ended.promise }) });
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(id, "a.csv", Buffer.from("x\n")));
  const folder = join(yard.data, "workspace", id);
  await must(yard.client.call("deleteConversation", { params: { id } }));
  const gone = await yard.client.call("getConversation", { params: { id } });
  assert.deepEqual(
    [!gone.ok && gone.failure.code, readdirSync(join(folder, "uploads"))],
    ["conversation_not_found", ["a.csv"]],
  );
  ended.resolve();
  await until("its files are gone", () => !existsSync(folder));
});

async function caughtUp(frames: AsyncIterable<{ readonly frame: string }>): Promise<void> {
  for await (const { frame } of frames) if (frame === "caught_up") return;
}
