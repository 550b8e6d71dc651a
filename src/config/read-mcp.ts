import type { McpServerSettings } from "../mcp/mcp.ts";
import { type ConfigFile, readText } from "./files.ts";
import { type McpEntry, type McpFile, readMcpFile, serverOf } from "./mcp-file.ts";
import type { Places } from "./places.ts";
import type { Problem } from "./problems.ts";
import type { Environment } from "./sources.ts";
import { type GivenRow, openWalker } from "./walker.ts";
import { hasSettings } from "./yaml-file.ts";
import { parseTree } from "./yaml-tree.ts";

export type McpRead = {
  readonly servers: readonly McpServerSettings[];
  readonly secrets: readonly string[];
  readonly rows: readonly GivenRow[];
};

const startTimeoutMs = 30_000;

/** What a program needs of our environment to be found and to find its way; nothing else of it is handed on. */
const handedOn = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SystemRoot", "APPDATA", "ComSpec"];

/**
 * The MCP servers of both files; of two with one id the project's is taken. A folder that nobody chose brings none: they
 * are programs that would be started, and addresses that would be told things.
 */
export async function readMcp(
  { projectMcp, userMcp, projectDir, isTrusted }: Places,
  variables: Environment,
  problems: Problem[],
): Promise<McpRead> {
  const project = await readFile(projectMcp, variables, problems);
  const user = await readFile(userMcp, variables, problems);
  const entries = new Map([...user.file.servers, ...project.file.servers].map((entry) => [entry.id, entry]));
  for (const { id: name, entry } of isTrusted ? [] : project.file.servers) {
    const place = { file: projectMcp.shown, line: entry.line };
    problems.push({ fault: "brings_server", name, userFile: userMcp.shown, place });
  }
  for (const [shown, { servers }] of [[projectMcp.shown, project.file] as const, [userMcp.shown, user.file] as const])
    for (const entry of servers) checkWay(entry, shown, problems);
  const given = {
    base: Object.fromEntries(handedOn.map((name) => [name, variables[name]])),
    startTimeoutMs: project.file.startTimeoutMs ?? user.file.startTimeoutMs ?? startTimeoutMs,
    folder: projectDir,
  };
  return {
    servers: [...entries.values()].map((entry) => serverOf(entry, given)),
    secrets: [...project.file.secrets, ...user.file.secrets],
    rows: [...project.rows, ...user.rows],
  };
}

/** It is a program or it has an address, and what belongs to the one is no use to the other. */
function checkWay({ id, entry, command, url }: McpEntry, file: string, problems: Problem[]): void {
  if ((command === undefined) !== (url === undefined)) return;
  // One that could not be read was told already.
  const isTold = problems.some(({ place }) => place?.file === file && place.line >= entry.line);
  if (!isTold) problems.push({ fault: "server_way", name: id, place: { file, line: entry.line } });
}

async function readFile(file: ConfigFile, variables: Environment, problems: Problem[]) {
  const text = (await readText(file, problems)) ?? "";
  const nothing: McpFile = { servers: [], startTimeoutMs: undefined, secrets: [] };
  if (!hasSettings(text)) return { file: nothing, rows: [] };
  const { entries, errors } = await parseTree(text);
  for (const { line, why } of errors) problems.push({ fault: "syntax", why, place: { file: file.shown, line } });
  const walker = openWalker(file.shown, "mcp_servers", problems);
  return { file: readMcpFile(errors.length === 0 ? entries : [], walker, variables), rows: walker.rows };
}
