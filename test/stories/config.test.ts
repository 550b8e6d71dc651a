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

test("a package in node_modules is no clone, though it has the same package.json [P3]", async (t) => {
  const place = makePlace(t);
  place.write("node_modules/agentyard/package.json", '{ "name": "agentyard" }');
  const { paths } = await place.load({ programDir: join(place.dir, "node_modules/agentyard") });
  assert.equal(paths.dataDir, join(place.dir, "me/.local/share/agentyard"));
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

test("a folder of somebody else cannot say where the user's data lies, nor bring some of its own [P3][Q1]", async (t) => {
  const foreign = makePlace(t, { isClone: false });
  const told = (place: string, name: string) =>
    `${place}: ${name} would let this folder decide where all that you say is kept, and what is there already. ` +
    "Write it into ~/.config/agentyard/agentyard.yaml, or name the folder with AGENTYARD_CONFIG.";
  foreign.write(
    "config/agentyard.yaml",
    "data: ./theirs\nsession_db_path: ./theirs.db\nfiles_dir: ./files\nlogs:\n  dir: ./logs\n",
  );
  assert.deepEqual(await foreign.mistakes(), [
    told("config/agentyard.yaml:1", "data"),
    told("config/agentyard.yaml:2", "session_db_path"),
    told("config/agentyard.yaml:3", "files_dir"),
    told("config/agentyard.yaml:5", "logs.dir"),
  ]);
  const chosen = await foreign.load({ env: { AGENTYARD_CONFIG: foreign.dir } });
  assert.equal(chosen.paths.sessionDbPath, join(foreign.dir, "theirs.db"));

  foreign.write("config/agentyard.yaml", "");
  foreign.write(".env", "AGENTYARD_DATA=theirs\nSESSION_DB_PATH=db\nAGENTYARD_FILES_DIR=f\nAGENTYARD_LOGS=l\n");
  assert.deepEqual(await foreign.mistakes(), [
    told(".env:1", "data"),
    told(".env:2", "session_db_path"),
    told(".env:3", "files_dir"),
    told(".env:4", "logs.dir"),
  ]);
  // What the user says counts before it, so that nothing of theirs is left to refuse.
  const env = { AGENTYARD_DATA: "/mine", SESSION_DB_PATH: "/mine/db", AGENTYARD_FILES_DIR: "/f", AGENTYARD_LOGS: "/l" };
  assert.equal((await foreign.load({ env })).paths.dataDir, "/mine");
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

test("a configuration cannot be changed by the parts that use it [P5]", async (t) => {
  const config = await makePlace(t).load({ env: { MODEL_BASIC_API_KEY: "sk-base" } });
  const isFrozen = (value: unknown): boolean =>
    typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
  assert.ok(isFrozen(config));
});

/** What a configuration does, without where it comes from. */
function effective({ readings: _, stamps: __, ...config }: Config) {
  return config;
}
