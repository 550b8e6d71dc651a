// Our client as the official conformance tool runs it: connects to the address that it is given, signs in where that is
// asked for, and calls every tool.
//   npx @modelcontextprotocol/conformance client --command "node scripts/mcp-conformance.ts" --scenario tools_call
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../src/base/clock.ts";
import { systemIds } from "../src/base/ids.ts";
import { ok } from "../src/base/result.ts";
import { type McpParts, openMcp } from "../src/mcp/mcp.ts";
import type { Logger } from "../src/observe/observe.ts";
import { readForm } from "../src/protocol/form.ts";
import { localOwner } from "../src/protocol/ids.ts";
import type { ToolContext } from "../src/tools/tools.ts";
import { openWeb } from "../src/web/web.ts";
import { toolContext } from "../test/world/tools.ts";
import { webSettings } from "../test/world/web.ts";

const url = process.argv.at(-1) ?? "";
const given: { client_id?: string; client_secret?: string } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const kept = new Map<string, string>();
const secrets: McpParts["secrets"] = {
  put: async (_, name, value) => ok(void kept.set(name, value)),
  open: async (_, name) => ok(kept.get(name)),
  drop: async (_, name) => ok(kept.delete(name)),
};
const note = (message: string, fields: object = {}) => console.error(message, JSON.stringify(fields));
const logger: Logger = {
  ...{ path: undefined, error: note, warn: note, info: note, debug: note },
  ...{ flush: async () => {}, close: async () => {} },
};
const client = given.client_id === undefined ? undefined : { id: given.client_id, secret: given.client_secret };
const mcp = openMcp({
  ...{ clock: systemClock, ids: systemIds, logger, version: "0", secrets },
  web: openWeb({ clock: systemClock, settings: () => webSettings, proxyEnv: () => ({}) }),
  dataDir: mkdtempSync(join(tmpdir(), "agentyard-conformance-")),
  servers: [
    {
      ...{ id: "it", isOn: true, startTimeoutMs: 60_000, callTimeoutMs: undefined, tools: new Map() },
      reached: { by: "address", url, headers: {}, client, issuer: undefined, scope: undefined },
    },
  ],
});

/** Whoever is asked fills in what is there by default. */
const askForm: ToolContext["askForm"] = async ({ fields }) => {
  const read = readForm(fields, "{}");
  return read.ok ? { action: "accept", content: read.value } : { action: "decline" };
};
const argumentsOf: Readonly<Record<string, object>> = { mcp__it__add_numbers: { a: 5, b: 3 } };

async function signIn(): Promise<void> {
  const begun = await mcp.beginSignIn(localOwner, "it", "http://localhost:3000/callback");
  if (!begun.ok) return note("no link", begun.failure);
  const { headers } = await fetch(begun.value.url, { redirect: "manual" });
  const { searchParams } = new URL(headers.get("location") ?? "http://nowhere");
  const value = (name: string) => searchParams.get(name) ?? undefined;
  const answer = { state: value("state") ?? "", code: value("code"), iss: value("iss"), error: value("error") };
  note("signed in", await mcp.finishSignIn(localOwner, answer));
}

/** True when the server wants to know who we are. */
async function callAll(): Promise<boolean> {
  for (const tool of mcp.tools(localOwner)) {
    const opened = tool.open({ ...argumentsOf[tool.name] });
    const output = opened.ok ? await opened.value.run(toolContext({ askForm })) : opened;
    note(tool.name, output);
    if (!output.ok && output.failure.code === "mcp_sign_in_needed") return true;
  }
  return false;
}

const started = await mcp.restart(localOwner, "it");
if (started.ok && started.value.state === "sign_in_needed") await signIn();
const isAskedAgain = await callAll();
if (isAskedAgain && process.env.MCP_CONFORMANCE_SCENARIO !== "auth/scope-retry-limit") {
  await signIn();
  await callAll();
}
await mcp.close();
