import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { localOwner } from "../../src/protocol/ids.ts";
import { builtins, openRegistry, type ToolSetting } from "../../src/tools/tools.ts";
import { all } from "../world/events.ts";
import { operatorFolder } from "../world/judging.ts";
import { calls, modelServer, says } from "../world/model-server.ts";
import { startYard } from "../world/yard.ts";

const shippedTools = readFileSync(join(import.meta.dirname, "../../config/tools.yaml"), "utf8");

function tiersOf(settings: readonly ToolSetting[]) {
  const registry = openRegistry({ builtins, sources: [], settings, onLeftOut: () => {} });
  return registry.list(localOwner).map(({ name, tier }) => [name, tier]);
}

test("the tools.yaml that comes with a clone changes nothing, and without its comment signs it states the defaults [P5][T1]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).tools, []);
  place.write("config/tools.yaml", shippedTools);
  assert.deepEqual((await place.load()).tools, []);
  place.write("config/tools.yaml", shippedTools.replaceAll(/^# /gm, ""));
  const stated = (await place.load()).tools;
  assert.deepEqual(tiersOf(stated), tiersOf([]));
  assert.equal(stated.length, builtins.length);
  place.write("config/tools.yaml", shippedTools.replaceAll(/^#:? /gm, ""));
  assert.deepEqual((await place.load()).tools.slice(builtins.length), [
    { name: "mcp__github__delete_repo", tier: "off" },
    { name: "mcp__github__list_issues", tier: "loaded" },
    { name: "find_invoice", tier: "on_demand", words: "billing money customers" },
  ]);
});

test("the project's tools.yaml comes over the user's, tool by tool, by any name of a tool; a change is noticed [P5][T1]", async (t) => {
  const place = operatorFolder(t);
  const user = "optional:\n  python: { enabled: false }\n  now: { enabled: no, tags: [clock] }\n";
  place.write("me/.config/agentyard/tools.yaml", user);
  place.write(
    "config/tools.yaml",
    "core: [now]\noptional:\n  read_file: { available_to_subagent: true, category: files }\n",
  );
  const config = await place.load();
  assert.deepEqual(config.tools, [
    { name: "execute_code", tier: "off" },
    { name: "now", tier: "loaded", words: "clock" },
    { name: "read_file", tier: "loaded", words: "files" },
  ]);
  const rows = explainConfig(config).filter(({ name }) => name.startsWith("tools."));
  assert.deepEqual(rows.at(-1), { name: "tools.optional.now.tags", value: "clock", source: rows.at(-1)?.source });
  assert.deepEqual(rows[0], { name: "tools.core", value: "now", source: "config/tools.yaml:1" });
  place.write("config/tools.yaml", "core: {}\n");
  assert.equal(hasChanged(config), true);
  const reloaded = await place.reload(config);
  assert.deepEqual(reloaded.ok && reloaded.value.config.tools.length, 2);
});

const toolsMistakes = rowsOf(`
  cores: {} → 1: there is no setting cores. Write core instead.
  optional:¶  now:¶    enable: true → 3: there is no setting optional.now.enable. Write optional.now.enabled instead.
  core:¶  red_file: → 2: there is no tool red_file. Write read_file instead.
  core: [read file] → 1: there is no tool read file. Write read_file instead.
  optional:¶  now: { enabled: perhaps } → 2: optional.now.enabled is perhaps. Write true or false.
  core: now → 1: core holds other settings. Write them below it, such as read_file.
  core:¶  now: { tags: web } → 2: core.now.tags is not a list. Write one line for each below it: - web.`);

test("a folder that the program was only started in may switch tools off, but not on again what the user switched off [P5][T1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  place.write("me/.config/agentyard/tools.yaml", "optional: { execute_code: { enabled: false } }\n");
  place.write("config/tools.yaml", "core: [execute_code]\noptional: { now: { enabled: false } }\n");
  const [mistake, ...others] = await place.mistakes();
  assert.match(
    mistake ?? "",
    /^config\/tools\.yaml:1: this folder would switch the tool execute_code on again\. .*~\/\.config/,
  );
  assert.deepEqual(others, []);
  place.write("config/tools.yaml", "optional: { now: { enabled: false } }\n");
  assert.deepEqual(
    (await place.load()).tools.map(({ name, tier }) => `${name} ${tier}`),
    ["execute_code off", "now off"],
  );
});

test("a changed tools.yaml counts from the next turn on: what is off cannot be called, what is loaded is told of [P5][T1]", async (t) => {
  const place = operatorFolder(t);
  await using model = await modelServer([calls(["now", {}]), says("one"), calls(["now", {}]), says("two")]);
  const told = () => model.asked.map(({ body }) => body.tools?.map((tool) => tool.function.name) ?? []);
  let text = "core: [now]";
  await using yard = await startYard({
    model,
    reload: async () => {
      place.write("config/tools.yaml", text);
      return { ...yard.config, tools: (await place.load()).tools };
    },
  });
  const { conversation } = await yard.ask("one");
  text = "optional: { now: { enabled: false }, remember: }";
  const { events } = await yard.ask("two", { conversation });
  assert.deepEqual(
    all(events, "call.finished").map(({ outcome, failure }) => `${outcome} ${failure?.code}`),
    ["ok undefined", "error tool_not_found"],
  );
  assert.deepEqual(
    told().map((names) => `${names.includes("now")} ${names.includes("remember")}`),
    ["true true", "true true", "false false", "false false"],
  );
  assert.deepEqual(
    all(events, "recipe.set").map(({ cause }) => cause),
    ["start", "tools_changed"],
  );
});

const shippedSkills = readFileSync(join(import.meta.dirname, "../../config/skills.yaml"), "utf8");
const off = { isEnabled: true, source: undefined };
const usual = {
  "data-analysis": { ...off, fileTypes: ["csv", "tsv", "parquet"] },
  pdf: { ...off, fileTypes: ["pdf"] },
  slides: { ...off, fileTypes: ["pptx"] },
  spreadsheets: { ...off, fileTypes: ["xlsx", "xlsm", "xls", "ods"] },
};

test("without any file the usual types link skills, and the file that comes with a clone states them [P5][K1]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).skills.byId, usual);
  place.write("config/skills.yaml", shippedSkills);
  assert.deepEqual((await place.load()).skills.byId, usual);
  place.write("config/skills.yaml", shippedSkills.replaceAll(/^# /gm, ""));
  const types = (byId: Readonly<Record<string, { readonly fileTypes: readonly string[] }>>) =>
    Object.fromEntries(Object.entries(byId).map(([id, { fileTypes }]) => [id, fileTypes]));
  assert.deepEqual(types((await place.load()).skills.byId), types(usual));
  place.write("config/skills.yaml", shippedSkills.replaceAll(/^#:? /gm, ""));
  assert.deepEqual((await place.load()).skills.byId["our-reports"]?.fileTypes, ["docx"]);
});

test("the project's words on skills come over the user's, value by value, and a change is noticed [P5][K1]", async (t) => {
  const place = operatorFolder(t);
  place.write(
    "me/.config/agentyard/skills.yaml",
    "skills:\n  mine: { auto_load_on_file_types: [.DOCX] }\n  pdf: { enabled: false }\n",
  );
  place.write("config/skills.yaml", "skills:\n  mine:\n    enabled: no\n  slides: { auto_load_on_file_types: [] }\n");
  const config = await place.load();
  const { mine, pdf, slides } = config.skills.byId;
  assert.deepEqual(mine, { isEnabled: false, source: "config/skills.yaml:3", fileTypes: ["docx"] });
  assert.deepEqual([pdf?.isEnabled, pdf?.fileTypes], [false, ["pdf"]]);
  assert.deepEqual(slides?.fileTypes, []);
  const rows = explainConfig(config).filter(({ name }) => name.startsWith("skills."));
  assert.deepEqual(rows[0], { name: "skills.skills.mine.enabled", value: "false", source: "config/skills.yaml:3" });
  place.write("config/skills.yaml", "skills: {}\n");
  assert.equal(hasChanged(config), true);
});

const skillsMistakes = rowsOf(`
  skills:¶  pdf:¶    enable: true → 3: there is no setting skills.pdf.enable. Write skills.pdf.enabled instead.
  skills:¶  My Skill: {} → 2: skills is My Skill. Write a name of letters, digits and . _ - such as pdf.
  skills:¶  pdf: { enabled: maybe } → 2: skills.pdf.enabled is maybe. Write true or false.
  skills:¶  pdf: { auto_load_on_file_types: pdf } → 2: skills.pdf.auto_load_on_file_types is not a list. Write one line for each below it: - pdf.`);

test("skills are looked for in the folders of other programs, the nearest first, and only in folders that somebody chose [K1][P5]", async (t) => {
  const place = operatorFolder(t);
  const { places } = (await place.load()).skills;
  assert.deepEqual(
    places.map(({ shown, kind }) => `${kind} ${shown}`),
    [
      "project .agents/skills",
      "project .claude/skills",
      "user ~/.config/agentyard/skills",
      "user ~/.agents/skills",
      "user ~/.claude/skills",
      "built_in skills",
    ],
  );
  assert.ok(places.every(({ isTrusted }) => isTrusted));
  const elsewhere = operatorFolder(t, { isClone: false });
  const trusted = async (env?: Record<string, string>) =>
    (await elsewhere.load(env)).skills.places.map(({ kind, isTrusted }) => `${kind} ${isTrusted}`);
  const others = ["user true", "user true", "user true", "built_in true"];
  assert.deepEqual(await trusted(), ["project false", "project false", ...others]);
  assert.deepEqual(await trusted({ AGENTYARD_CONFIG: elsewhere.dir }), ["project true", "project true", ...others]);
});

const shippedServers = readFileSync(join(import.meta.dirname, "../../config/mcp_servers.yaml"), "utf8");

test("without any file there are no MCP servers, and the examples of the one that comes with a clone can be used [P5][G1]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).mcp, []);
  for (const text of [shippedServers, shippedServers.replaceAll(/^# /gm, "")]) {
    place.write("config/mcp_servers.yaml", text);
    assert.deepEqual((await place.load()).mcp, []);
  }
  place.write("config/mcp_servers.yaml", shippedServers.replaceAll(/^#:? /gm, ""));
  const { mcp } = await place.load({ PATH: "/bin", HOME: "/me", SECRET_TOKEN: "not for servers" });
  assert.deepEqual(mcp, [
    {
      ...{ id: "files", isOn: true, startTimeoutMs: 30_000, callTimeoutMs: undefined },
      reached: {
        ...{ by: "program", command: "npx", cwd: place.dir, env: { PATH: "/bin", HOME: "/me" } },
        args: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/documents"],
      },
      tools: new Map([
        ["read_text_file", { isOn: true, alias: "read_document", description: undefined }],
        ["list_directory", { isOn: true, alias: undefined, description: undefined }],
      ]),
    },
    {
      ...{ id: "search", isOn: false, startTimeoutMs: 30_000, callTimeoutMs: undefined, tools: new Map() },
      reached: {
        ...{ by: "program", command: "search-server", args: [], cwd: place.dir },
        env: { PATH: "/bin", HOME: "/me", SEARCH_API_KEY: "" },
      },
    },
    {
      ...{ id: "tickets", isOn: true, startTimeoutMs: 30_000, callTimeoutMs: 60_000, tools: new Map() },
      reached: {
        ...{ by: "address", url: "https://mcp.example.com/mcp", headers: { "X-Team": "yard" } },
        ...{ client: undefined, issuer: undefined, scope: undefined },
      },
    },
  ]);
});

test("variables are put into the settings of MCP servers, and no value of them is shown or logged [P5][G1][Q1]", async (t) => {
  const place = operatorFolder(t);
  place.write(".env", "TICKETS_TOKEN=abcdefgh12345\n");
  place.write(
    "me/.config/agentyard/mcp_servers.yaml",
    'servers:\n  tickets:\n    url: https://a.example/mcp\n    headers: { Authorization: "Bearer ${TICKETS_TOKEN}" }\n    client_id: me\n    client_secret: hidden-secret\n    issuer: https://id.example\n',
  );
  place.write("config/mcp_servers.yaml", "servers:\n  own: { command: own, env: { KEY: written-out-12 } }\n");
  const config = await place.load();
  assert.deepEqual(
    config.mcp.map(({ id, reached }) => [id, reached.by === "address" ? reached.headers : reached.env]),
    [
      ["tickets", { Authorization: "Bearer abcdefgh12345" }],
      ["own", { KEY: "written-out-12" }],
    ],
  );
  const [tickets] = config.mcp;
  assert.equal(tickets?.reached.by === "address" && tickets.reached.issuer, "https://id.example");
  const rows = explainConfig(config).filter(({ name }) => name.startsWith("mcp_servers."));
  assert.deepEqual(
    rows.map(({ name, value, source }) => `${name} = ${value} (${source})`),
    [
      "mcp_servers.servers.own.command = own (config/mcp_servers.yaml:2)",
      "mcp_servers.servers.own.env.KEY = set (config/mcp_servers.yaml:2)",
      "mcp_servers.servers.tickets.url = https://a.example/mcp (~/.config/agentyard/mcp_servers.yaml:3)",
      "mcp_servers.servers.tickets.headers.Authorization = set (~/.config/agentyard/mcp_servers.yaml:4)",
      "mcp_servers.servers.tickets.client_id = me (~/.config/agentyard/mcp_servers.yaml:5)",
      "mcp_servers.servers.tickets.client_secret = set (~/.config/agentyard/mcp_servers.yaml:6)",
      "mcp_servers.servers.tickets.issuer = https://id.example (~/.config/agentyard/mcp_servers.yaml:7)",
    ],
  );
  for (const secret of ["abcdefgh12345", "written-out-12", "hidden-secret"])
    assert.ok(config.secrets.includes(secret), secret);
  place.write("config/mcp_servers.yaml", "servers: {}\n");
  assert.equal(hasChanged(config), true);
});

const serversMistakes = rowsOf(`
  servers:¶  a:¶    comand: x → 3: there is no setting servers.a.comand. Write servers.a.command instead.
  servers:¶  a: { enabled: true } → 2: the MCP server a needs either a command or a url. Write command: for a program that is started here, or url: for a server that is reached by its address.
  servers:¶  a: { command: x, url: https://x.example } → 2: the MCP server a needs either a command or a url. Write command: for a program that is started here, or url: for a server that is reached by its address.
  servers:¶  a:¶    command: x¶    args: ["\${NO_SUCH}"] → 4: servers.a.args needs the variable NO_SUCH, which is not set. Set NO_SUCH in .env, or write \${NO_SUCH:-something} for when it is not.
  servers:¶  a: { url: here } → 2: servers.a.url is here. Write an address such as https://example.com/mcp.
  servers:¶  a b: { command: x } → 2: servers is a b. Write a name of letters, digits and . _ - such as files.
  servers:¶  a:¶    command: x¶    tools:¶      t: { alias: with blanks } → 5: servers.a.tools.t.alias is with blanks. Write a name of letters, digits and . _ - such as read_document.
  settings: { startup_timeout: 0 } → 1: settings.startup_timeout is 0. Write a whole number from 1 to 3600.`);

test("a mistake in tools.yaml, skills.yaml or mcp_servers.yaml is an error with file, line and what to write [P5][T1][K1][G1]", async (t) => {
  const files = { "tools.yaml": toolsMistakes, "skills.yaml": skillsMistakes, "mcp_servers.yaml": serversMistakes };
  for (const [file, rows] of Object.entries(files)) {
    const place = operatorFolder(t);
    for (const [yaml, mistake] of rows) {
      place.write(`config/${file}`, yaml);
      assert.deepEqual(await place.mistakes(), [`config/${file}:${mistake}`]);
    }
  }
});

test("a folder that the program was only started in starts no MCP server [P5][G1][Q1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  place.write("config/mcp_servers.yaml", "servers:\n  evil: { command: sh, args: [-c, id] }\n");
  assert.deepEqual(await place.mistakes(), [
    "config/mcp_servers.yaml:2: this folder would start or call the MCP server evil. Write it into ~/.config/agentyard/mcp_servers.yaml, or name the folder with AGENTYARD_CONFIG.",
  ]);
  assert.deepEqual(await place.mistakes({ AGENTYARD_CONFIG: place.dir }), []);
});

/** Of each line the text of a file, `¶` for a new line, and what is said of it. */
function rowsOf(table: string): (readonly [yaml: string, mistake: string])[] {
  return table
    .trim()
    .split(/\n\s*/)
    .map((line) => line.split(" → "))
    .map(([yaml = "", mistake = ""]) => [yaml.replaceAll("¶", "\n"), mistake]);
}
