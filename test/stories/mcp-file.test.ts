import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { explainConfig, hasChanged } from "../../src/config/config.ts";
import { operatorFolder } from "../world/judging.ts";

const shipped = readFileSync(join(import.meta.dirname, "../../config/mcp_servers.yaml"), "utf8");

test("without any file there are no MCP servers, and the examples of the one that comes with a clone can be used [P5][G1]", async (t) => {
  const place = operatorFolder(t);
  assert.deepEqual((await place.load()).mcp, []);
  for (const text of [shipped, shipped.replaceAll(/^# /gm, "")]) {
    place.write("config/mcp_servers.yaml", text);
    assert.deepEqual((await place.load()).mcp, []);
  }
  place.write("config/mcp_servers.yaml", shipped.replaceAll(/^#:? /gm, ""));
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

const mistakes: readonly [what: string, yaml: string, mistake: string][] = [
  [
    "a misspelt key",
    "servers:\n  a:\n    comand: x",
    "3: there is no setting servers.a.comand. Write servers.a.command instead.",
  ],
  [
    "a server that is neither a program nor an address",
    "servers:\n  a: { enabled: true }",
    "2: the MCP server a needs either a command or a url. Write command: for a program that is started here, or url: for a server that is reached by its address.",
  ],
  [
    "a server that is both",
    "servers:\n  a: { command: x, url: https://x.example }",
    "2: the MCP server a needs either a command or a url. Write command: for a program that is started here, or url: for a server that is reached by its address.",
  ],
  [
    "a variable that is not set",
    'servers:\n  a:\n    command: x\n    args: ["${NO_SUCH}"]',
    "4: servers.a.args needs the variable NO_SUCH, which is not set. Set NO_SUCH in .env, or write ${NO_SUCH:-something} for when it is not.",
  ],
  [
    "an address that is none",
    "servers:\n  a: { url: here }",
    "2: servers.a.url is here. Write an address such as https://example.com/mcp.",
  ],
  [
    "an id that no tool can be named by",
    "servers:\n  a b: { command: x }",
    "2: servers is a b. Write a name of letters, digits and . _ - such as files.",
  ],
  [
    "an alias that no model takes",
    "servers:\n  a:\n    command: x\n    tools:\n      t: { alias: with blanks }",
    "5: servers.a.tools.t.alias is with blanks. Write a name of letters, digits and . _ - such as read_document.",
  ],
  [
    "a time that is none",
    "settings: { startup_timeout: 0 }",
    "1: settings.startup_timeout is 0. Write a whole number from 1 to 3600.",
  ],
];
for (const [what, yaml, mistake] of mistakes) {
  test(`${what} in mcp_servers.yaml is an error with file, line and what to write [P5][G1]`, async (t) => {
    const place = operatorFolder(t);
    place.write("config/mcp_servers.yaml", yaml);
    assert.deepEqual(await place.mistakes(), [`config/mcp_servers.yaml:${mistake}`]);
  });
}

test("the same MCP server twice in one file is an error that names the line [P5][G1]", async (t) => {
  const place = operatorFolder(t);
  place.write("config/mcp_servers.yaml", "servers:\n  a: { command: x }\n  a: { command: y }\n");
  const [mistake = ""] = await place.mistakes();
  assert.match(mistake, /^config\/mcp_servers\.yaml:3: .*unique/);
});

test("a folder that the program was only started in starts no MCP server [P5][G1][Q1]", async (t) => {
  const place = operatorFolder(t, { isClone: false });
  place.write("config/mcp_servers.yaml", "servers:\n  evil: { command: sh, args: [-c, id] }\n");
  assert.deepEqual(await place.mistakes(), [
    "config/mcp_servers.yaml:2: this folder would start or call the MCP server evil. Write it into ~/.config/agentyard/mcp_servers.yaml, or name the folder with AGENTYARD_CONFIG.",
  ]);
  assert.deepEqual(await place.mistakes({ AGENTYARD_CONFIG: place.dir }), []);
});
