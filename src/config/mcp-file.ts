import type { McpServerSettings, McpToolSettings } from "../mcp/mcp.ts";
import type { Kind } from "./first-kinds.ts";
import { exactAddress, nameLike, text, toggle, wholeNumber } from "./kinds.ts";
import type { Environment } from "./sources.ts";
import type { Take, Walker } from "./walker.ts";
import type { Entry, Item } from "./yaml-tree.ts";

/** One server as a file has it; what it does not say is undefined. */
export type McpEntry = {
  readonly id: string;
  readonly entry: Entry;
  isOn?: boolean | undefined;
  command?: string | undefined;
  args?: readonly string[] | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  folder?: string | undefined;
  url?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  issuer?: string | undefined;
  scope?: string | undefined;
  startTimeoutMs?: number | undefined;
  callTimeoutMs?: number | undefined;
  readonly tools: Map<string, McpToolSettings>;
};

export type McpFile = {
  readonly servers: McpEntry[];
  startTimeoutMs: number | undefined;
  /** Values that must not be shown: of variables and headers, which are mostly keys. */
  readonly secrets: string[];
};

type Reading = { readonly walker: Walker; readonly file: McpFile; readonly variables: Environment };

/** One `mcp_servers.yaml`, checked. `variables`: what `${NAME}` may stand for. */
export function readMcpFile(entries: readonly Entry[], walker: Walker, variables: Environment): McpFile {
  const file: McpFile = { servers: [], startTimeoutMs: undefined, secrets: [] };
  const reading = { walker, file, variables };
  walker.entries(entries, "", {
    servers: (all, name) => walker.named(all, name, "files", (entry, key) => readServer(entry, key, reading)),
    settings: (entry, name) =>
      walker.group(entry, name, {
        startup_timeout: (inside, key) => {
          file.startTimeoutMs = msOf(walker.value(inside, key, seconds)?.value);
        },
      }),
  });
  return file;
}

const seconds = wholeNumber(1, 3_600);
const secondMs = 1_000;
const msOf = (given: number | undefined) => (given === undefined ? undefined : given * secondMs);

/** It stands in the names of tools, which have 64 characters. */
const isId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const idKind = nameLike(isId, "files");

type TextField = "command" | "folder" | "url" | "clientId" | "clientSecret" | "issuer" | "scope";

function readServer(entry: Entry, name: string, reading: Reading): void {
  const { walker, file } = reading;
  const { key: id } = entry;
  if (!isId.test(id)) return refuseName(entry, "servers", reading);
  const server: McpEntry = { id, entry, tools: new Map() };
  const into =
    (field: TextField, kind: Kind<string> = text): Take =>
    (inside, key) => {
      const filled = filledIn(inside, key, reading);
      const content = { form: "value", value: filled } as const;
      if (filled !== undefined) server[field] = walker.value({ ...inside, content }, key, kind)?.value;
    };
  const secret = walker.rows.length;
  walker.group(entry, name, {
    ...{
      command: into("command"),
      folder: into("folder"),
      url: into("url", exactAddress("https://example.com/mcp")),
      scope: into("scope"),
    },
    ...{ client_id: into("clientId"), client_secret: into("clientSecret") },
    issuer: into("issuer", exactAddress("https://id.example.com")),
    enabled: (inside, key) => {
      server.isOn = walker.value(inside, key, toggle)?.value;
    },
    args: (inside, key) => {
      server.args = walker.list(inside, key, "--stdio")?.flatMap((item) => filledIn(item, key, reading) ?? []);
    },
    env: (inside, key) => {
      server.env = readNames(inside, key, reading);
    },
    headers: (inside, key) => {
      server.headers = readNames(inside, key, reading);
    },
    startup_timeout: (inside, key) => {
      server.startTimeoutMs = msOf(walker.value(inside, key, seconds)?.value);
    },
    call_timeout: (inside, key) => {
      server.callTimeoutMs = msOf(walker.value(inside, key, seconds)?.value);
    },
    tools: (inside, key) =>
      walker.named(inside, key, "read_file", (tool, at) => readTool(tool, at, { server, walker })),
  });
  hide(walker, secret, file, server);
  file.servers.push(server);
}

function refuseName(entry: Entry, name: string, { walker }: Pick<Reading, "walker">): void {
  const setting = { variables: [], kind: idKind };
  walker.problems.push({ fault: "value", name, value: entry.key, setting, place: walker.placeOf(entry) });
}

/** Of a secret only that it is set. */
function hide({ rows }: Walker, from: number, { secrets }: McpFile, { clientSecret }: McpEntry): void {
  if (clientSecret === undefined) return;
  secrets.push(clientSecret);
  for (const [index, row] of rows.entries())
    if (index >= from && row.name.endsWith(".client_secret")) rows[index] = { ...row, value: "set" };
}

/** A text with the variables in it put in; undefined where one is missing, which is told. */
function filledIn(item: Item, name: string, { walker, variables }: Reading): string | undefined {
  const { content } = item;
  if (content.form !== "value") {
    if (content.form !== "nothing") walker.value(item, name, text);
    return undefined;
  }
  let isWhole = true;
  const filled = String(content.value).replaceAll(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, variable: string, otherwise?: string) => {
      const given = variables[variable] || otherwise;
      if (given === undefined) {
        isWhole = false;
        walker.problems.push({ fault: "variable_missing", name, variable, place: walker.placeOf(item) });
      }
      return given ?? "";
    },
  );
  return isWhole ? filled : undefined;
}

/** Variables and headers: by names of their own, with values that are nobody's business. */
function readNames(entry: Entry, name: string, reading: Reading): Readonly<Record<string, string>> {
  const { walker, file } = reading;
  const found: Record<string, string> = {};
  walker.named(entry, name, "API_KEY", (inside, key) => {
    if (!/^[\w-]{1,100}$/.test(inside.key)) return refuseName(inside, name, reading);
    const value = filledIn(inside, key, reading);
    if (value === undefined) return;
    found[inside.key] = value;
    if (value.length >= secretCharactersMin) file.secrets.push(value.replace(/^Bearer /i, ""));
    walker.rows.push({ name: `mcp_servers.${key}`, value: "set", source: walker.sourceOf(inside) });
  });
  return found;
}

/** Shorter values are words that stand in many lines. */
const secretCharactersMin = 8;

/** What all model families take as the name of a tool. */
const aliasKind = nameLike(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "read_document");

function readTool(
  entry: Entry,
  name: string,
  { server, walker }: { readonly server: McpEntry; readonly walker: Walker },
): void {
  let [isOn, alias, description]: [boolean, string | undefined, string | undefined] = [true, undefined, undefined];
  walker.group(entry, name, {
    enabled: (inside, key) => {
      isOn = walker.value(inside, key, toggle)?.value ?? true;
    },
    alias: (inside, key) => {
      alias = walker.value(inside, key, aliasKind)?.value;
    },
    description: (inside, key) => {
      description = walker.value(inside, key, text)?.value;
    },
  });
  server.tools.set(entry.key, { isOn, alias, description });
}

/** What a server is without: where it says nothing, this holds. */
export function serverOf(
  entry: McpEntry,
  { base, startTimeoutMs, folder }: { base: Environment; startTimeoutMs: number; folder: string },
): McpServerSettings {
  const { id, isOn = true, command, args = [], env = {}, url = "", headers = {}, clientId, clientSecret } = entry;
  const common = {
    ...{ id, isOn, tools: entry.tools, callTimeoutMs: entry.callTimeoutMs },
    startTimeoutMs: entry.startTimeoutMs ?? startTimeoutMs,
  };
  if (command === undefined) {
    const client = clientId === undefined ? undefined : { id: clientId, secret: clientSecret };
    const { issuer, scope } = entry;
    return { ...common, reached: { by: "address", url, headers, client, issuer, scope } };
  }
  const given = Object.fromEntries(Object.entries(base).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return {
    ...common,
    reached: { by: "program", command, args, env: { ...given, ...env }, cwd: entry.folder ?? folder },
  };
}
