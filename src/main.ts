import { readFileSync } from "node:fs";
import { testApproval } from "./approvals-test.ts";
import { type Attached, attach } from "./attach.ts";
import { systemClock } from "./base/clock.ts";
import { systemIds } from "./base/ids.ts";
import { createClient } from "./client/client.ts";
import {
  type Config,
  type ConfigNote,
  type ConfigRequest,
  explainConfig,
  hasChanged,
  loadConfig,
  processEnvironment,
  reloadConfig,
} from "./config/config.ts";
import { testModel } from "./model-test.ts";
import { offeredModels } from "./models/models.ts";
import { type Logger, openLogs } from "./observe/observe.ts";
import { type Failure, makeFailure } from "./protocol/failure.ts";
import {
  beginCommand,
  type ClientCommand,
  failureText,
  printSettings,
  refuse,
  runCommand,
} from "./terminal/terminal.ts";
import { languageOf, type Words, wordsFor } from "./words/words.ts";

/** A turn that was interrupted longer ago than this does not go on by itself in a terminal: the person is asked. */
const recoverAgeMsMax = 3_600_000;
/** Models of a server that are named when the user has chosen none. */
const offeredMax = 8;

const streams = { input: process.stdin, output: process.stdout, errors: process.stderr };

/** The command `agentyard`: reads what was typed, opens what it needs, and closes it again. Answers the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const surroundings = processEnvironment();
  const { env } = surroundings;
  const version = readVersion();
  const locale = languageOf(env.AGENTYARD_LANG ?? (env.LC_ALL || env.LC_MESSAGES || env.LANG));
  const command = beginCommand(argv, { ...streams, language: locale, version });
  if (command.name === "ended") return command.code;

  const { data, language } = command;
  const flags = { ...(data === undefined ? {} : { data }), ...(language === undefined ? {} : { lang: language }) };
  const loaded = await loadConfig({ ...surroundings, flags });
  if (command.name === "doctor") {
    const words = wordsFor(loaded.ok ? loaded.value.language : (language ?? locale));
    const notes = loaded.ok ? loaded.value.notes.map((note) => noteText(note, words, [])) : [];
    const { examine } = await import("./doctor.ts");
    return examine(command, { ...streams, loaded, notes, words, version });
  }
  if (!loaded.ok) {
    const codes = loaded.failure.map((failure) =>
      refuse(failure, { ...streams, command, words: wordsFor(language ?? locale) }),
    );
    return Math.max(...codes);
  }
  const config = loaded.value;
  const words = wordsFor(config.language);
  if (command.name === "config") {
    printSettings(explainConfig(config), { ...streams, json: command.json });
    return 0;
  }
  if (command.name === "approvals" && command.action === "test")
    return testApproval(command, { config, words, ...streams });
  const half = halfSetModel(config, words);
  // A script must not take the demo model's words for an answer of the model it meant.
  if (command.name === "run" && half !== undefined) {
    return refuse(makeFailure("model_half_set", { what: half }), { ...streams, command, words });
  }
  await sayNotes(config, words);
  if (command.name === "model" && command.action === "test") return testModel(command, { config, words, ...streams });
  return withYard(command, { config, words, version, request: { ...surroundings, flags } });
}

/** Attaches to the yard, as its owner or as a client of the owner, for as long as the command runs. */
async function withYard(command: ClientCommand, { config, words, version, request }: Opened): Promise<number> {
  const { env } = request;
  const logger = openLogs({
    ...{ dir: config.paths.logsDir, level: config.logs.level, secrets: config.secrets },
    ...{ clock: systemClock, runId: systemIds.uuid(), pid: process.pid },
    onOff: (why) => streams.errors.write(`${words.notes.logs_off({ why })}\n`),
  });
  const notices = openNotices();
  const onBroken = (failures: readonly Failure[]) => {
    const why = failures.map((failure) => failureText(words, failure)).join(words.terminal.gap);
    notices.tell(words.notes.settings_unusable({ why }));
  };
  const leave = new AbortController();
  for (const signal of endSignals) process.on(signal, () => leave.abort(signal));
  const attached = await attach({
    config,
    logger,
    version,
    reload: reloader(config, request, { logger, onBroken }),
    runtimeDirectory: env.XDG_RUNTIME_DIR,
    recoverAgeMsMax: isWorking(command) ? recoverAgeMsMax : undefined,
    ...(command.name === "sandbox" && { listenAt: { host: command.host, port: command.port } }),
  });
  if (!attached.ok) {
    await logger.close();
    return refuse(attached.failure, { ...streams, command, words });
  }
  const { fetch, recovery, notes, address } = attached.value;
  if (isWorking(command)) for (const note of notes) streams.errors.write(`${note}\n`);
  const client = createClient({ fetch, language: config.language, clock: systemClock });
  try {
    const code = await runCommand(command, {
      ...{ ...streams, client, words, clock: systemClock, ids: systemIds, version },
      ...{ logFile: logger.path, recovery, leave: leave.signal, onNotice: notices.listen },
      listening: address === undefined ? undefined : { address, dataDir: config.paths.dataDir },
      color: streams.output.isTTY === true && !env.NO_COLOR,
      hasKeys: env.TERM !== "dumb",
    });
    if (command.name !== "sandbox") await untilOthersAreDone(attached.value, words, leave.signal);
    return code;
  } catch (error) {
    logger.error("the command broke down", { error });
    throw error;
  } finally {
    await attached.value.close();
    await logger.close();
  }
}

/** Programs of others that run in this process would end with it: it stays for them, unless it is told to go. */
async function untilOthersAreDone({ quiet }: Attached, words: Words, leave: AbortSignal): Promise<void> {
  const told = new AbortController();
  const go = () => told.abort();
  for (const signal of endSignals) process.once(signal, go);
  // Ctrl+C was for the command itself; the others mean the process.
  if (leave.aborted && leave.reason !== "SIGINT") go();
  const insists = new Promise<void>((resolve) => told.signal.addEventListener("abort", () => resolve()));
  const isQuiet = quiet().then(go);
  await Promise.race([isQuiet, insists, systemClock.wait(othersSaidAfterMs, told.signal)]);
  if (!told.signal.aborted) {
    streams.errors.write(`${words.notes.others_run()}\n`);
    await Promise.race([isQuiet, insists]);
  }
  for (const signal of endSignals) process.off(signal, go);
}

const endSignals = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
/** What was just ended itself may take a moment to be gone. */
const othersSaidAfterMs = 300;

/** Looking at something does not set anything going. */
function isWorking({ name }: ClientCommand): boolean {
  return name === "chat" || name === "run" || name === "sandbox";
}

type Opened = {
  readonly config: Config;
  readonly words: Words;
  readonly version: string;
  readonly request: ConfigRequest;
};

/** Lines for whoever sits at the screen; on standard error where nobody listens. */
function openNotices() {
  let take = (line: string): void => {
    streams.errors.write(`${line}\n`);
  };
  return {
    tell: (line: string) => take(line),
    listen(taker: (line: string) => void) {
      take = taker;
    },
  };
}

type Reloading = { readonly logger: Logger; readonly onBroken: (failures: readonly Failure[]) => void };

/** Reads the files again when one has changed. A file with a mistake changes nothing: the settings before it stay. */
function reloader(
  first: Config,
  request: ConfigRequest,
  { logger, onBroken }: Reloading,
): () => Promise<Config | undefined> {
  let current = first;
  let told = "";
  return async () => {
    if (!hasChanged(current)) return undefined;
    const fresh = await reloadConfig(current, request);
    if (!fresh.ok) {
      const failures = JSON.stringify(fresh.failure);
      logger.warn("changed settings cannot be used", { failures });
      if (failures !== told) onBroken(fresh.failure);
      told = failures;
      return undefined;
    }
    told = "";
    current = fresh.value.config;
    return current;
  };
}

/** What is missing where somebody began to configure the main model and the demo model would stand in for it. */
function halfSetModel({ notes, models }: Config, words: Words): string | undefined {
  if (models.slots.base !== undefined || notes.length === 0) return undefined;
  return notes.map((note) => noteText(note, words, [])).join(" ");
}

/** What the user should know before anything is asked; where no model was named, what the server has to offer. */
async function sayNotes({ notes, models }: Config, words: Words): Promise<void> {
  for (const note of notes) {
    const { [note.code === "model_id_missing" ? note.slot : "base"]: slot } = models.slots;
    const offered =
      note.code === "model_id_missing" && slot
        ? await offeredModels(slot, { clock: systemClock, proxyEnv: models.proxyEnv })
        : [];
    streams.errors.write(`${noteText(note, words, offered)}\n`);
  }
}

function noteText(note: ConfigNote, { notes }: Words, offered: readonly string[]): string {
  switch (note.code) {
    case "model_id_missing":
      return notes.model_id_missing({ ...note, offered: offered.slice(0, offeredMax).join(", ") });
    case "slot_without_key":
      return notes.slot_without_key(note);
    case "variable_unknown":
      return notes.variable_unknown(note);
  }
}

function readVersion(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  return version;
}
