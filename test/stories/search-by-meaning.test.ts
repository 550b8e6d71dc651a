import assert from "node:assert/strict";
import { test } from "node:test";
import { embeddingServer } from "../world/embedding-server.ts";
import { modelServer, says } from "../world/model-server.ts";
import { makeHome } from "../world/program.ts";
import { keys, startChat } from "../world/pty.ts";
import { must, startYard } from "../world/yard.ts";

test("with a model for embeddings a search finds what means the same, and says where it cannot [D3][U1]", async () => {
  await using model = await modelServer(() => says("A hound barks."));
  await using embeddings = await embeddingServer();
  const env = { MODEL_EMBEDDING_BASE_URL: embeddings.url, MODEL_EMBEDDING_ID: "small" };
  await using yard = await startYard({ model, env });
  const { client } = yard;
  await yard.start("files");
  await must(client.upload("files", "trade.txt", Buffer.from("Who wants to purchase an automobile signs here.\n")));
  await must(client.upload("files", "other.txt", Buffer.from("Nothing of the kind.\n")));
  const find = (q: string) => must(client.call("search", { query: { q } }));
  let { meaning } = await find("nothing");
  // It works in the background: each search says how far it is.
  while (meaning === undefined || meaning.embedded < meaning.passages) ({ meaning } = await find("nothing"));
  assert.deepEqual(meaning, { passages: 2, embedded: 2 });
  const { items, missing } = await find("buy a car");
  assert.deepEqual([items[0]?.path, missing], ["uploads/trade.txt", ["buy", "car"]]);

  embeddings.answerWith({ status: 401, body: '{"error":{"message":"Incorrect API key"}}' });
  const without = await find("automobile");
  assert.deepEqual(
    [without.items.map(({ path }) => path), without.meaning],
    [["uploads/trade.txt"], { passages: 2, embedded: 2, trouble: "auth" }],
  );
  for (const [language, said] of [
    ["en", "! searched by words alone: the embedding model does not answer (auth)"],
    ["zh", "! 只按词语搜索：嵌入模型没有回答（auth）"],
  ] as const) {
    const chat = startChat({ client, language });
    await chat.waitFor("You> ");
    chat.type(`/search purchase${keys.enter}`);
    await chat.waitFor(said);
    chat.leave();
    await chat.ended;
  }
  const servers = Number(process.env.AGENTYARD_TEST_REPLICAS ?? 1);
  const told = (await yard.logged()).filter(({ message }) => message.includes("the embedding model does not answer"));
  assert.ok(told.length >= 1 && told.length <= servers, `told ${told.length} times by ${servers}`);
});

test("a way to cut Chinese that is not installed is refused at the start, with what to install [D2][P2]", async (t) => {
  const home = makeHome(t, { env: { AGENTYARD_SEGMENTATION: "jieba" } });
  const { code, errors } = await home.start("run", "hello").ended;
  if (code === 0) return t.diagnostic("@node-rs/jieba is installed: only its absence is refused");
  assert.equal(code, 3);
  assert.match(
    errors,
    /documents\.segmentation is jieba, which needs the package @node-rs\/jieba.*npm install @node-rs\/jieba/s,
  );
});
