import assert from "node:assert/strict";
import { test } from "node:test";
import { openAiEmbeddings } from "../../src/models/embedding/embedding.ts";
import type { MeaningState, Search } from "../../src/search/search.ts";
import { answerTo, type EmbeddingServer, embeddingServer } from "../world/embedding-server.ts";
import { manualClock } from "../world/manual-clock.ts";
import { file, found, putText, searchPlace } from "../world/search.ts";
import { quietLogger } from "../world/workspace.ts";

type MeaningTrouble = NonNullable<MeaningState["trouble"]>;

const ann = { owner: "ann" };
const dayMs = 86_400_000;

function open(server: EmbeddingServer, { model = "small", charactersPerDayMax = 1_000_000 } = {}) {
  const clock = manualClock();
  const troubles: MeaningTrouble[] = [];
  const meaningBy = (name: string) => ({
    embedder: openAiEmbeddings({ settings: { baseUrl: server.url, model: name }, clock }),
    charactersPerDayMax,
    onTrouble: (trouble: MeaningTrouble) => void troubles.push(trouble),
    logger: quietLogger([]),
  });
  return { place: searchPlace({ clock, meaning: meaningBy(model) }), clock, troubles, meaningBy };
}

async function stateOf(search: Search, owner = "ann") {
  const state = await search.meaning(owner);
  assert.ok(state.ok && state.value !== undefined);
  return state.value;
}

/** Asked again until it is so: each answer comes from the thread that keeps the vectors. */
async function until(search: Search, isSo: (state: Awaited<ReturnType<typeof stateOf>>) => boolean): Promise<void> {
  while (!isSo(await stateOf(search)));
}

const isDone = ({ passages, embedded }: { passages: number; embedded: number }) => embedded === passages;

async function putDogs(search: Search): Promise<void> {
  await putText(search, file("ann", "pets.txt"), "# Pets\n\nA puppy needs a walk twice a day.");
  await putText(search, file("ann", "trade.txt"), "# Trade\n\nWho wants to purchase an automobile signs here.");
  await putText(search, file("ann", "weather.txt"), "# Weather\n\nA downpour is expected.");
}

test("what means the same is found by other words, beside what words find, and by its owner alone [D3]", async () => {
  await using server = await embeddingServer();
  const { place, troubles } = open(server);
  await using _ = place;
  const { search } = place;
  await putDogs(search);
  await putText(search, file("bob", "own.txt"), "The car that I buy.");
  await until(search, isDone);
  assert.deepEqual(server.texts().toSorted(), [
    "Pets\nA puppy needs a walk twice a day.",
    "The car that I buy.",
    "Trade\nWho wants to purchase an automobile signs here.",
    "Weather\nA downpour is expected.",
  ]);
  assert.deepEqual((await found(search, "buy a car", ann))[0], "trade.txt");
  assert.deepEqual(await found(search, "dog", { ...ann, places: ["pets.txt", "weather.txt"] }), [
    "pets.txt",
    "weather.txt",
  ]);
  // First for both: by words and by meaning.
  const both = await search.find("expected rain", ann);
  assert.ok(both.ok);
  assert.deepEqual(
    both.value.hits.slice(0, 1).map(({ documents, score, snippet }) => [documents[0]?.place, score, snippet]),
    [["weather.txt", 1, "# Weather\nA downpour is **expected**.".slice(2)]],
  );
  assert.deepEqual(both.value.missing, ["rain"]);
  // Who quotes or leaves something out means just that.
  assert.deepEqual(await found(search, "walk -puppy", ann), []);
  assert.deepEqual(await found(search, '"twice a day"', ann), ["pets.txt"]);
  assert.deepEqual(troubles, []);
});

test("vectors are made once for each content, go with it, and only what is new is sent [D2]", async () => {
  await using server = await embeddingServer();
  const { place, meaningBy } = open(server);
  await using _ = place;
  await putDogs(place.search);
  await putText(place.search, file("bob", "copy.txt"), "# Pets\n\nA puppy needs a walk twice a day.");
  await until(place.search, isDone);
  assert.equal(server.texts().length, 3);
  const again = await place.again({ meaning: meaningBy("small") });
  await putText(again, file("ann", "more.txt"), "A vehicle.");
  await until(again, isDone);
  assert.deepEqual(server.texts().slice(3), ["A vehicle."]);
  assert.equal((await found(again, "car", ann))[0], "more.txt");
  await again.drop(file("ann", "more.txt"));
  assert.ok(!(await found(again, "car", ann)).includes("more.txt"));
  assert.deepEqual(await stateOf(again), { passages: 3, embedded: 3 });
  assert.deepEqual(await stateOf(again, "bob"), { passages: 1, embedded: 1 });
  assert.deepEqual(await stateOf(again, "eve"), { passages: 0, embedded: 0 });
});

test("a server that fails costs the second ranking and nothing else, is told of once, and is tried again later [D3]", async () => {
  await using server = await embeddingServer();
  server.answerWith({ status: 500, body: '{"error":{"message":"out of order"}}' });
  const { place, clock, troubles } = open(server);
  await using _ = place;
  const { search } = place;
  await putDogs(search);
  await until(search, ({ trouble }) => trouble !== undefined);
  assert.deepEqual(await found(search, "downpour", ann), ["weather.txt"]);
  await putText(search, file("ann", "more.txt"), "A vehicle.");
  assert.deepEqual(await found(search, "vehicle", ann), ["more.txt"]);
  const tries = server.asked.length;
  // Four times in a row, and then not before ten minutes have passed, whatever is asked or put in.
  assert.equal(tries, 4);
  assert.deepEqual(
    troubles.map((trouble) => trouble.why === "failed" && [trouble.error.kind, trouble.error.message]),
    [["overloaded", "out of order"]],
  );
  server.answerWith("vectors");
  clock.move(10 * 60_000);
  await until(search, isDone);
  assert.deepEqual((await stateOf(search)).trouble, undefined);
  assert.equal((await found(search, "hound", ann))[0], "pets.txt");
  assert.equal(troubles.length, 1);
});

test("a text that the model refuses is left out alone; where it refuses all, nothing is [D3]", async () => {
  await using server = await embeddingServer();
  const refused = { status: 400, body: '{"error":{"message":"input is too long for this model"}}' };
  server.answerWith((request) =>
    request.body.input.some((text) => text.includes("puppy")) ? refused : { body: answerTo(request, 8) },
  );
  const { place, troubles } = open(server);
  await using _ = place;
  await putDogs(place.search);
  await until(place.search, isDone);
  assert.deepEqual(troubles, []);
  assert.equal((await found(place.search, "car", ann))[0], "trade.txt");
  assert.ok(!(await found(place.search, "hound", ann)).includes("pets.txt"));
  server.answerWith(refused);
  await putText(place.search, file("ann", "more.txt"), "A vehicle.");
  await until(place.search, ({ trouble }) => trouble !== undefined);
  assert.deepEqual(await stateOf(place.search).then(({ passages, embedded }) => [passages, embedded]), [4, 3]);
});

test("a day costs no more than it may, also after a restart, and the rest follows the day after [D3]", async () => {
  await using server = await embeddingServer();
  const { place, clock, troubles, meaningBy } = open(server, { charactersPerDayMax: 50 });
  await using _ = place;
  await putText(place.search, file("ann", "a.txt"), "A puppy needs a walk twice a day.");
  await until(place.search, isDone);
  await putText(place.search, file("ann", "b.txt"), "A downpour is expected.");
  await until(place.search, ({ trouble }) => trouble !== undefined);
  assert.deepEqual(troubles, [{ why: "limit", charactersMax: 50 }]);
  const again = await place.again({ meaning: meaningBy("small") });
  await found(again, "downpour", ann);
  await until(again, ({ trouble }) => trouble !== undefined);
  assert.equal(server.texts().filter((text) => text === "A downpour is expected.").length, 0);
  clock.move(dayMs);
  await until(again, isDone);
  assert.equal(server.texts().filter((text) => text === "A downpour is expected.").length, 1);
});

test("among very many the nearest are found by their signs first, and ordered by their numbers [D3]", async () => {
  await using server = await embeddingServer({ size: 64 });
  const vectorOf = (text: string) => {
    const number = Number(/\d+/.exec(text)?.[0] ?? 0);
    return Array.from({ length: 64 }, (_, index) => Math.cos((number * (index + 1)) / 700));
  };
  server.answerWith(({ body }) => ({
    body: JSON.stringify({ data: body.input.map((text, index) => ({ index, embedding: vectorOf(text) })) }),
  }));
  const { place } = open(server);
  await using _ = place;
  const many = Array.from({ length: 700 }, (_, index) => `# Part ${index}\n\nwords`).join("\n\n");
  await putText(place.search, file("ann", "many.txt"), many);
  await until(place.search, isDone);
  const near = await place.search.find("everything about 350", ann, { hitsMax: 3 });
  assert.ok(near.ok);
  assert.deepEqual(
    near.value.hits.map(({ headings }) => headings.at(-1)),
    ["Part 350", "Part 349", "Part 351"],
  );
});
