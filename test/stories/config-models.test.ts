import assert from "node:assert/strict";
import { test } from "node:test";
import { makePlace } from "../world/config-place.ts";

test("the language is that of the system, unless somebody chose one [P4]", async (t) => {
  const place = makePlace(t);
  const languageFor = async (env: Record<string, string>) => (await place.load({ env })).language;
  assert.equal(await languageFor({}), "en");
  assert.equal(await languageFor({ LANG: "zh_CN.UTF-8" }), "zh");
  assert.equal(await languageFor({ LANG: "zh_CN.UTF-8", LC_ALL: "C" }), "en");
  assert.equal(await languageFor({ LANG: "en_US.UTF-8", LC_MESSAGES: "zh_TW" }), "zh");
  assert.equal(await languageFor({ LANG: "de_DE", AGENTYARD_LANG: "zh-Hans" }), "zh");
  place.write("config/agentyard.yaml", "lang: en\n");
  assert.equal(await languageFor({ LANG: "zh_CN.UTF-8" }), "en");
});

test("each of the five slots is filled by its variables, also by their other names [M1]", async (t) => {
  const place = makePlace(t);
  const { models, notes } = await place.load({
    env: {
      MODEL_BASIC_API_KEY: " sk-base ",
      MODEL_BASIC_ID: "gpt-5",
      MODEL_REASON_API_KEY: "sk-reason",
      MODEL_REASON_ID: "deepseek-reasoner",
      MODEL_REASON_BASE_URL: "https://api.deepseek.com/v1/",
      MODEL_VISION_BASE_URL: "http://127.0.0.1:11434/v1",
      MODEL_VISION_ID: "qwen3-vl",
      MODEL_CODE_API_KEY: "sk-code",
      MODEL_CODE_ID: "coder",
      MODEL_CODE_TEMPERATURE: "0.2",
      MODEL_CODE_MAX_COMPLETION_TOKENS: "4096",
      MODEL_CODE_CONTEXT_WINDOW: "200000",
    },
  });
  const options = { api: undefined, temperature: undefined, maxTokens: undefined, contextWindow: undefined };
  const openAi = "https://api.openai.com/v1";
  assert.deepEqual(models.slots, {
    base: { slot: "base", baseUrl: openAi, apiKey: "sk-base", model: "gpt-5", ...options },
    reasoning: {
      slot: "reasoning",
      baseUrl: "https://api.deepseek.com/v1",
      apiKey: "sk-reason",
      model: "deepseek-reasoner",
      ...options,
    },
    vision: { slot: "vision", baseUrl: "http://127.0.0.1:11434/v1", apiKey: undefined, model: "qwen3-vl", ...options },
    code: {
      slot: "code",
      baseUrl: openAi,
      apiKey: "sk-code",
      model: "coder",
      api: undefined,
      temperature: 0.2,
      maxTokens: 4096,
      contextWindow: 200_000,
    },
  });
  assert.deepEqual(notes, []);
});

test("OpenAI's own variables fill the base slot only where it has nothing of its own [M1]", async (t) => {
  const place = makePlace(t);
  const openAi = { OPENAI_API_KEY: "sk-open", OPENAI_BASE_URL: "https://open.example/v1", OPENAI_MODEL: "open-1" };
  const baseOf = async (env: Record<string, string>) => {
    const { baseUrl, apiKey, model } = (await place.load({ env })).models.slots.base ?? {};
    return [baseUrl, apiKey, model];
  };
  assert.deepEqual(await baseOf(openAi), ["https://open.example/v1", "sk-open", "open-1"]);
  assert.deepEqual(await baseOf({ ...openAi, MODEL_BASIC_ID: "own-1" }), [
    "https://open.example/v1",
    "sk-open",
    "own-1",
  ]);
  assert.deepEqual(await baseOf({ ...openAi, MODEL_BASIC_API_KEY: "sk-own", MODEL_BASIC_ID: "own-1" }), [
    "https://api.openai.com/v1",
    "sk-own",
    "own-1",
  ]);
  assert.deepEqual(await baseOf({ ...openAi, MODEL_BASIC_BASE_URL: "http://127.0.0.1:8080/v1" }), [
    "http://127.0.0.1:8080/v1",
    undefined,
    "gpt-4",
  ]);
});

test("settings of models that do not do what was meant are pointed out [M1]", async (t) => {
  const place = makePlace(t);
  const { models, notes } = await place.load({
    env: {
      MODEL_BASIC_API_KEY: "sk-base",
      MODEL_CODE_ID: "coder",
      MODEL_CHAT_BASE_URL: "https://chat.example/v1",
      MODEL_REASONING_APIKEY: "sk-lost",
      MODEL_RAILWAY_GAUGE: "1435",
    },
  });
  assert.deepEqual(Object.keys(models.slots), ["base"]);
  assert.deepEqual(notes, [
    { code: "model_id_missing", slot: "base", variable: "MODEL_BASIC_ID", model: "gpt-4" },
    { code: "slot_without_key", slot: "code", variable: "MODEL_CODE_API_KEY" },
    { code: "slot_without_key", slot: "chat", variable: "MODEL_CHAT_API_KEY" },
    { code: "variable_unknown", name: "MODEL_REASONING_APIKEY", near: "MODEL_REASONING_API_KEY" },
  ]);
});

test("a model for embeddings is read from its own variables, and pointed out where a part of it is missing [D3]", async (t) => {
  const place = makePlace(t);
  const read = async (env: Record<string, string>) => {
    const { documents, notes } = await place.load({
      env: { MODEL_BASIC_API_KEY: "sk-base", MODEL_BASIC_ID: "m", ...env },
    });
    return [documents.embedding, notes];
  };
  const key = { MODEL_EMBEDDING_API_KEY: "sk-embed" };
  const model = { MODEL_EMBEDDING_ID: "embed-1" };
  assert.deepEqual(await read({}), [undefined, []]);
  assert.deepEqual(await read({ ...key, ...model, MODEL_EMBEDDING_DIMENSIONS: "256" }), [
    { baseUrl: "https://api.openai.com/v1", apiKey: "sk-embed", model: "embed-1", dimensions: 256 },
    [],
  ]);
  assert.deepEqual(await read({ ...model, MODEL_EMBEDDING_BASE_URL: "http://127.0.0.1:11434/v1" }), [
    { baseUrl: "http://127.0.0.1:11434/v1", apiKey: undefined, model: "embed-1", dimensions: undefined },
    [],
  ]);
  const incomplete = (variable: string) => [undefined, [{ code: "embedding_incomplete", variable }]];
  assert.deepEqual(await read(key), incomplete("MODEL_EMBEDDING_ID"));
  assert.deepEqual(
    await read({ ...model, MODEL_EMBEDDING_BASE_URL: "https://embed.example/v1" }),
    incomplete("MODEL_EMBEDDING_API_KEY"),
  );
  assert.deepEqual(await read({ MODEL_EMBEDDING_APIKEY: "sk" }), [
    undefined,
    [{ code: "variable_unknown", name: "MODEL_EMBEDDING_APIKEY", near: "MODEL_EMBEDDING_API_KEY" }],
  ]);
  const mistakes = await place.mistakes({ env: { MODEL_EMBEDDING_DIMENSIONS: "1", AGENTYARD_SEGMENTATION: "thulac" } });
  assert.deepEqual(
    mistakes
      .map((mistake) => /MODEL_EMBEDDING_DIMENSIONS|AGENTYARD_SEGMENTATION/.exec(JSON.stringify(mistake))?.[0])
      .sort(),
    ["AGENTYARD_SEGMENTATION", "MODEL_EMBEDDING_DIMENSIONS"],
  );
});

test("the folder of somebody else cannot have the user's documents sent to its server [D3][Q1]", async (t) => {
  const foreign = makePlace(t, { isClone: false });
  foreign.write(".env", "MODEL_EMBEDDING_BASE_URL=http://collector.example/v1\nMODEL_EMBEDDING_ID=embed-1\n");
  assert.equal((await foreign.load({ env: {} })).documents.embedding, undefined);
});

test("a folder of somebody else cannot have the user's key sent to its server [M1][Q1]", async (t) => {
  const env = { MODEL_BASIC_API_KEY: "sk-mine" };
  const foreign = makePlace(t, { isClone: false });
  foreign.write(".env", "MODEL_BASIC_BASE_URL=https://collector.example/v1\n");
  assert.deepEqual(await foreign.mistakes({ env }), [
    ".env:1: MODEL_BASIC_BASE_URL would send the key of your environment to the server that this folder names. " +
      "Put MODEL_BASIC_API_KEY into the same file, or MODEL_BASIC_BASE_URL into the environment.",
  ]);
  foreign.write(".env", "MODEL_BASIC_BASE_URL=https://collector.example/v1\nMODEL_BASIC_API_KEY=sk-its-own\n");
  assert.deepEqual(await foreign.mistakes(), []);

  const own = makePlace(t);
  own.write(".env", "MODEL_BASIC_BASE_URL=https://chosen.example/v1\n");
  assert.equal((await own.load({ env })).models.slots.base?.baseUrl, "https://chosen.example/v1");
});

test("a folder of somebody else cannot have what the user sends go by its proxy, and that is said [M1][Q1]", async (t) => {
  const foreign = makePlace(t, { isClone: false });
  foreign.write(".env", "HTTP_PROXY=http://collector.example:3128\nhttps_proxy=http://collector.example\nNO_PROXY=a\n");
  const env = { MODEL_BASIC_BASE_URL: "http://gpu.corp:8000/v1", MODEL_BASIC_API_KEY: "sk-mine", MODEL_BASIC_ID: "m" };
  const none = { HTTP_PROXY: undefined, HTTPS_PROXY: undefined, NO_PROXY: undefined };
  const { models, notes, readings } = await foreign.load({ env });
  assert.deepEqual(
    [models.proxyEnv, notes, readings.filter(({ origin }) => origin.startsWith(".env"))],
    [none, [{ code: "proxy_foreign", names: "HTTP_PROXY, https_proxy, NO_PROXY" }], []],
  );
  const mine = { HTTP_PROXY: "http://mine.corp:3128", HTTPS_PROXY: "http://mine.corp:3128", NO_PROXY: "b" };
  const own = await foreign.load({ env: { ...env, ...mine } });
  assert.deepEqual([own.models.proxyEnv, own.notes], [mine, []]);
  const chosen = await foreign.load({ env: { ...env, AGENTYARD_CONFIG: foreign.dir } });
  assert.deepEqual(
    [chosen.models.proxyEnv.HTTP_PROXY, chosen.models.proxyEnv.NO_PROXY, chosen.notes],
    ["http://collector.example:3128", "a", []],
  );
});

test("the wire format of a slot can be said, and brings its vendor's address with it [M6]", async (t) => {
  const place = makePlace(t);
  const base = async (env: Record<string, string>) => {
    const { api, baseUrl } = (await place.load({ env: { MODEL_BASIC_API_KEY: "sk", ...env } })).models.slots.base ?? {};
    return [api, baseUrl];
  };
  assert.deepEqual(await base({ MODEL_BASIC_API: "Anthropic" }), ["anthropic", "https://api.anthropic.com/v1"]);
  const own = { MODEL_BASIC_API: "anthropic", MODEL_BASIC_BASE_URL: "http://127.0.0.1:8000" };
  assert.deepEqual(await base(own), ["anthropic", "http://127.0.0.1:8000"]);
  assert.deepEqual(await base({}), [undefined, "https://api.openai.com/v1"]);
  const [mistake] = await place.mistakes({ env: { MODEL_BASIC_API_KEY: "sk", MODEL_BASIC_API: "claude" } });
  assert.match(mistake ?? "", /MODEL_BASIC_API.*claude.*chat.*anthropic/s);
});
