import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { HitlRules } from "../approvals/approvals.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { WindowLimits } from "../context/context.ts";
import type { ServerSettings } from "../http/http.ts";
import type { McpServerSettings } from "../mcp/mcp.ts";
import type { SlotSettings } from "../models/models.ts";
import { type LogLevel, redact, type TraceSettings, traceSecrets, traceSettingsFrom } from "../observe/observe.ts";
import type { AgentRole } from "../protocol/agent.ts";
import type { Slot } from "../protocol/message.ts";
import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { NetworkSettings, SandboxSettings } from "../sandbox/sandbox.ts";
import type { SkillSettings } from "../skills/skills.ts";
import type { ToolFile, ToolSetting } from "../tools/tools.ts";
import type { WebSettings } from "../web/web.ts";
import type { Language } from "../words/words.ts";
import type { Disk, WorkspaceLimits } from "../workspace/workspace.ts";
import { type ConfigFile, programsIn, stampOf } from "./files.ts";
import { openSources } from "./open-sources.ts";
import { findPlaces, type Places, type Surroundings } from "./places.ts";
import { type ConfigFailure, type Problem, toFailures } from "./problems.ts";
import { readAgents } from "./read-agents.ts";
import { type BudgetsRead, readBudgets } from "./read-budgets.ts";
import { type DocumentSettings, readDocuments } from "./read-documents.ts";
import { readLanguage } from "./read-language.ts";
import { readMcp } from "./read-mcp.ts";
import { type ProxyEnv, readProxies } from "./read-proxies.ts";
import { readRules } from "./read-rules.ts";
import {
  type HostingSettings,
  type ProviderSettings,
  readHosting,
  readNetwork,
  readProvider,
  readSandbox,
} from "./read-sandbox.ts";
import { changeServer, readServer } from "./read-server.ts";
import { readSkills } from "./read-skills.ts";
import { readTools } from "./read-tools.ts";
import { readWeb } from "./read-web.ts";
import type { Reader, Reading } from "./reader.ts";
import { findOwn, refuseForeign } from "./refuse-foreign.ts";
import { svcSettings } from "./sandbox-settings.ts";
import { secretsAmong } from "./secrets.ts";
import { knownVariables, nameOf, settings } from "./settings.ts";
import { type ConfigNote, noteUnknown, readSlots } from "./slots.ts";
import type { Flags } from "./sources.ts";
import type { GivenRow } from "./walker.ts";

export { findPlaces, processEnvironment } from "./places.ts";
export type { ConfigFailure } from "./problems.ts";
export { readYaml } from "./read-yaml.ts";
export type { ConfigNote } from "./slots.ts";
export { keyVariableOf, windowVariableOf } from "./slots.ts";

/** Everything that can be set, checked and frozen. */
export type Config = {
  readonly language: Language;
  /** How a chat looks where nothing else is asked for. */
  readonly terminal: { readonly surface: "rich" | "plain" | "screen_reader" };
  readonly paths: {
    readonly dataDir: string;
    readonly sessionDbPath: string;
    /** The data directory, unless several processes share a database server and these files. */
    readonly filesDir: string;
    readonly logsDir: string;
  };
  readonly storage: {
    readonly synchronous: "full" | "normal";
    /** A database server in place of the file. */
    readonly database:
      | {
          readonly url: string;
          readonly connectionsMax: number;
          readonly statementMsMax: number;
          readonly awayMsMax: number;
          /** Where other servers reach this one; a free port where the database sees us unless it is set. */
          readonly peerAddress: string | undefined;
        }
      | undefined;
  };
  /** What stored secrets are sealed under, where the operator has chosen it. */
  readonly secretKey: string | undefined;
  readonly logs: { readonly level: LogLevel };
  readonly loop: {
    readonly stepsMax: number;
    readonly agentStepsMax: number;
    readonly agentsAtOnceMax: number;
    readonly crashesMax: number;
    readonly parallelCallsMax: number;
    /** Attempts at one model call, the first one included. */
    readonly attemptsMax: number;
    readonly toolTimeoutMs: number;
  };
  readonly context: {
    readonly messagesMax: number;
    readonly isManaged: boolean;
    readonly window: WindowLimits;
    readonly summaryTimeoutMs: number;
  };
  /** What may be spent, and what models cost. */
  readonly budgets: BudgetsRead["budgets"];
  readonly prices: BudgetsRead["prices"];
  /** `cleanAfterMs`: how long nobody must have used a workspace before its files are moved to the trash; 0 is never. */
  readonly workspace: { readonly limits: WorkspaceLimits; readonly cleanAfterMs: number; readonly disk: Disk };
  readonly uploads: UploadPolicy;
  readonly documents: DocumentSettings;
  readonly sandbox: SandboxSettings;
  /** Who starts sandboxes. */
  readonly provider: ProviderSettings;
  readonly hosting: HostingSettings;
  readonly network: NetworkSettings;
  readonly server: ServerSettings;
  /** Whom tools reach out there. */
  readonly web: WebSettings;
  /** Where traces go; undefined where nobody wants any. */
  readonly traces: TraceSettings | undefined;
  readonly models: {
    /** Only the slots that are filled. */
    readonly slots: { readonly [slot in Slot]?: SlotSettings };
    /** Calls at once to one server. */
    readonly callsMax: number;
    readonly firstDataTimeoutMs: number;
    readonly idleTimeoutMs: number;
    readonly proxyEnv: ProxyEnv;
  };
  /** When a person is asked about a call. */
  readonly approvals: HitlRules;
  /** The agents there are; the main one first. */
  readonly agents: readonly AgentRole[];
  /** What `tools.yaml` says of tools. */
  readonly tools: readonly ToolSetting[];
  /** Where the operator's own tools lie. */
  readonly toolFolders: readonly ConfigFile[];
  /** Where skills lie, and what is said of single ones. */
  readonly skills: SkillSettings;
  /** The MCP servers whose tools agents may use. */
  readonly mcp: readonly McpServerSettings[];
  /** The operator's own programs that look at calls: loaded once, at the start. */
  readonly checkers: readonly ConfigFile[];
  /** What a person should know about this configuration. */
  readonly notes: readonly ConfigNote[];
  /** Values that must never be shown or logged. */
  readonly secrets: readonly string[];
  readonly readings: readonly Reading[];
  /** Keys of files that have no settings by one name. */
  readonly rows: readonly GivenRow[];
  readonly stamps: readonly { readonly file: ConfigFile; readonly stamp: string }[];
};

export type ConfigRequest = Surroundings & { readonly flags: Flags };

/** Flag, then environment, `.env`, project file, user file, default. All mistakes are told at once. */
export async function loadConfig(request: ConfigRequest): Promise<Result<Config, readonly ConfigFailure[]>> {
  const places = findPlaces(request);
  // Before the files are read: what changes meanwhile is then noticed at the next turn.
  const stamps = filesOf(places).map((file) => ({ file, stamp: stampOf(file) }));
  const known = { settings: [...Object.values(settings), ...Object.values(svcSettings)], variables: knownVariables() };
  const { reader, variables } = await openSources(request, places, known);
  const language = readLanguage(reader, request.env);
  // By the names that OpenTelemetry and LangSmith have given them; the environment is stronger than `.env`.
  // Somebody else's folder must not have the user's words sent anywhere; what its `.env` says is for other programs.
  const trusted = places.isTrusted ? Object.fromEntries(variables.toReversed()) : request.env;
  const traces = traceSettingsFrom(trusted);
  const { rules, rows: ruleRows } = await readRules(places, reader.problems);
  const { agents, rows: agentRows } = await readAgents(places, language, reader.problems);
  const { tools, rows: toolRows } = await readTools(places, reader.problems);
  const { skills, rows: skillRows } = await readSkills(places, reader.problems);
  const mcp = await readMcp(places, trusted, reader.problems);
  const checkers: ConfigFile[] = [];
  for (const folder of places.checkerFolders) checkers.push(...(await programsIn(folder, reader.problems)));
  const { slots, notes } = readSlots(reader, { isTrusted: places.isClone });
  const { documents, notes: documentNotes } = readDocuments(reader, places);
  const { proxyEnv, notes: proxyNotes } = readProxies(reader, places);
  const { paths, toldFilesDir } = readPaths(reader, places);
  const config: Config = {
    language,
    terminal: { surface: reader.read(settings.surface) },
    paths,
    storage: { synchronous: reader.read(settings.synchronous), database: readDatabase(reader, places) },
    // Somebody else's folder must not decide under what the user's secrets are sealed.
    secretKey: findOwn(reader, settings.secretKey, places)?.value,
    logs: { level: reader.read(settings.logLevel) },
    loop: {
      stepsMax: reader.read(settings.stepsMax),
      agentStepsMax: reader.read(settings.agentStepsMax),
      agentsAtOnceMax: reader.read(settings.agentsAtOnceMax),
      crashesMax: reader.read(settings.crashesMax),
      parallelCallsMax: reader.read(settings.parallelCallsMax),
      attemptsMax: reader.read(settings.attemptsMax),
      toolTimeoutMs: 1_000 * reader.read(settings.toolTimeoutSeconds),
    },
    context: readContext(reader),
    ...readBudgets(reader, places),
    workspace: readWorkspace(reader),
    ...{ ...readPrograms(reader, places, toldFilesDir), documents },
    server: readServer(reader, places),
    web: readWeb(reader, places),
    traces,
    models: {
      slots,
      callsMax: reader.read(settings.modelCallsMax),
      firstDataTimeoutMs: 1_000 * reader.read(settings.firstDataTimeoutSeconds),
      idleTimeoutMs: 1_000 * reader.read(settings.idleTimeoutSeconds),
      proxyEnv,
    },
    approvals: rules,
    ...{ agents, tools, toolFolders: places.toolFolders, skills, mcp: mcp.servers, checkers },
    notes: [...notes, ...documentNotes, ...proxyNotes, ...noteUnknown(variables.map(([name]) => name))],
    secrets: [...secretsAmong(variables), ...traceSecrets(traces), ...mcp.secrets],
    readings: reader.readings,
    rows: [...ruleRows, ...agentRows, ...toolRows, ...skillRows, ...mcp.rows],
    stamps,
  };
  if (reader.problems.length > 0) return failed(toFailures(reader.problems, language));
  return ok(deepFreeze(config));
}

function filesOf(places: Places): ConfigFile[] {
  const { envFile, projectFile, userFile, projectRules, userRules, projectAgents, userAgents } = places;
  const { projectTools, userTools, projectSkills, userSkills, projectMcp, userMcp } = places;
  return [
    ...[envFile, projectFile, userFile, projectRules, userRules, projectAgents, userAgents],
    ...[projectTools, userTools, projectSkills, userSkills, projectMcp, userMcp],
  ];
}

/** The files of the operator that may hold a tool, as they lie there now. */
export async function toolFiles({ toolFolders }: Pick<Config, "toolFolders">): Promise<ToolFile[]> {
  const files: ConfigFile[] = [];
  for (const folder of toolFolders) {
    const problems: Problem[] = [];
    files.push(...(await programsIn(folder, problems)));
    // One that cannot be listed is told of in place of its files.
    if (problems.length > 0) files.push(folder);
  }
  return files.map((file) => ({ ...file, stamp: stampOf(file) }));
}

/** True when a file was changed, made or removed since; costs a look at each in the file system. */
export function hasChanged(config: Config): boolean {
  return config.stamps.some(({ file, stamp }) => stampOf(file) !== stamp);
}

export type Reloaded = {
  readonly config: Config;
  /** Settings that have changed and take effect only after a restart. */
  readonly waiting: readonly string[];
};

/** The configuration anew, except for what cannot change while the process runs. */
export async function reloadConfig(
  config: Config,
  request: ConfigRequest,
): Promise<Result<Reloaded, readonly ConfigFailure[]>> {
  const fresh = await loadConfig(request);
  if (!fresh.ok) return fresh;
  const waiting: string[] = [];
  const readings = fresh.value.readings.map((reading) => {
    const before = config.readings.find(({ setting }) => setting === reading.setting);
    if (before === undefined || !reading.setting.isFixed) return reading;
    if (!isDeepStrictEqual(before.value, reading.value)) waiting.push(nameOf(reading.setting));
    return before;
  });
  const { paths, storage, secretKey, logs, checkers, traces, documents, provider, hosting } = config;
  const workspace = { ...fresh.value.workspace, disk: config.workspace.disk };
  const server = changeServer(config.server, fresh.value.server);
  const programs = { provider, hosting };
  const kept = {
    paths,
    storage,
    secretKey,
    logs,
    checkers,
    workspace,
    server,
    traces,
    documents,
    ...programs,
    readings,
  };
  return ok({ config: deepFreeze({ ...fresh.value, ...kept }), waiting });
}

export type ConfigRow = { readonly name: string; readonly value: string; readonly source: string };

/** Every setting that has a value, and from where: `--data`, `MAX_LOOPS`, `.env:3`, `config/agentyard.yaml:5`, `default`. */
export function explainConfig(config: Config): readonly ConfigRow[] {
  const settings = config.readings.map(({ setting, value, origin }) => ({
    name: nameOf(setting),
    value: setting.isSecret ? "set" : redact(setting.kind.show?.(value) ?? shown(value), config.secrets),
    source: origin,
  }));
  const rows = config.rows.map((row) => ({ ...row, value: redact(row.value, config.secrets) }));
  const checkers = config.checkers.map(({ shown: source }) => ({ name: "checkers", value: "on", source }));
  return [...settings, ...rows, ...checkers];
}

function shown(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

/** `toldFilesDir`: also where there is no database for others to share. */
function readPaths(reader: Reader, places: Places): { paths: Config["paths"]; toldFilesDir: string } {
  const dataDir = reader.readOr(settings.dataDir, places.dataDir);
  const toldFilesDir = reader.readOr(settings.filesDir, dataDir);
  const filesDir = findOwn(reader, settings.databaseUrl, places) === undefined ? dataDir : toldFilesDir;
  const sessionDbPath = reader.readOr(settings.sessionDbPath, join(dataDir, "sessions.db"));
  const logsDir = reader.readOr(settings.logsDir, join(dataDir, "logs"));
  // A database that comes along has rules, memories and models in it; and whoever owns the folder reads what is put there.
  if (!places.isTrusted) for (const group of pathGroups) refuseForeign(reader, places, group);
  return { paths: { dataDir, filesDir, sessionDbPath, logsDir }, toldFilesDir };
}

const pathGroups = ["data", "session_db_path", "files_dir", "logs.dir"] as const;

function readDatabase(reader: Reader, places: Places): Config["storage"]["database"] {
  const connectionsMax = reader.read(settings.connectionsMax);
  const statementMsMax = 1_000 * reader.read(settings.statementSecondsMax);
  const awayMsMax = 1_000 * reader.read(settings.awaySecondsMax);
  const url = findOwn(reader, settings.databaseUrl, places)?.value;
  const peerAddress = findOwn(reader, settings.peerAddress, places)?.value;
  return url === undefined ? undefined : { url, connectionsMax, statementMsMax, awayMsMax, peerAddress };
}

function readContext(reader: Reader): Config["context"] {
  return {
    messagesMax: reader.read(settings.messagesMax),
    isManaged: reader.read(settings.isContextManaged),
    window: {
      warningShare: reader.read(settings.warningShare),
      highShare: reader.read(settings.highShare),
      criticalShare: reader.read(settings.criticalShare),
      smallShare: reader.read(settings.smallShare),
      keptShare: reader.read(settings.keptShare),
      keptMessages: reader.read(settings.keptMessages),
    },
    summaryTimeoutMs: 1_000 * reader.read(settings.summaryTimeoutSeconds),
  };
}

const dayMs = 86_400_000;

function readWorkspace(reader: Reader): Config["workspace"] {
  return {
    limits: {
      bytesMax: reader.read(settings.workspaceBytesMax),
      filesMax: reader.read(settings.workspaceFilesMax),
      freeBytesMin: reader.read(settings.freeBytesMin),
      keptFileBytesMax: reader.read(settings.keptFileBytesMax),
      keptBytesMax: reader.read(settings.keptBytesMax),
      trashMs: dayMs * reader.read(settings.trashDays),
      callerMs: dayMs * reader.read(settings.callerDays),
    },
    cleanAfterMs: dayMs * reader.read(settings.cleanAfterDays),
    disk: reader.read(settings.workspaceDisk),
  };
}

type ProgramSettings = Pick<Config, "uploads" | "sandbox" | "provider" | "hosting" | "network">;

function readPrograms(reader: Reader, places: Places, files: string): ProgramSettings {
  const uploads = {
    fileBytesMax: reader.read(settings.uploadFileBytesMax),
    filesMax: reader.read(settings.uploadFilesMax),
    types: reader.read(settings.uploadTypes),
  };
  const sandbox = readSandbox(reader, uploads);
  const secret = findOwn(reader, settings.sandboxSecret, places)?.value;
  const hosting = readHosting(reader, { secret, files });
  const provider = readProvider(reader, places, secret);
  return { uploads, sandbox, hosting, provider, network: readNetwork(reader, places) };
}

function deepFreeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
