import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type Config, explainConfig, hasChanged, loadConfig, reloadConfig } from "../../src/config/config.ts";
import { makePlace } from "../world/config-place.ts";

const root = join(import.meta.dirname, "..", "..");

test("a fresh clone needs no configuration: its data lies in ./data [P3][P5]", async (t) => {
  const place = makePlace(t);
  const { paths, models, notes, language } = await place.load();
  const data = join(place.dir, "data");
  assert.deepEqual(
    { paths, slots: models.slots, notes, language },
    {
      paths: { dataDir: data, sessionDbPath: join(data, "sessions.db"), filesDir: data, logsDir: join(data, "logs") },
      slots: {},
      notes: [],
      language: "en",
    },
  );
});

test("an installed program keeps its data in the XDG data folder [P3]", async (t) => {
  const place = makePlace(t, { isClone: false });
  assert.equal((await place.load()).paths.dataDir, join(place.dir, "me/.local/share/agentyard"));
  const moved = await place.load({ env: { XDG_DATA_HOME: join(place.dir, "xdg") } });
  assert.equal(moved.paths.dataDir, join(place.dir, "xdg/agentyard"));
  const relative = await place.load({ env: { XDG_DATA_HOME: "xdg" } });
  assert.equal(relative.paths.dataDir, join(place.dir, "me/.local/share/agentyard"));
});

test("data directory, database and logs can be moved one by one; a relative path starts where it was written [P3]", async (t) => {
  const place = makePlace(t);
  place.write("config/agentyard.yaml", "data: store\nsession_db_path: ~/talk.db\n");
  place.write("me/.config/agentyard/agentyard.yaml", "logs:\n  dir: my-logs\n");
  const moved = await place.load({ cwd: tmpdir() });
  assert.deepEqual(moved.paths, {
    dataDir: join(place.dir, "store"),
    sessionDbPath: join(place.dir, "me/talk.db"),
    filesDir: join(place.dir, "store"),
    logsDir: join(place.dir, "me/my-logs"),
  });
  const flagged = await place.load({ cwd: tmpdir(), flags: { data: "here" }, env: { AGENTYARD_LOGS: "logs" } });
  assert.deepEqual(flagged.paths, {
    dataDir: join(tmpdir(), "here"),
    sessionDbPath: join(place.dir, "me/talk.db"),
    filesDir: join(tmpdir(), "here"),
    logsDir: join(tmpdir(), "logs"),
  });
  // Files are shared where a database server is; without one they stay with the data.
  const AGENTYARD_FILES_DIR = "/srv/files";
  const alone = await place.load({ env: { AGENTYARD_FILES_DIR } });
  const shared = await place.load({ env: { AGENTYARD_FILES_DIR, AGENTYARD_DATABASE_URL: "postgres://db/yard" } });
  assert.deepEqual([alone.paths.filesDir, shared.paths.filesDir], [alone.paths.dataDir, AGENTYARD_FILES_DIR]);
});

/** What a folder that the user only happens to be in may not decide, neither in its file nor in its .env. */
const reserved: readonly (readonly [key: string, variable: string, value: string, whatFor: string])[] = [
  ["data", "AGENTYARD_DATA", "./theirs", "where all that you say is kept"],
  ["session_db_path", "SESSION_DB_PATH", "./theirs.db", "where all that you say is kept"],
  ["files_dir", "AGENTYARD_FILES_DIR", "./files", "where all that you say is kept"],
  ["logs.dir", "AGENTYARD_LOGS", "./logs", "where all that you say is kept"],
  ["web.private_hosts", "AGENTYARD_WEB_PRIVATE_HOSTS", "127.0.0.1", "whom the tools reach and who gets your keys"],
  ["web.brave_url", "BRAVE_URL", "https://collector.example", "whom the tools reach and who gets your keys"],
  ["web.tavily_url", "TAVILY_URL", "https://collector.example", "whom the tools reach and who gets your keys"],
  ["sandbox.provider", "AGENTYARD_SANDBOX_PROVIDER", "docker", "where programs run and whom they reach"],
  ["sandbox.docker_host", "AGENTYARD_SANDBOX_DOCKER_HOST", "tcp://evil.example:2375", "where programs run"],
  ["sandbox.docker_image", "AGENTYARD_SANDBOX_DOCKER_IMAGE", "theirs", "where programs run and whom they reach"],
  ["sandbox.network_hosts", "AGENTYARD_SANDBOX_NETWORK_HOSTS", "evil.example", "where programs run"],
  ["sandbox.network_private_hosts", "AGENTYARD_SANDBOX_NETWORK_PRIVATE_HOSTS", "127.0.0.1:7420", "where programs run"],
  ["sandbox.package_index", "AGENTYARD_SANDBOX_PACKAGE_INDEX", "https://evil.example/simple", "where programs run"],
  ["sandbox.npm_registry", "AGENTYARD_SANDBOX_NPM_REGISTRY", "https://evil.example", "where programs run"],
  ["budgets.conversation.usd", "AGENTYARD_BUDGET_USD", "1000", "what you spend"],
  ["prices", "AGENTYARD_PRICES", "gpt-5 0 0", "what you spend"],
];

test("a folder of somebody else cannot say where data lies, whom tools reach, where programs run or what is spent [P3][T7][X3][X5][A4][Q1]", async (t) => {
  const foreign = makePlace(t, { isClone: false });
  for (const [key, variable, value, whatFor] of reserved) {
    const yaml = key === "prices" ? "prices: { gpt-5: { input: 0, output: 0 } }" : `${key}: ${JSON.stringify(value)}`;
    for (const [file, text] of [
      ["config/agentyard.yaml", yaml],
      [".env", `${variable}=${value}`],
    ] as const) {
      foreign.write(file, `${text}\n`);
      const [told = "", ...others] = await foreign.mistakes();
      assert.ok(told.startsWith(`${file}:1: ${key} would let this folder decide ${whatFor}`), `${key}: ${told}`);
      assert.match(
        told,
        /Write it into ~\/\.config\/agentyard\/agentyard\.yaml, or name the folder with AGENTYARD_CONFIG\.$/,
      );
      assert.deepEqual(others, []);
      assert.deepEqual(
        await foreign.mistakes({ env: { AGENTYARD_CONFIG: foreign.dir } }),
        [],
        "a folder that is named",
      );
      foreign.write(file, "");
    }
  }
  // What the user says counts before it, so that nothing of theirs is left to refuse.
  foreign.write(".env", "AGENTYARD_DATA=theirs\n");
  assert.equal((await foreign.load({ env: { AGENTYARD_DATA: "/mine" } })).paths.dataDir, "/mine");
});

test("a folder of somebody else cannot say where other processes hand requests on; the user's own file can [N1][Q1]", async (t) => {
  const foreign = makePlace(t, { isClone: false });
  const env = { AGENTYARD_DATABASE_URL: "postgres://db/yard" };
  const address = async () => (await foreign.load({ env })).storage.database?.peerAddress;
  foreign.write("config/agentyard.yaml", "storage:\n  peer_address: 0.0.0.0:7421\n");
  foreign.write(".env", "AGENTYARD_PEER_ADDRESS=0.0.0.0:7422\n");
  assert.equal(await address(), undefined);
  foreign.write("me/.config/agentyard/agentyard.yaml", "storage:\n  peer_address: 10.0.0.4:7421\n");
  assert.equal(await address(), "10.0.0.4:7421");
});

test("the files that come with a clone change nothing, and with every comment sign taken away they state the defaults [P5]", async (t) => {
  const place = makePlace(t);
  const defaults = effective(await place.load());
  const shipped = readFileSync(join(root, "config/agentyard.yaml"), "utf8");
  place.write("config/agentyard.yaml", shipped);
  copyFileSync(join(root, ".env.example"), join(place.dir, ".env"));
  assert.deepEqual(effective(await place.load()), defaults);

  place.write("config/agentyard.yaml", shipped.replaceAll(/^# /gm, ""));
  const stated = await place.load();
  assert.deepEqual(effective(stated), defaults);
  const unstated = explainConfig(stated).filter(({ source }) => !source.startsWith("config/agentyard.yaml:"));
  assert.deepEqual(unstated, []);
});

test("every mistake is told at once, with file, line and what to write instead, in the user's language [P5][P4]", async (t) => {
  const place = makePlace(t);
  place.write(".env", "MODEL_BASIC_API_KEY=sk-not-shown\nMODEL_BASIC_TEMPERATURE=hot\nMODEL_CODE_API_KEY: sk-x\n");
  place.write("config/agentyard.yaml", "loop:\n  max_steps: 5\n  parallel_calls_max: many\nlogs: loud\nlang: fr\n");
  place.write("me/.config/agentyard/agentyard.yaml", "data:\n- here\n");
  const env = { MAX_LOOPS: "0", MODEL_CODE_API_KEY: "not a key", HTTPS_PROXY: "socks5://me:password1@proxy:1" };
  assert.deepEqual(await place.mistakes({ env }), [
    "MODEL_CODE_API_KEY is ••••. Set it to the key alone, without blanks or quotes.",
    "HTTPS_PROXY is socks5://[redacted]@proxy:1. Set it to an address such as http://proxy.example:3128.",
    "MAX_LOOPS is 0. Set it to a whole number from 1 to 1000.",
    ".env:2: MODEL_BASIC_TEMPERATURE is hot. Write a number from 0 to 2.",
    ".env:3: MODEL_CODE_API_KEY is followed by a colon. Write MODEL_CODE_API_KEY=… instead.",
    "config/agentyard.yaml:2: there is no setting loop.max_steps. Write loop.steps_max instead.",
    "config/agentyard.yaml:3: loop.parallel_calls_max is many. Write a whole number from 1 to 64.",
    "config/agentyard.yaml:4: logs holds other settings. Write them below it, such as dir.",
    "config/agentyard.yaml:5: lang is fr. Write one of en, zh.",
    "~/.config/agentyard/agentyard.yaml:1: data is - here. Write a path such as ./data.",
  ]);
  const chinese = await place.mistakes({ env: { ...env, LANG: "zh_CN.UTF-8" } });
  assert.equal(chinese[2], "MAX_LOOPS 的值是 0，无法使用。 请改成：1 到 1000 之间的整数。");
  const unknown = "config/agentyard.yaml:2：没有 loop.max_steps 这个设置项。 请改写为 loop.steps_max。";
  assert.equal(chinese[5], unknown);
  const loaded = await loadConfig({ ...place.request, env });
  const codes = loaded.ok ? [] : loaded.failure.map(({ code }) => code);
  assert.deepEqual(codes, [...Array(3).fill("setting_invalid"), ...Array(7).fill("config_invalid")]);
});

const oddFiles: [what: string, yaml: string, mistake: string | undefined][] = [
  ["an old name at the top", "max_loops: 3", "1: there is no setting max_loops. Write loop.steps_max instead."],
  ["an unknown key without a value", "\nhello:", "2: there is no setting hello. Write logs.level instead."],
  ["a key given twice", "lang: en\nlang: zh", "2: this is not YAML (Map keys must be unique). "],
  ["a bracket that is not closed", "lang: [en", "1: this is not YAML (Flow sequence"],
  ["a tab before a key", "loop:\n\tsteps_max: 1", "2: this is not YAML (Tabs are not allowed as indentation). "],
  ["a list instead of settings", "- lang: en", "1: there is no setting - lang: en. Write lang instead."],
  ["an alias of nothing", "lang: *me", "1: lang is *me. Write one of en, zh."],
  ["a number where a word belongs", "logs:\n  level: 3", "2: logs.level is 3. Write one of off, error,"],
  ["a fraction of a step", "loop: { steps_max: 1.5 }", "1: loop.steps_max is 1.5. Write a whole number"],
  ["an empty path", 'data: ""', "1: data is . Write a path such as ./data."],
  ["text in another encoding", "lang: \0e\0n", "1: the file is not UTF-8 text. Save it with the encoding UTF-8."],
  ["keys with nothing behind them", "lang:\nloop:\nlogs: {}", undefined],
  ["a number in quotes", 'loop: { steps_max: "7" }', undefined],
  ["a key with its group before it", "loop.steps_max: 7", undefined],
  ["Windows line ends and a byte order mark", "\uFEFFloop:\r\n  steps_max: 7\r\n", undefined],
];
for (const [what, yaml, mistake] of oddFiles) {
  test(`agentyard.yaml with ${what} ${mistake === undefined ? "is fine" : "is refused with its line"} [P5]`, async (t) => {
    const place = makePlace(t);
    place.write("config/agentyard.yaml", yaml);
    const [told, ...others] = await place.mistakes();
    assert.deepEqual(others, []);
    const expected = mistake && `config/agentyard.yaml:${mistake}`;
    assert.equal(told?.slice(0, expected?.length), expected);
  });
}

test("a file that may not be read is named [P5]", async (t) => {
  const place = makePlace(t);
  mkdirSync(join(place.dir, ".env"));
  assert.deepEqual(await place.mistakes(), [
    ".env:1: the file cannot be read (EISDIR). Give this user permission to read it, or delete it.",
  ]);
});

test("`agentyard config` can tell where each value comes from, and shows no secret [P5][Q1]", async (t) => {
  const place = makePlace(t);
  place.write(".env", "# mine\r\nexport MODEL_BASIC_API_KEY='sk-very-secret'\r\nMAX_MESSAGE_HISTORY=90\r\n");
  place.write("config/agentyard.yaml", "# ours\nloop:\n\n  steps_max: 7 # few\n");
  place.write("me/.config/agentyard/agentyard.yaml", "logs: { level: debug }\n");
  const config = await place.load({
    flags: { lang: "zh" },
    env: { https_proxy: "me:password1@proxy.example:3128", OTHER_TOKEN: "known-elsewhere" },
  });
  const rows = new Map(explainConfig(config).map(({ name, value, source }) => [name, `${value} (${source})`]));
  const names = ["lang", "MODEL_BASIC_API_KEY", "context.messages_max", "loop.steps_max", "logs.level", "https_proxy"];
  assert.deepEqual(
    [...names, "storage.synchronous"].map((name) => rows.get(name)),
    [
      "zh (--lang)",
      "set (.env:2)",
      "90 (.env:3)",
      "7 (config/agentyard.yaml:4)",
      "debug (~/.config/agentyard/agentyard.yaml:1)",
      "http://[redacted]@proxy.example:3128 (https_proxy)",
      "full (default)",
    ],
  );
  assert.deepEqual(config.secrets, ["known-elsewhere", "sk-very-secret"]);
});

test("the proxies of the system reach the model client, small letters first [P5]", async (t) => {
  const place = makePlace(t);
  const env = { HTTP_PROXY: "http://big:1", http_proxy: "small:2", HTTPS_PROXY: "http://tls:3", no_proxy: "localhost" };
  assert.deepEqual((await place.load({ env })).models.proxyEnv, {
    HTTP_PROXY: "http://small:2",
    HTTPS_PROXY: "http://tls:3",
    NO_PROXY: "localhost",
  });
});

test("a change of a file is noticed and taken over, except for what needs a restart [P5]", async (t) => {
  const place = makePlace(t);
  const config = await place.load();
  assert.equal(hasChanged(config), false);

  place.write(".env", "MAX_LOOPS=7\nMODEL_BASIC_API_KEY=sk-new\nMODEL_BASIC_ID=gpt-5\n");
  place.write("config/agentyard.yaml", "data: elsewhere\n");
  assert.equal(hasChanged(config), true);
  const reloaded = await reloadConfig(config, place.request);
  assert.ok(reloaded.ok);
  const { config: now, waiting } = reloaded.value;
  assert.deepEqual(waiting, ["data", "files_dir", "session_db_path", "logs.dir"]);
  assert.deepEqual([now.loop.stepsMax, now.models.slots.base?.model, now.paths], [7, "gpt-5", config.paths]);
  assert.deepEqual(explainConfig(now).find(({ name }) => name === "data")?.source, "default");
  assert.equal(hasChanged(now), false);

  place.write(".env", "MAX_LOOPS=never\n");
  assert.equal(hasChanged(now), true);
  assert.equal((await reloadConfig(now, place.request)).ok, false);
});

/** What a configuration does, without where it comes from. */
function effective({ readings: _, stamps: __, ...config }: Config) {
  return config;
}

test("a price that makes no sense is told with its line [A4][P5]", async (t) => {
  const place = makePlace(t);
  place.write(
    "config/agentyard.yaml",
    "prices:\n  good: { input: 1, output: 2 }\n  cheap: { input: -1, output: 2 }\n  half: { input: 1 }\n  odd: 5\n  more: { input: 1, output: 2, tip: 3 }\nbudgets:\n  turn: { tokens: -5 }\n",
  );
  const told = (await place.mistakes()).map((line) => line.replace(/ is .*/, ""));
  assert.deepEqual(told, [
    ...["cheap", "half", "odd", "more"].map((name, at) => `config/agentyard.yaml:${at + 3}: prices.${name}`),
    "config/agentyard.yaml:8: budgets.turn.tokens",
  ]);
  const [first = ""] = await place.mistakes();
  assert.match(first, /Write what a million tokens cost in dollars, such as gpt-5: \{ input: 1\.25, output: 10/);
  for (const text of ["m", "m 1", "m 1 two", "m 1 2 3 4"])
    assert.equal(
      (await place.mistakes({ env: { AGENTYARD_PRICES: text } })).filter((line) => line.includes("AGENTYARD_PRICES"))
        .length,
      1,
      text,
    );
});

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
  const reason = "https://api.deepseek.com/v1";
  const env = {
    ...{ MODEL_BASIC_API_KEY: " sk-base ", MODEL_BASIC_ID: "gpt-5", MODEL_REASON_API_KEY: "sk-reason" },
    ...{ MODEL_REASON_ID: "deepseek-reasoner", MODEL_REASON_BASE_URL: `${reason}/` },
    ...{ MODEL_VISION_BASE_URL: "http://127.0.0.1:11434/v1", MODEL_VISION_ID: "qwen3-vl" },
    ...{ MODEL_CODE_API_KEY: "sk-code", MODEL_CODE_ID: "coder", MODEL_CODE_TEMPERATURE: "0.2" },
    ...{ MODEL_CODE_MAX_COMPLETION_TOKENS: "4096", MODEL_CODE_CONTEXT_WINDOW: "200000" },
  };
  const { models, notes } = await place.load({ env });
  const none = { api: undefined, temperature: undefined, maxTokens: undefined, contextWindow: undefined };
  const slot = (slot: string, baseUrl: string, apiKey: string | undefined, model: string, some: object = {}) => ({
    [slot]: { slot, baseUrl, apiKey, model, ...none, ...some },
  });
  const openAi = "https://api.openai.com/v1";
  assert.deepEqual(models.slots, {
    ...slot("base", openAi, "sk-base", "gpt-5"),
    ...slot("reasoning", reason, "sk-reason", "deepseek-reasoner"),
    ...slot("vision", "http://127.0.0.1:11434/v1", undefined, "qwen3-vl"),
    ...slot("code", openAi, "sk-code", "coder", { temperature: 0.2, maxTokens: 4096, contextWindow: 200_000 }),
  });
  assert.deepEqual(notes, []);
});

test("OpenAI's own variables fill the base slot only where it has nothing of its own [M1]", async (t) => {
  const place = makePlace(t);
  const openAi = { OPENAI_API_KEY: "sk-open", OPENAI_BASE_URL: "https://open.example/v1", OPENAI_MODEL: "open-1" };
  const [open, own] = ["https://open.example/v1", "https://api.openai.com/v1"];
  for (const [more, ...expected] of [
    [{}, open, "sk-open", "open-1"],
    [{ MODEL_BASIC_ID: "own-1" }, open, "sk-open", "own-1"],
    [{ MODEL_BASIC_API_KEY: "sk-own", MODEL_BASIC_ID: "own-1" }, own, "sk-own", "own-1"],
    [{ MODEL_BASIC_BASE_URL: "http://127.0.0.1:8080/v1" }, "http://127.0.0.1:8080/v1", undefined, "gpt-4"],
  ] as const) {
    const { baseUrl, apiKey, model } = (await place.load({ env: { ...openAi, ...more } })).models.slots.base ?? {};
    assert.deepEqual([baseUrl, apiKey, model], expected);
  }
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

test("a folder of somebody else cannot have the user's traces sent to its collector [O1][Q1]", async (t) => {
  const variables =
    "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.example\nLANGCHAIN_TRACING_V2=true\nLANGCHAIN_API_KEY=k\n";
  const [own, foreign] = [makePlace(t), makePlace(t, { isClone: false })];
  for (const place of [own, foreign]) place.write(".env", variables);
  const targets = async (place: typeof own, env: Record<string, string> = {}) =>
    (await place.load({ env })).traces?.targets.map(({ url }) => url);
  const both = ["http://collector.example/v1/traces", "https://api.smith.langchain.com/otel/v1/traces"];
  assert.deepEqual([await targets(own), await targets(foreign)], [both, undefined]);
  const chosen = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://own.example" };
  assert.deepEqual(await targets(foreign, chosen), ["http://own.example/v1/traces"]);
  assert.deepEqual(await targets(foreign, { AGENTYARD_CONFIG: foreign.dir }), both, "a folder that the user named");
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
