import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createClient } from "../../src/client/client.ts";
import { until } from "../world/events.ts";
import { folderWith } from "../world/folder.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { openTestPipe, runInPipe } from "../world/pty.ts";
import { must, startYard, type TestYard } from "../world/yard.ts";

type Command = Extract<Parameters<typeof runInPipe>[2], { name: "run" }>;

/** A run in a folder of this machine: its exit code and all it wrote. */
async function run(
  yard: Pick<TestYard, "client">,
  folder: string,
  command: Partial<Command> & { message: string },
  signal?: AbortSignal,
) {
  const pipe = openTestPipe("");
  const setting = { client: yard.client, place: { folder, homeDir: folder } };
  const code = await runInPipe(pipe, setting, { name: "run", output: "json", ...command }, signal);
  return { code, ...pipe.written };
}

const idsOf = async ({ client }: Pick<TestYard, "client">) =>
  (await must(client.call("listConversations"))).items.map(({ id }) => id);
const namesIn = async ({ client }: TestYard, id: string) =>
  (await must(client.call("listFiles", { params: { id }, query: { path: "uploads" } }))).items.map(({ name }) => name);

test("the object tells of every file: where it lies, or why it could not be sent [F3][P2]", async (t) => {
  const folder = folderWith(t, { "a.csv": "1\n", "sub/a.csv": "2\n" });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const { code, output } = await run(yard, folder, { message: "read #a.csv", files: ["sub/a.csv", "pipe"] });
  assert.equal(code, 0);
  const message = "pipe cannot be used: it is a pipe, a socket or a device. Choose another file.";
  assert.deepEqual(JSON.parse(output).files, [
    { success: false, name: "pipe", error: { kind: "permission_denied", message, retryable: false } },
    { success: true, path: "uploads/a.csv", type: "csv", name: "a.csv" },
    { success: true, path: "uploads/sub-a.csv", type: "csv", name: "sub/a.csv" },
  ]);
});

test("--stream-json has the files in a frame of their own, before the turn [F3][P2]", async (t) => {
  const folder = folderWith(t, { "a.csv": "1\n" });
  await using model = await modelServer([says("Read.")]);
  await using yard = await startYard({ model });
  const { output } = await run(yard, folder, { output: "stream-json", message: "read #a.csv" });
  const frames = output
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const files = [{ success: true, path: "uploads/a.csv", type: "csv", name: "a.csv" }];
  assert.deepEqual(frames[1], { frame: "files", files });
  assert.deepEqual([frames[0].frame, frames[2].event.type], ["conversation", "turn.started"]);
  assert.deepEqual(frames.at(-1).files, files);
});

test("a run that sends nothing leaves no conversation behind; one whose message got no answer does, and its turn goes on [F3][P2][L2]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a" });
  execFileSync("mkfifo", [join(folder, "pipe")]);
  await using model = await modelServer([says("Here I am.")]);
  await using yard = await startYard({ model });
  const refused = await run(yard, folder, { message: "read #pipe" });
  const { conversation_id, files } = JSON.parse(refused.output);
  assert.deepEqual([refused.code, conversation_id, files.length], [1, null, 1]);
  assert.deepEqual(await idsOf(yard), []);

  const fetch: typeof yard.fetch = async (url, init) => {
    const response = await yard.fetch(url, init);
    if (url.endsWith("/messages")) throw new TypeError("fetch failed");
    return response;
  };
  const unanswered = await run({ client: createClient({ fetch }) }, folder, { message: "are you there?" });
  const { conversation_id: id, error } = JSON.parse(unanswered.output);
  assert.deepEqual([error.kind, await idsOf(yard)], ["network", [id]]);
  assert.equal((await yard.whenAtRest(id)).answer, "Here I am.");
});

test("a run that is interrupted during an upload leaves no conversation behind, and no file in an old one [F3][L6]", async (t) => {
  const folder = folderWith(t, { "a.txt": "a", "b.txt": "b" });
  await using model = await modelServer([says("Hello.")]);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("hi");
  const interrupted = async (command: Partial<Command>) => {
    const leave = new AbortController();
    const fetch: typeof yard.fetch = async (url, init) => {
      if (!url.includes("/uploads/b.txt")) return yard.fetch(url, init);
      leave.abort();
      throw init.signal?.reason;
    };
    const message = "read #a.txt #b.txt";
    const ended = await run({ client: createClient({ fetch }) }, folder, { ...command, message }, leave.signal);
    const { conversation_id, files, finish } = JSON.parse(ended.output);
    return [ended.code, conversation_id, files, finish];
  };
  assert.deepEqual(await interrupted({}), [130, null, [], "cancelled"]);
  assert.deepEqual(await interrupted({ going: { id: conversation } }), [130, conversation, [], "cancelled"]);
  assert.deepEqual(await idsOf(yard), [conversation]);
  assert.deepEqual(await namesIn(yard, conversation), []);
});

test("--continue passes over conversations in which nothing was said [P2]", async (t) => {
  const folder = folderWith(t, {});
  await using model = await modelServer([says("First."), says("Second."), says("Third.")]);
  await using yard = await startYard({ model });
  const nothing = await run(yard, folder, { message: "and?", going: "newest" });
  assert.equal(nothing.code, 2);
  const { conversation } = await yard.ask("one");
  const { id: empty } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.upload(empty, "a.txt", Buffer.from("a")));
  const second = JSON.parse((await run(yard, folder, { message: "two", going: "newest" })).output);
  assert.deepEqual([second.conversation_id, second.answer], [conversation, "Second."]);
  const named = JSON.parse((await run(yard, folder, { message: "three", going: { id: empty } })).output);
  assert.deepEqual([named.conversation_id, named.answer], [empty, "Third."]);
});

test("--continue goes on with a first turn that was interrupted [P2][L2]", async (t) => {
  const folder = folderWith(t, {});
  const held = Promise.withResolvers<void>();
  await using model = await modelServer([{ text: "one two", heldUntil: held.promise }]);
  await using yard = await startYard({ model });
  // The answer goes on when the run has found the turn and follows it.
  const fetch: typeof yard.fetch = (url, init) => {
    if (url.includes("/stream")) held.resolve();
    return yard.fetch(url, init);
  };
  const { id } = await must(yard.client.call("createConversation", { body: {} }));
  await must(yard.client.call("sendMessage", { params: { id }, body: { text: "hi" } }));
  await until("the turn runs", () => model.asked.length === 1);
  const { output } = await run({ client: createClient({ fetch }) }, folder, { message: "", going: "newest" });
  assert.deepEqual(JSON.parse(output).answer, "one two");
});

test("a run in a conversation whose files were put away says so on standard error [W10][P2]", async (t) => {
  const folder = folderWith(t, {});
  let laterMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + laterMs };
  await using model = await modelServer([
    calls(["write_file", { path: "outputs/a.txt", content: "1234" }]),
    ...[says("Done."), says("Gone.")],
  ]);
  await using yard = await startYard({ model, clock });
  const { conversation } = await yard.ask("write");
  laterMs = 8 * 86_400_000;
  await must(yard.client.call("cleanWorkspaces", { body: {} }));
  const { code, output, errors } = await run(yard, folder, {
    message: "and?",
    output: "text",
    going: { id: conversation },
  });
  assert.deepEqual([code, output], [0, "Gone.\n"]);
  assert.match(
    errors,
    /^! The files of this conversation were moved to the trash at \d{4}-\d\d-\d\d \d\d:\d\d\. \/clean list shows it, .+\n$/,
  );
});

test("a file that is not there is told with what was probably meant, not with help on options [F3][P2]", async (t) => {
  const folder = folderWith(t, { "data/sales.csv": "" });
  await using yard = await startYard();
  const text =
    "#data/sale.csv: there is no such file here or in uploads/ (did you mean data/sales.csv?). Nothing was sent.";
  const plain = await run(yard, folder, { message: "sum up #data/sale.csv", output: "text" });
  assert.deepEqual(plain, { code: 2, output: "", errors: `✗ ${text}\n` });
  const { error, exit } = JSON.parse((await run(yard, folder, { message: "sum up #data/sale.csv" })).output);
  assert.deepEqual(
    [error, exit],
    [
      { kind: "usage", message: text, retryable: false },
      { code: 2, reason: "usage" },
    ],
  );
});

test("a run with a file of a name that is taken leaves the earlier one as it is [F3]", async (t) => {
  const folder = folderWith(t, { "a.csv": "mine\n" });
  await using model = await modelServer([says("One."), says("Two.")]);
  await using yard = await startYard({ model });
  const { conversation } = await yard.ask("hi");
  await must(yard.client.upload(conversation, "a.csv", Buffer.from("theirs\n")));
  const { errors } = await run(yard, folder, { message: "read #a.csv", output: "text", going: { id: conversation } });
  assert.equal(errors, "✓ a.csv → uploads/a (2).csv (csv); the earlier a.csv stays\n");
  assert.deepEqual(await namesIn(yard, conversation), ["a (2).csv", "a.csv"]);
});
