import { readFileSync } from "node:fs";
import type { Attached, ListenAt } from "./attach.ts";
import { whenOver } from "./base/background.ts";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { type Client, createClient } from "./client/client.ts";
import {
  type Config,
  type ConfigRequest,
  explainConfig,
  findPlaces,
  loadConfig,
  processEnvironment,
} from "./config/config.ts";
import { findMissing, makeFolder } from "./data-place.ts";
import type { Drawn } from "./first-draw.ts";
import { atScreen } from "./machine.ts";
import { halfSetModel, noteText, sayNotes } from "./notes.ts";
import { type Logger, openLogs } from "./observe/observe.ts";
import { openAtScreen } from "./open-browser.ts";
import { type Failure, makeFailure } from "./protocol/failure.ts";
import { localOwner } from "./protocol/ids.ts";
import { reloader } from "./reload-settings.ts";
import {
  beginCommand,
  type ClientCommand,
  exitCodes,
  failureText,
  ownCommand,
  printSettings,
  programAsTyped,
  refuse,
  runCommand,
  type Streams,
  sayCrash,
  type YardCommand,
} from "./terminal/terminal.ts";
import { languageOf, type Words, wordsFor } from "./words/words.ts";

/** A turn that was interrupted longer ago than this does not go on by itself in a terminal: the person is asked. */
const recoverAgeMsMax = 3_600_000;
/** Nobody sits before a server whom it could ask. */
const servedAgeMsMax = 86_400_000;

/** Where a command is heard and seen. */
type Outlet = Streams & {
  /** A line for the person, on the screen where a chat is drawn. */
  readonly tell: (line: string) => void;
  readonly drawn: Drawn["console"] | undefined;
};

function openOutlet(drawn: Drawn | undefined): Outlet {
  const { stdin: input, stdout: output, stderr } = process;
  const tell = (line: string) => void (drawn === undefined ? stderr.write(`${line}\n`) : drawn.console.note(line));
  return { input, output, errors: drawn?.errors ?? stderr, tell, drawn: drawn?.console };
}

/**
 * What was typed. What a command needs is read when it needs it: of the time that `--help` takes, most is reading
 * modules. Answers the exit code; also where a mistake of ours ends it, it says so in words.
 */
export async function runTyped(argv: readonly string[], drawn: Drawn | undefined): Promise<number> {
  const outlet = openOutlet(drawn);
  const crash: Crash = { words: wordsFor("en"), command: undefined, logger: undefined, outlet };
  // What breaks where nobody waits for it: nothing can be trusted any more, so the process ends.
  process.once("uncaughtException", (error) => endNow(tellCrash(error, crash), crash));
  try {
    return await perform(argv, outlet, crash);
  } catch (error) {
    const code = tellCrash(error, crash);
    // What it had opened by then would keep the process: a server that nobody knows of, and that others take for a living one.
    endNow(code, crash);
    return code;
  }
}

/** What is known by now of the command that may break down. */
type Crash = {
  words: Words;
  command: YardCommand | undefined;
  logger: Logger | undefined;
  readonly outlet: Outlet;
};

function tellCrash(error: unknown, { words, command, logger, outlet }: Crash): number {
  const id = systemIds.hex(8);
  logger?.error(`the command broke down (${id})`, { error });
  return sayCrash(error, { ...outlet, words, command, id, logFile: logger?.path });
}

function endNow(code: number, { logger }: Crash): void {
  void whenOver(logger?.flush() ?? Promise.resolve()).then(() => process.exit(code));
}

/** Reads what was typed, opens what it needs, and closes it again. */
async function perform(argv: readonly string[], outlet: Outlet, crash: Crash): Promise<number> {
  const { input, output, errors } = outlet;
  const streams = { input, output, errors };
  const surroundings = processEnvironment();
  const { env } = surroundings;
  const version = readVersion();
  const locale = languageOf(env.AGENTYARD_LANG ?? (env.LC_ALL || env.LC_MESSAGES || env.LANG));
  crash.words = wordsFor(locale);
  const { isClone } = findPlaces(surroundings);
  const program = programAsTyped({ ...surroundings, isClone, script: process.argv[1] ?? "" });
  const command = beginCommand(argv, { ...streams, language: locale, version, program });
  if (command.name === "ended") return command.code;
  crash.command = command;

  const { language } = command;
  const flags = flagsOf(command);
  const loaded = await loadConfig({ ...surroundings, flags });
  if (command.name === "doctor") {
    const own = ownCommand({ program, data: loaded.ok ? typedData(command, loaded.value) : undefined });
    const words = { ...wordsFor(loaded.ok ? loaded.value.language : (language ?? locale)), command: own };
    const notes = loaded.ok ? loaded.value.notes.map((note) => noteText(note, words, [])) : [];
    const { examine } = await import("./doctor.ts");
    return examine(command, { ...streams, loaded, notes, words, version });
  }
  if (!loaded.ok) {
    const codes = loaded.failure.map((failure) =>
      refuse(failure, { ...streams, command, words: { ...wordsFor(language ?? locale), command: program } }),
    );
    return Math.max(...codes);
  }
  const config = loaded.value;
  const words = {
    ...wordsFor(config.language),
    command: ownCommand({ program, data: typedData(command, config) }),
  };
  crash.words = words;
  if (command.name === "config") {
    printSettings(explainConfig(config), { ...streams, json: command.json });
    return 0;
  }
  if (command.name === "approvals" && command.action === "test")
    return (await import("./approvals-test.ts")).testApproval(command, { config, words, ...streams });
  if (command.name === "restore") {
    const { restore } = await import("./backup-commands.ts");
    return restore(command, { config, words, ...streams });
  }
  if (command.name === "migrate")
    return (await import("./move-data.ts")).moveData(command, { config, words, ...streams });
  if (command.name === "sandbox-host")
    return (await import("./host-sandboxes.ts")).hostSandboxes(command, { config, words, version, ...streams });
  if (command.name === "search")
    return (await import("./search-documents.ts")).searchDocuments(command, { words, ...streams });
  if (command.url !== undefined && command.name !== "model" && command.name !== "approvals" && isClient(command))
    return (await import("./remote.ts")).useServer(command, {
      ...{ ...streams, words, version, url: command.url, key: env.AGENTYARD_API_KEY, language: config.language },
      ...onScreen(command, config, env, outlet),
    });
  const half = halfSetModel(config, words);
  // A script must not take the demo model's words for an answer of the model it meant.
  if (command.name === "run" && half !== undefined) {
    return refuse(makeFailure("model_half_set", { what: half }), { ...streams, command, words });
  }
  await sayNotes(config, words, outlet.tell);
  if (command.name === "model" && command.action === "test")
    return (await import("./model-test.ts")).testModel(command, { config, words, ...streams });
  return withYard(command, { config, words, version, request: { ...surroundings, flags }, outlet, crash });
}

/** A client of the yard, one that copies all of it, or one that other software uses it by. */
type AttachedCommand = ClientCommand | Extract<YardCommand, { name: "backup" | "mcp" }>;

/** The data directory that was typed, as it is found from anywhere. */
function typedData({ data }: YardCommand, { paths }: Config): string | undefined {
  return data === undefined ? undefined : paths.dataDir;
}

/** Attaches to the yard, as its owner or as a client of the owner, for as long as the command runs. */
async function withYard(command: AttachedCommand, opened: Opened): Promise<number> {
  const { config, words, version, request, outlet, crash } = opened;
  const { tell, drawn: _, ...streams } = outlet;
  const { env } = request;
  const { dataDir, logsDir } = config.paths;
  const missing = isLooking(command, config) ? findMissing(config.paths) : undefined;
  if (missing !== undefined) return refuse(missing, { ...streams, command, words });
  if (!makeFolder(dataDir))
    return refuse(makeFailure("data_unusable", { path: dataDir }), { ...streams, command, words });
  const hasLogs = makeFolder(logsDir);
  if (!hasLogs) tell(words.notes.logs_off({ why: logsDir }));
  const secrets = [...config.secrets];
  const logger = openLogs({
    ...{ dir: logsDir, level: hasLogs ? config.logs.level : "off", secrets },
    ...{ clock: systemClock, startId: systemIds.uuid(), pid: process.pid },
    onOff: (why) => tell(words.notes.logs_off({ why })),
  });
  crash.logger = logger;
  const notices = openNotices(tell);
  const onBroken = (failures: readonly Failure[]) => {
    const why = failures.map((failure) => failureText(words, failure)).join(words.terminal.gap);
    notices.tell(words.notes.settings_unusable({ why }));
  };
  const leave = toldToEnd(command);
  const { attach } = await import("./attach.ts");
  const attached = await attach({
    ...{ config, logger, version },
    reload: reloader(config, request, { logger, secrets, onBroken }),
    onLost(failure) {
      logger.error("another process has the database by now", failure.params);
      endNow(refuse(failure, { ...streams, command, words }), crash);
    },
    runtimeDirectory: env.XDG_RUNTIME_DIR,
    recoverAgeMsMax: !isWorking(command) ? undefined : command.name === "serve" ? servedAgeMsMax : recoverAgeMsMax,
    listenAt: listenAtOf(command, config),
  });
  if (!attached.ok) {
    await logger.close();
    return refuse(attached.failure, { ...streams, command, words });
  }
  const { fetch, recovery, notes, address, servedAt } = attached.value;
  if (isWorking(command)) for (const note of notes) tell(note);
  const client = createClient({ fetch, language: config.language, clock: systemClock, newKey: systemIds.uuid });
  try {
    if (command.name === "backup") {
      const { backUp } = await import("./backup-commands.ts");
      return await backUp(command, { fetch, words, leave, ...streams });
    }
    if (command.name === "mcp")
      return await serveMcp({ client, words, version, logger, outlet, leave, attached: attached.value });
    const code = await runCommand(command, {
      ...{ ...streams, client, words, clock: systemClock, ids: systemIds, version },
      ...{ logFile: logger.path, recovery, leave, onNotice: notices.listen },
      listening: address === undefined ? undefined : { address, dataDir, isEverywhere: attached.value.isEverywhere },
      servedAt,
      openBrowser: (url) => void openAtScreen(url, { platform: process.platform, env }),
      ...onScreen(command, config, env, outlet),
    });
    if (!listens(command)) await untilOthersAreDone(attached.value, words, { leave, ...streams });
    return code;
  } catch (error) {
    return tellCrash(error, crash);
  } finally {
    await attached.value.close();
    await logger.close();
  }
}

/** Fires when the process is told to end. */
function toldToEnd(command: AttachedCommand): AbortSignal {
  const leave = new AbortController();
  let toldAt = 0;
  for (const signal of endSignals)
    process.on(signal, () => {
      const isAgain = leave.signal.aborted && systemClock.monotonic() - toldAt > sameSignalMsMax;
      // Whoever says it twice does not want to wait for a safe point; the log is safe at every point.
      if (isAgain && listens(command)) process.exit(exitCodes.interrupted);
      if (!leave.signal.aborted) toldAt = systemClock.monotonic();
      leave.abort(signal);
    });
  return leave.signal;
}

/** How it looks; a chat that stands on the screen already goes on there. */
function onScreen(
  command: ClientCommand,
  config: Config,
  env: ConfigRequest["env"],
  { output, drawn }: Outlet,
): ReturnType<typeof atScreen> {
  const { rich, ...screen } = atScreen(command, config, { env, output });
  if (rich === undefined) drawn?.close();
  return { ...screen, rich: rich && { ...rich, drawn } };
}

type Serving = Pick<Opened, "words" | "version" | "outlet"> & {
  readonly client: Client;
  readonly logger: Logger;
  readonly leave: AbortSignal;
  readonly attached: Attached;
};

/** Standard output has the protocol, and nothing else. */
async function serveMcp({ client, words, version, logger, outlet, leave, attached }: Serving): Promise<number> {
  const { serveOverStdio, Visitor } = await import("./mcp-server/mcp-server.ts");
  const { input, output, errors } = outlet;
  if (input.isTTY === true) errors.write(`${words.mcpServer.typed()}\n`);
  const visitor = new Visitor({ owner: localOwner, client, words, clock: systemClock, closing: leave });
  await serveOverStdio({ input, output, visitor, version, log: logger });
  await untilOthersAreDone(attached, words, { leave, errors });
  return exitCodes.done;
}

/** Programs of others that run in this process would end with it: it stays for them, unless it is told to go. */
async function untilOthersAreDone(
  { quiet }: Attached,
  words: Words,
  { leave, errors }: { readonly leave: AbortSignal; readonly errors: Streams["errors"] },
): Promise<void> {
  const told = new AbortController();
  const go = () => told.abort();
  for (const signal of endSignals) process.once(signal, go);
  // Ctrl+C was for the command itself; the others mean the process.
  if (leave.aborted && leave.reason !== "SIGINT") go();
  const insists = new Promise<void>((resolve) => told.signal.addEventListener("abort", () => resolve()));
  const isQuiet = quiet().then(go);
  await Promise.race([isQuiet, insists, systemClock.wait(othersSaidAfterMs, told.signal)]);
  if (!told.signal.aborted) {
    errors.write(`${words.notes.others_run()}\n`);
    await Promise.race([isQuiet, insists]);
  }
  for (const signal of endSignals) process.off(signal, go);
}

/** npm passes Ctrl+C on to a child that has heard it already. */
const sameSignalMsMax = 500;
const endSignals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
/** What was just ended itself may take a moment to be gone. */
const othersSaidAfterMs = 300;

/** It needs no more than a server to talk to. */
function isClient(command: AttachedCommand): command is ClientCommand {
  return command.name !== "backup" && command.name !== "mcp";
}

/** Looking at something does not set anything going. */
function isWorking(command: AttachedCommand): boolean {
  return ["chat", "run", "mcp"].includes(command.name) || listens(command);
}

/** A directory that was typed and that it would only look at must be there. An empty backup helps nobody at all. */
function isLooking(command: AttachedCommand, { storage }: Config): boolean {
  // Whoever names a server has not mistyped a folder.
  if (storage.database !== undefined) return false;
  if (command.name === "backup") return true;
  const begins = isWorking(command) || command.name === "exec" || (command.name === "user" && command.action === "add");
  return command.data !== undefined && !begins;
}

/** It is there for others until it is told to end. */
function listens({ name }: AttachedCommand): boolean {
  return name === "serve" || name === "sandbox";
}

function listenAtOf(command: AttachedCommand, { server }: Config): ListenAt | undefined {
  if (command.name === "sandbox") return { as: "sandbox", host: command.host, port: command.port };
  if (command.name !== "serve") return undefined;
  const { host, port, basePath } = server;
  return { as: "serve", host, port, basePath };
}

/** What was typed and is a setting: it is stronger than every file. */
function flagsOf(command: YardCommand): ConfigRequest["flags"] {
  const { data, language } = command;
  const served = command.name === "serve" ? command : undefined;
  const given = { data, lang: language, host: served?.host, port: served?.port, "base-path": served?.basePath };
  return given;
}

type Opened = {
  readonly config: Config;
  readonly words: Words;
  readonly version: string;
  readonly request: ConfigRequest;
  readonly outlet: Outlet;
  readonly crash: Crash;
};

/** Lines for whoever sits at the screen; for whoever started the command where nobody listens. */
function openNotices(tell: Outlet["tell"]) {
  let take = tell;
  return {
    tell: (line: string) => take(line),
    listen(taker: (line: string) => void) {
      take = taker;
    },
  };
}

function readVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  return version;
}
