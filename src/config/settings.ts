import { Api } from "../models/profile.ts";
import { logLevels } from "../observe/observe.ts";
import { Slot } from "../protocol/message.ts";
import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import { budgetSettings } from "./budget-settings.ts";
import { contextSettings } from "./context-settings.ts";
import { documentSettings } from "./document-settings.ts";
import { choice, type Kind, path } from "./first-kinds.ts";
import { firstSettings } from "./first-settings.ts";
import {
  baseUrl,
  databaseAddress,
  endings,
  hostAndPort,
  key,
  number,
  proxy,
  sealKey,
  text,
  wholeNumber,
} from "./kinds.ts";
import { sandboxSettings } from "./sandbox-settings.ts";
import { serverSettings } from "./server-settings.ts";
import { webSettings } from "./web-settings.ts";

/** One thing that can be set: by a flag, by a variable (of several names the first counts), by a key of agentyard.yaml. */
export type Setting<T> = {
  readonly flag?: FlagName;
  readonly variables: readonly string[];
  readonly key?: string;
  readonly kind: Kind<T>;
  /** Shown as `set`, never by its value. */
  readonly isSecret?: true;
  /** Cannot change while the process runs. */
  readonly isFixed?: true;
  /** Absent where it follows from the surroundings, or where nothing is meant. */
  readonly default?: T;
};
export type FlagName = "data" | "lang" | "host" | "port" | "base-path";

/** What a setting is called where settings are listed. */
export function nameOf({ key, variables }: Setting<unknown>): string {
  return key ?? variables[0] ?? "";
}

const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;
const bytesTop = 1024 ** 5;

export const settings = {
  ...firstSettings,
  sessionDbPath: { variables: ["SESSION_DB_PATH"], key: "session_db_path", kind: path, isFixed: true },
  /** Where the files of conversations lie, where several processes share a database server. */
  filesDir: { variables: ["AGENTYARD_FILES_DIR"], key: "files_dir", kind: path, isFixed: true },
  logsDir: { variables: ["AGENTYARD_LOGS"], key: "logs.dir", kind: path, isFixed: true },
  logLevel: {
    variables: ["AGENTYARD_LOG_LEVEL"],
    key: "logs.level",
    kind: choice(logLevels),
    default: "info",
    isFixed: true,
  },
  synchronous: {
    variables: ["AGENTYARD_SYNCHRONOUS"],
    key: "storage.synchronous",
    kind: choice(["full", "normal"]),
    default: "full",
    isFixed: true,
  },

  /** A server in place of the file sessions.db. */
  databaseUrl: { variables: ["AGENTYARD_DATABASE_URL"], kind: databaseAddress, isSecret: true, isFixed: true },
  /** Where other servers on the same database hand requests on to this one. */
  peerAddress: {
    variables: ["AGENTYARD_PEER_ADDRESS"],
    key: "storage.peer_address",
    kind: hostAndPort,
    isFixed: true,
  },
  connectionsMax: {
    variables: ["AGENTYARD_DATABASE_CONNECTIONS_MAX"],
    key: "storage.connections_max",
    kind: wholeNumber(2, 1_000),
    default: 10,
    isFixed: true,
  },
  statementSecondsMax: {
    variables: ["AGENTYARD_DATABASE_STATEMENT_SECONDS_MAX"],
    key: "storage.statement_seconds_max",
    kind: wholeNumber(1, 3_600),
    default: 30,
    isFixed: true,
  },
  awaySecondsMax: {
    variables: ["AGENTYARD_DATABASE_AWAY_SECONDS_MAX"],
    key: "storage.away_seconds_max",
    kind: wholeNumber(0, 3_600),
    default: 10,
    isFixed: true,
  },

  /** Before the file `key` of the data directory. */
  secretKey: { variables: ["AGENTYARD_KEY"], kind: sealKey, isSecret: true, isFixed: true },

  stepsMax: { variables: ["MAX_LOOPS"], key: "loop.steps_max", kind: wholeNumber(1, 1_000), default: 100 },
  agentStepsMax: {
    variables: ["AGENTYARD_AGENT_STEPS_MAX"],
    key: "loop.agent_steps_max",
    kind: wholeNumber(1, 1_000),
    default: 50,
  },
  agentsAtOnceMax: {
    variables: ["AGENTYARD_AGENTS_AT_ONCE_MAX"],
    key: "loop.agents_at_once_max",
    kind: wholeNumber(1, 256),
    default: 8,
  },
  crashesMax: {
    variables: ["AGENTYARD_CRASHES_MAX"],
    key: "loop.crashes_max",
    kind: wholeNumber(1, 1_000),
    default: 3,
  },
  parallelCallsMax: {
    variables: ["AGENTYARD_PARALLEL_CALLS_MAX"],
    key: "loop.parallel_calls_max",
    kind: wholeNumber(1, 64),
    default: 8,
  },
  attemptsMax: {
    variables: ["AGENTYARD_ATTEMPTS_MAX"],
    key: "loop.attempts_max",
    kind: wholeNumber(1, 20),
    default: 4,
  },
  toolTimeoutSeconds: {
    variables: ["AGENTYARD_TOOL_TIMEOUT_SECONDS"],
    key: "loop.tool_timeout_seconds",
    kind: number(0.1, 86_400),
    default: 120,
  },

  ...contextSettings,
  ...budgetSettings,

  workspaceBytesMax: {
    variables: ["AGENTYARD_WORKSPACE_BYTES_MAX"],
    key: "workspace.bytes_max",
    kind: wholeNumber(0, bytesTop),
    default: 2 * gibibyte,
  },
  workspaceFilesMax: {
    variables: ["AGENTYARD_WORKSPACE_FILES_MAX"],
    key: "workspace.files_max",
    kind: wholeNumber(0, 100_000_000),
    default: 65_536,
  },
  keptFileBytesMax: {
    variables: ["AGENTYARD_KEPT_FILE_BYTES_MAX"],
    key: "workspace.kept_file_bytes_max",
    kind: wholeNumber(0, bytesTop),
    default: 20 * mebibyte,
  },
  keptBytesMax: {
    variables: ["AGENTYARD_KEPT_BYTES_MAX"],
    key: "workspace.kept_bytes_max",
    kind: wholeNumber(0, bytesTop),
    default: 200 * mebibyte,
  },
  freeBytesMin: {
    variables: ["AGENTYARD_FREE_BYTES_MIN"],
    key: "workspace.free_bytes_min",
    kind: wholeNumber(0, bytesTop),
    default: 512 * mebibyte,
  },
  cleanAfterDays: {
    variables: ["AGENTYARD_CLEAN_AFTER_DAYS"],
    key: "workspace.clean_after_days",
    kind: number(0, 36_500),
    default: 7,
  },
  trashDays: {
    variables: ["AGENTYARD_TRASH_DAYS"],
    key: "workspace.trash_days",
    kind: number(0, 36_500),
    default: 30,
  },
  callerDays: {
    variables: ["AGENTYARD_PROGRAM_DAYS"],
    key: "workspace.program_days",
    kind: number(0, 36_500),
    default: 30,
  },

  uploadFileBytesMax: {
    variables: ["AGENTYARD_UPLOAD_FILE_BYTES_MAX"],
    key: "uploads.file_bytes_max",
    kind: wholeNumber(0, bytesTop),
    default: defaultUploadPolicy.fileBytesMax,
  },
  uploadFilesMax: {
    variables: ["AGENTYARD_UPLOAD_FILES_MAX"],
    key: "uploads.files_max",
    kind: wholeNumber(0, 100_000),
    default: defaultUploadPolicy.filesMax,
  },
  uploadTypes: {
    variables: ["AGENTYARD_UPLOAD_TYPES"],
    key: "uploads.types",
    kind: endings,
    default: defaultUploadPolicy.types,
  },

  ...documentSettings,

  modelCallsMax: {
    variables: ["AGENTYARD_MODEL_CALLS_MAX"],
    key: "models.calls_max",
    kind: wholeNumber(1, 10_000),
    default: 256,
  },
  firstDataTimeoutSeconds: {
    variables: ["AGENTYARD_FIRST_DATA_TIMEOUT_SECONDS"],
    key: "models.first_data_timeout_seconds",
    kind: number(0.1, 3_600),
    default: 300,
  },
  idleTimeoutSeconds: {
    variables: ["AGENTYARD_IDLE_TIMEOUT_SECONDS"],
    key: "models.idle_timeout_seconds",
    kind: number(0.1, 3_600),
    default: 120,
  },

  ...sandboxSettings,
  ...serverSettings,
  ...webSettings,

  // Small letters first, as curl and Node have it.
  httpProxy: { variables: ["http_proxy", "HTTP_PROXY"], kind: proxy },
  httpsProxy: { variables: ["https_proxy", "HTTPS_PROXY"], kind: proxy },
  noProxy: { variables: ["no_proxy", "NO_PROXY"], kind: text },
} as const satisfies Record<string, Setting<unknown>>;

/** The variables of each model slot begin with one of these; the second is the source system's newer name. */
export const slotPrefixes: Readonly<Record<Slot, readonly string[]>> = {
  base: ["MODEL_BASIC_", "MODEL_BASE_"],
  reasoning: ["MODEL_REASONING_", "MODEL_REASON_"],
  vision: ["MODEL_MULTIMODAL_", "MODEL_VISION_"],
  code: ["MODEL_CODE_"],
  chat: ["MODEL_CHAT_"],
};

const temperature = number(0, 2);
const outputTokens = wholeNumber(1, 10_000_000);
const windowTokens = wholeNumber(1_000, 100_000_000);
const wireFormat = choice(Api.options);

/** The variables of one slot. */
export function slotSettings(slot: Slot) {
  const named = (...endings: string[]) => slotPrefixes[slot].flatMap((prefix) => endings.map((end) => prefix + end));
  return {
    apiKey: { variables: named("API_KEY"), kind: key, isSecret: true },
    baseUrl: { variables: named("BASE_URL"), kind: baseUrl },
    api: { variables: named("API"), kind: wireFormat },
    model: { variables: named("ID"), kind: text },
    temperature: { variables: named("TEMPERATURE"), kind: temperature },
    maxTokens: { variables: named("MAX_TOKENS", "MAX_COMPLETION_TOKENS"), kind: outputTokens },
    contextWindow: { variables: named("CONTEXT_WINDOW"), kind: windowTokens },
  } as const satisfies Record<string, Setting<unknown>>;
}

/** What many programs know. It fills the base slot where that has neither key nor address of its own. */
export const openAiSettings = {
  apiKey: { variables: ["OPENAI_API_KEY"], kind: key, isSecret: true },
  baseUrl: { variables: ["OPENAI_BASE_URL"], kind: baseUrl },
  model: { variables: ["OPENAI_MODEL"], kind: text },
} as const satisfies Record<string, Setting<unknown>>;

/** Every name that some setting reads. */
export function knownVariables(): ReadonlySet<string> {
  const tables = [settings, openAiSettings, ...Slot.options.map(slotSettings)];
  return new Set(tables.flatMap((table) => Object.values(table)).flatMap(({ variables }) => variables));
}
