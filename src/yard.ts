import { join } from "node:path";
import { type Checker, openApprovals } from "./approvals/approvals.ts";
import { assert } from "./base/assert.ts";
import { inBackground } from "./base/background.ts";
import type { Clock } from "./base/clock.ts";
import type { Ids } from "./base/ids.ts";
import type { Random } from "./base/random.ts";
import { type Fetch, inProcessFetch } from "./client/client.ts";
import { closeInOrder } from "./close-in-order.ts";
import { type Config, keyVariableOf, readYaml, windowVariableOf } from "./config/config.ts";
import { mountedDirOf } from "./data-place.ts";
import { openDocuments } from "./documents/documents.ts";
import { type Homes, homesHere } from "./homes/homes.ts";
import { type App, createApp, openPasses, type Passes } from "./http/http.ts";
import { type Log, openLog } from "./log/log.ts";
import { openLookup } from "./lookup/lookup.ts";
import { defaultLimits, type Engine, type LoopLimits, openEngine } from "./loop/loop.ts";
import { type Mcp, openMcp } from "./mcp/mcp.ts";
import { startDemoServer } from "./models/demo/demo.ts";
import { openAiEmbeddings } from "./models/embedding/embedding.ts";
import {
  type DetectOptions,
  describeServer,
  detectServers,
  type FoundServer,
  isModelName,
  type Models,
  openEntering,
  openModels,
  type Resolver,
  readKeptModels,
} from "./models/models.ts";
import type { Endpoint } from "./models/provider.ts";
import {
  type Logger,
  type Metrics,
  noMetrics,
  noTracer,
  openWatch,
  type Tracer,
  type Watch,
} from "./observe/observe.ts";
import { callLimits, type GuardedFetch, type Operators, openOperators } from "./operators/operators.ts";
import { providerFor } from "./providers.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import { openSearch, type Search } from "./search/search.ts";
import { openSecretKey } from "./secret-key.ts";
import { openSkills, type Skills } from "./skills/skills.ts";
import { type Storage, toldTopics } from "./storage/storage.ts";
import { builtins, type CustomTools, openRegistry, openTransfers, type Registry, type Tool } from "./tools/tools.ts";
import { openSecrets, openSignInService, openUsers, type PasswordCost, type Secrets } from "./users/users.ts";
import { openWeb, type Web, type WebOptions } from "./web/web.ts";
import { type Words, wordsFor } from "./words/words.ts";
import { openUpkeep, openWorkspaces, type Workspaces } from "./workspace/workspace.ts";

/** A whole AgentYard around one storage: everything but the process it runs in. */
export type Yard = {
  readonly app: App;
  readonly engine: Engine;
  readonly log: Log;
  readonly workspaces: Workspaces;
  readonly models: Models;
  /** The servers of others whose tools agents may use. */
  readonly mcp: Mcp;
  /** For calls to others; no route gives one out. */
  readonly secrets: Secrets;
  readonly operators: Operators;
  /** What the user should know about the models, in words. */
  readonly notes: readonly string[];
  /** What is believed of other servers that hand requests on. */
  readonly passes: Passes;
  /** The door without a socket. */
  readonly fetch: Fetch;
  close(): Promise<void>;
};

export type YardOptions = {
  readonly config: Config;
  readonly storage: Storage;
  /** Which server a conversation lives in, where several share the storage; this one unless it is given. Closed with the yard. */
  readonly homes?: Homes | undefined;
  /** Where programs run; closed with the yard. */
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly logger: Logger;
  readonly version: string;
  /** Somebody only looks at something: nothing is tidied by itself. */
  readonly isLooking?: boolean | undefined;
  /** The settings as they are now; undefined when they have not changed, or cannot be used. */
  readonly reload?: (() => Promise<Config | undefined>) | undefined;
  /** Chooses the model slot of each step in place of our own rules. */
  readonly resolver?: Resolver | undefined;
  /** How names are looked up and connections made for tools; the system's own way unless it is given. */
  readonly network?: Pick<WebOptions, "lookup" | "connect"> | undefined;
  /** Where model servers of this machine listen, where that is not where they usually do. */
  readonly localPorts?: DetectOptions["ports"];
  /** Tools besides the built-in ones. */
  readonly tools?: readonly Tool[] | undefined;
  /** The operator's own tools: looked at again before each turn. */
  readonly custom?: CustomTools | undefined;
  /** Where further tools come from, in the order of whose names count. */
  readonly sources?: Parameters<typeof openRegistry>[0]["sources"] | undefined;
  /** The operator's own words about calls. */
  readonly checkers?: readonly Checker[] | undefined;
  /** Who counts and traces what happens; nobody unless it is given. Closed by whoever made them. */
  readonly metrics?: Metrics | undefined;
  readonly tracer?: Tracer | undefined;
  /** Where the browser app was built. */
  readonly webDir?: string | undefined;
  /** Tests hash the passwords of their users at little cost. */
  readonly passwordCost?: PasswordCost | undefined;
  /** Tests check every event they read back. */
  readonly checksReads?: boolean | undefined;
};

/** Builds the parts in order; `close` takes them down in reverse, storage included. */
export async function openYard(options: YardOptions): Promise<Yard> {
  const { config, storage, clock, ids, random, logger, version, tracer = noTracer, metrics = noMetrics } = options;
  const { homes = homesHere } = options;
  const words = wordsFor(config.language);
  let { sandbox: sandboxSettings, network, agents, server, web: webSettings } = config;
  const web = openWebPart(options, () => webSettings);
  const key = openSecretKey({ given: config.secretKey, dataDir: config.paths.dataDir, ids });
  const secrets = openSecrets({ storage, key, clock, ids });
  const passes = openPasses({ key, clock, ids });
  const operators = await openOperatorPart(options, secrets, () => webSettings);
  const mcp = openMcpPart(options, secrets, web);
  const registry = openToolParts(options, web, [
    { origin: "agent", source: openTransfers(() => agents) },
    { origin: "mcp", source: mcp },
    { origin: "operator", source: operators },
  ]);
  const watch = watchTurns(options, { tracer, metrics }, registry);
  const log = openLogPart(options, watch);
  const { models, notes, entering, changeModels } = await openModelParts(options, secrets, words);
  const skills = openSkills({ settings: config.skills, shelfDir: join(mountedDirOf(config), "skill-copies"), logger });
  const files = openFileParts(options, skills, log);
  const found = async () =>
    (await detectServers({ clock, ports: options.localPorts })).map((server) => localServer(server, words));
  const limits = { ...defaultLimits, ...limitsOf(config) };
  const { workspaces, documents, lookup, index, uploads, upkeep } = files;
  const approvals = openApprovals({ rules: config.approvals, checkers: options.checkers ?? [] });
  const freshen = async () => {
    await options.custom?.refresh();
    const changed = await options.reload?.();
    if (changed === undefined) return;
    Object.assign(limits, limitsOf(changed));
    files.change(changed);
    ({ sandbox: sandboxSettings, network, agents, server, web: webSettings } = changed);
    approvals.change(changed.approvals);
    registry.change(changed.tools);
    skills.change(changed.skills);
    await changeModels(changed.models.slots);
    // Servers that are no longer wanted take a moment to end; a turn need not wait for it.
    void inBackground(logger, "MCP servers could not be changed", mcp.change(changed.mcp));
    logger.info("settings were changed and are in effect");
  };
  const engine = openEngine({
    ...{ log, storage, models, clock, ids, random, logger, limits, workspaces, documents, lookup, uploads, web },
    ...{ approvals, skills, sandbox: options.sandbox, homes },
    reachesNetwork: () => network.hosts.length + network.privateHosts.length > 0,
    sweepSoon: upkeep.sweep,
    ...{ toolkit: registry.kitOf, lookUpTools: registry.lookUp },
    agents: () => agents,
    beforeTurn: () => freshen().then(skills.look),
  });
  const app = createApp({
    ...openUserParts(options, () => server),
    ...{ engine, log, workspaces, storage, models, entering, mcp, clock, ids, version, freshen, tracer, metrics },
    ...{ sandbox: options.sandbox, operators, documents, lookup, webDir: options.webDir },
    peers: homes === homesHere ? undefined : { homes, passes },
    sandboxSettings: () => sandboxSettings,
    cleanAfterMs: () => files.cleanAfterMs() || cleanAfterMsAsked,
    detectServers: found,
    tools: (owner) => ({ items: registry.list(owner), broken: options.custom?.broken() ?? [] }),
    logger: (line) => logger.error(line),
  });
  if (options.isLooking !== true) upkeep.start();
  // Who cleans up at its end must still be the home of what it moves.
  const first = { engine, sandbox: options.sandbox, upkeep };
  return {
    ...{ app, engine, log, workspaces, models, mcp, secrets, operators, notes, passes },
    fetch: inProcessFetch(app),
    close: () => closeInOrder({ ...first, homes, mcp, lookup, documents, index, models, storage }, { clock, logger }),
  };
}

/** The tools there are. What is left out because of its name is told once. */
function openToolParts(
  { config, tools = [], custom, sources = [], logger }: YardOptions,
  web: Web,
  further: NonNullable<YardOptions["sources"]>,
): Registry {
  const own = custom === undefined ? [] : [{ origin: "custom" as const, source: custom }];
  return openRegistry({
    ...{ builtins: [...builtins, ...tools], sources: [...own, ...sources, ...further], settings: config.tools },
    isIdle: (name) => name === "web_search" && web.provider() === undefined,
    onLeftOut: ({ name, origin, why, takenBy = "" }) =>
      logger.warn("a tool is left out: {name} ({origin}): {why} {takenBy}", { name, origin, why, takenBy }),
  });
}

function openLogPart({ storage, clock, ids, logger, checksReads }: YardOptions, watch: Watch | undefined) {
  // A log is read again and again; each record is told of once.
  const told = new Set<string>();
  return openLog({
    ...{ storage, clock, ids, checksReads: checksReads ?? false, onAppended: watch?.appended },
    onBrokenRecord({ number, seq, why }) {
      const place = `${number}:${seq}`;
      if (told.has(place)) return;
      told.add(place);
      logger.error("a record of the log cannot be read and is left out: {why}", { number, seq, why });
    },
  });
}

function openOperatorPart(
  options: YardOptions,
  secrets: Secrets,
  settings: WebOptions["settings"],
): Promise<Operators> {
  const { storage, clock, ids, logger } = options;
  const { timeoutMsMax: timeoutMs, answerBytesMax: bytesMax } = callLimits;
  const web = openWebPart(options, () => ({ ...settings(), timeoutMs, bytesMax }));
  const fetch: GuardedFetch = (request) => web.fetch(request);
  return openOperators({
    ...{ storage, secrets, fetch, clock, ids, logger },
    readYaml: (text) => readYaml(text, clock),
  });
}

function openMcpPart({ config, clock, ids, logger, version }: YardOptions, secrets: Secrets, web: Web): Mcp {
  return openMcp({ servers: config.mcp, dataDir: config.paths.dataDir, clock, ids, logger, version, secrets, web });
}

/** Who may call. A sign-in service is asked about itself at the first sign-in, not at the start. */
function openUserParts({ storage, clock, ids, passwordCost }: YardOptions, server: () => Config["server"]) {
  const { oidc } = server();
  return {
    users: openUsers({ storage, clock, ids, passwordCost, signInLastsMs: () => server().signInLastsMs }),
    signInService: oidc && openSignInService(oidc, { clock, ids }),
    server,
  };
}

/** What tools reach out there. Proxies are those of the models. */
function openWebPart({ config, clock, network }: YardOptions, settings: WebOptions["settings"]): Web {
  return openWeb({ clock, settings, proxyEnv: () => config.models.proxyEnv, ...network });
}

/** Those of the settings, and those that people entered; what stands in the settings counts first. */
async function openModelParts(options: YardOptions, secrets: Secrets, words: Words) {
  const { config, clock, ids, resolver, logger, storage } = options;
  const { proxyEnv, callsMax, idleTimeoutMs, firstDataTimeoutMs } = config.models;
  let fixed = config.models.slots;
  const kept = await readKeptModels(secrets);
  for (const [slot, failure] of kept.broken)
    logger.warn("the model entered for {slot} cannot be used: {code}", { slot, code: failure.code });
  const notes: string[] = [];
  const makeProvider = (endpoint: Endpoint) => providerFor({ endpoint, clock, ids, proxyEnv });
  const models = await openModels({
    ...{ slots: kept.beside(fixed), clock, resolver, callsMax, idleTimeoutMs, firstDataTimeoutMs, makeProvider },
    onNote(note) {
      const variable = note.slot && windowVariableOf(note.slot);
      const text = words.models.notes[note.code]({ ...note, variable });
      notes.push(text);
      logger.warn(text);
    },
    startDemo: () =>
      startDemoServer({
        ...{ clock, ids, timezone: localTimezone(), findServers: () => detectServers({ clock }) },
        onThrown: (error) => logger.error("the demo model broke down", { error }),
      }),
    describeServer: (baseUrl) => describeServer(baseUrl, { clock }),
  });
  const parts = { models, kept, makeProvider, clock, proxyEnv, variableOf: keyVariableOf };
  storage.onTold(({ topic, key }) => {
    if (topic !== toldTopics.gap && (topic !== toldTopics.secrets || !isModelName(key))) return;
    const changed = kept.readAgain().then(() => models.change(kept.beside(fixed)));
    void inBackground(logger, "models that were entered elsewhere could not be read", changed);
  });
  return {
    ...{ models, notes, entering: openEntering({ ...parts, fixed: () => fixed }) },
    changeModels(slots: typeof fixed) {
      fixed = slots;
      return models.change(kept.beside(fixed));
    },
  };
}

/** Tells those who count and trace what is in the log, and how things stand when somebody asks. */
function watchTurns(
  { storage, sandbox, logger }: YardOptions,
  observers: { readonly tracer: Tracer; readonly metrics: Metrics },
  tools: Registry,
): Watch | undefined {
  const { tracer, metrics } = observers;
  if (!tracer.isOn && !metrics.isOn) return undefined;
  metrics.lookAt(async () => {
    const [sessions, counts] = await Promise.all([sandbox.sessions.count(), storage.count()]);
    const { guests, running, waiting } = sandbox.load();
    return { sessions, guests, executions: { running, waiting }, ...counts };
  });
  const idOf = async (number: number) => (await storage.conversationByNumber(number))?.id;
  return openWatch({ ...observers, idOf, logger, isKnownTool: tools.isKnown });
}

/** Where nothing is cleaned up by itself, a person who asks for it means what nobody used for a week. */
const cleanAfterMsAsked = 7 * 86_400_000;

/** Everything about files. What the settings say may change while it runs. */
function openFileParts(options: YardOptions, skills: Skills, log: Log) {
  const { config, storage, sandbox, clock, ids, logger, homes = homesHere } = options;
  const limits = { ...config.workspace.limits };
  const uploads = { ...config.uploads };
  let { cleanAfterMs } = config.workspace;
  const { leave } = sandbox;
  const { filesDir: dataDir, dataDir: keyDir } = config.paths;
  const { disk } = config.workspace;
  const shared = { dataDir, keyDir, storage, clock, ids, logger };
  const whose = { isShared: homes.isShared, isHere: (number: number) => homes.holds(`c:${number}`) };
  const workspaces = openWorkspaces({ ...shared, ...whose, limits, disk, leave, skills: skills.shelf });
  const index = openIndex({ config, clock, logger });
  const documents = openDocuments({ clock, logger, search: index });
  return {
    ...{ workspaces, index, documents, uploads },
    lookup: openLookup({ log, workspaces, documents, search: index, clock, logger }),
    upkeep: openUpkeep({ workspaces, clock, logger, tidyIndex: documents.tidy, cleanAfterMs: () => cleanAfterMs }),
    cleanAfterMs: () => cleanAfterMs,
    change(changed: Config) {
      Object.assign(limits, changed.workspace.limits);
      Object.assign(uploads, changed.uploads);
      cleanAfterMs = changed.workspace.cleanAfterMs;
    },
  };
}

/** Nothing is opened before somebody has a document, or searches. */
function openIndex({ config, clock, logger }: Pick<YardOptions, "config" | "clock" | "logger">): Search {
  const { segmentation, embedding, embeddingCharactersPerDay: charactersPerDayMax } = config.documents;
  const { proxyEnv } = config.models;
  const opened = openSearch({
    ...{ file: join(config.paths.dataDir, "indexes.db"), clock, segmentation },
    meaning: embedding && {
      ...{ embedder: openAiEmbeddings({ settings: embedding, clock, proxyEnv }), charactersPerDayMax },
      logger,
      onTrouble: (trouble) =>
        trouble.why === "limit"
          ? logger.warn("as much as a day may cost was sent to the embedding model; the rest follows tomorrow", trouble)
          : logger.warn("the embedding model does not answer: {kind} {because} {said}; searches go by words alone", {
              ...{ kind: trouble.error.kind, because: trouble.error.because ?? "", said: trouble.error.message },
            }),
    },
  });
  assert(opened.ok, "whether there is a segmenter is asked before a yard is opened");
  return opened.value;
}

function limitsOf({ loop, context, budgets, prices }: Config): Partial<LoopLimits> {
  const { isManaged, messagesMax, window, summaryTimeoutMs } = context;
  return { ...loop, window, summaryTimeoutMs, messagesKeptMax: isManaged ? messagesMax : 0, budgets, prices };
}

function localTimezone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A server of this machine as surfaces show it, with what to do about its best model, if anything. */
function localServer({ kind, baseUrl, models }: FoundServer, words: Words) {
  const advice = models[0]?.advice;
  const served = models.map(({ id, windowTokens, tools }) => ({ id, windowTokens, tools }));
  return {
    kind,
    baseUrl,
    models: served,
    ...(advice === undefined ? {} : { advice: words.models.notes[advice.code](advice) }),
  };
}
