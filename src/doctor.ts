import { execFile, spawn } from "node:child_process";
import {
  accessSync,
  constants,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { release, tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { loadCheckers } from "./approvals/approvals.ts";
import { systemClock } from "./base/clock.ts";
import { ok, type Result } from "./base/result.ts";
import { type Config, type ConfigFailure, toolFiles } from "./config/config.ts";
import { checkRecord, checkRules } from "./log/log.ts";
import type { McpServerSettings } from "./mcp/mcp.ts";
import { isRunning, noLogs } from "./observe/observe.ts";
import { readBwrap } from "./sandbox/local/bwrap.ts";
import { openSandboxProvider } from "./sandbox-provider.ts";
import { findSegmenter } from "./search/search.ts";
import { findSkills } from "./skills/skills.ts";
import type { lookAtServer } from "./storage/postgres/look-at-server.ts";
import { fillCopy } from "./storage/sqlite/fill-copy.ts";
import { lookAtDatabase } from "./storage/sqlite/look-at-database.ts";
import { lookAtRecord } from "./storage/sqlite/look-at-record.ts";
import { readOwner } from "./storage/sqlite/owner-lock.ts";
import {
  type DatabaseFacts,
  type DataFacts,
  type DoctorFacts,
  describeMachine,
  type RecordFacts,
  runDoctor,
  type SandboxFacts,
  type SkillFacts,
  type Streams,
} from "./terminal/terminal.ts";
import { openCustomTools } from "./tools/tools.ts";
import { openWeb, searchServices } from "./web/web.ts";
import type { Words } from "./words/words.ts";
import { probeImages } from "./workspace/workspace.ts";

type Parts = Streams & {
  readonly loaded: Result<Config, readonly ConfigFailure[]>;
  /** What a person should know about the settings, in words. */
  readonly notes: readonly string[];
  readonly words: Words;
  readonly version: string;
};

/** `agentyard doctor`: looks at this machine without changing it, and works with broken settings too. */
export function examine(command: { readonly json: boolean; readonly fix: boolean }, parts: Parts): Promise<number> {
  return runDoctor(command, { ...parts, look: () => gatherFacts(parts), run: runInShell });
}

/** The same in lines, for somebody who is in a chat. */
export async function examineFor(config: Config, words: Words): Promise<readonly string[]> {
  return describeMachine(await gatherFacts({ loaded: ok(config), notes: [], words }), words);
}

type Known = Pick<Parts, "loaded" | "notes" | "words"> & Partial<Pick<Parts, "version">>;

async function gatherFacts({ loaded, notes, words, version = "" }: Known): Promise<DoctorFacts> {
  const config = loaded.ok ? loaded.value : undefined;
  const checkers = await loadCheckers(config?.checkers ?? []);
  const custom = openCustomTools({
    ...{ list: async () => (config === undefined ? [] : toolFiles(config)), clock: systemClock, onBroken: () => {} },
  });
  await custom.refresh();
  const data = config && lookAtData(config.paths.dataDir);
  // In a directory that cannot be written it would only be said twice.
  const database = config === undefined || data?.state === "read_only" ? undefined : await lookForDatabase(config);
  return {
    node: process.version,
    system: `${systemName()}, ${process.platform} ${release()} ${process.arch}`,
    problems: loaded.ok ? (checkers.ok ? [] : [checkers.failure]) : loaded.failure,
    checkers: checkers.ok ? checkers.value.map(({ name }) => name) : [],
    skills: config && (await lookAtSkills(config, words)),
    ...{ tools: custom.files(), brokenTools: custom.broken() },
    mcp: (config?.mcp ?? []).filter(({ isOn }) => isOn).map(lookAtMcp),
    notes,
    data,
    otherPeople: countOtherPeople(),
    database,
    decisions: config !== undefined && database?.ok ? await lookForDecisions(config) : undefined,
    models: Object.values(config?.models.slots ?? {}).map(({ slot, model, baseUrl }) => ({
      ...{ slot, model },
      server: URL.parse(baseUrl)?.host ?? baseUrl,
    })),
    ...(config === undefined ? {} : { search: lookForSearch(config), documents: lookAtDocuments(config) }),
    images: config?.workspace.disk === "image" ? await lookAtImages(config.paths.filesDir) : undefined,
    sandbox: await lookAtSandbox(words, config, version),
  };
}

/** Where a folder is not trusted that is told once, and not for each skill in it. */
async function lookAtSkills({ skills }: Config, words: Words): Promise<SkillFacts> {
  const found = await findSkills(skills);
  const faults = found.flatMap(({ shown, file, problems }) =>
    problems
      .filter(({ grade, fault }) => (grade === "error" || fault === "shadowed") && fault !== "untrusted")
      .map((problem) => {
        const [what, instead] = words.skills.fault(problem);
        return { place: problem.line === undefined ? shown : `${shown}/${file}:${problem.line}`, what, instead };
      }),
  );
  const place = found.find(({ state }) => state === "untrusted")?.place.shown;
  const [what, instead] = words.skills.fault({ fault: "untrusted" });
  return {
    usable: found.filter(({ state }) => state === "usable").length,
    faults: [...faults, ...(place === undefined ? [] : [{ place, what, instead }])],
  };
}

/** A program by its name alone, without the folder that it lies in: a report is shown to others. */
function lookAtMcp({ id, reached }: McpServerSettings): { id: string; what: string; isThere: boolean } {
  if (reached.by === "address") return { id, what: URL.parse(reached.url)?.host ?? "", isThere: true };
  const { command, env, cwd } = reached;
  const folders = command.includes("/") ? [""] : (env.PATH ?? "").split(delimiter);
  const isThere = folders.some((folder) =>
    canRun(command.includes("/") ? resolve(cwd, command) : join(folder, command)),
  );
  return { id, what: basename(command), isThere };
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function systemName(): string {
  return /^PRETTY_NAME="?(.*?)"?$/m.exec(readIfThere("/etc/os-release"))?.[1] ?? process.platform;
}

/** A directory that is not there yet is judged by the nearest one above it. */
function lookAtData(folder: string): DataFacts {
  const found = statOf(folder);
  if (found !== undefined) {
    const isUsable = found.isDirectory() && canWrite(folder);
    return {
      folder,
      state: isUsable ? "there" : "read_only",
      freeBytes: freeBytesOf(folder),
      mode: found.mode & 0o777,
    };
  }
  let above = dirname(folder);
  while (statOf(above) === undefined && above !== dirname(above)) above = dirname(above);
  return { folder, state: canWrite(above) ? "new" : "read_only", freeBytes: freeBytesOf(above), mode: undefined };
}

/** Undefined also where we may not look. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const firstPersonUid = 1_000;
const lastPersonUid = 59_999;

/** People are the accounts in the range that systems give to them, with a shell to sign in to. */
function countOtherPeople(): number {
  const own = process.getuid?.();
  const accounts = readIfThere("/etc/passwd")
    .split("\n")
    .map((line) => line.split(":"));
  return accounts.filter(([, , uid = "", , , , shell = ""]) => {
    const isPerson = Number(uid) >= firstPersonUid && Number(uid) <= lastPersonUid;
    return isPerson && Number(uid) !== own && !/(nologin|false)$/.test(shell);
  }).length;
}

async function lookForDatabase({ paths, storage }: Config): Promise<DatabaseFacts> {
  if (storage.database !== undefined) return lookForServer({ ...storage.database, ...storage });
  const owner = readOwner(paths.dataDir);
  const pid = owner !== undefined && isRunning(owner.pid) ? owner.pid : undefined;
  const looked = lookAtDatabase(paths.sessionDbPath, { isInUse: pid !== undefined });
  return looked.ok ? ok({ format: looked.value, pid }) : looked;
}

type ServerPlace = Parameters<typeof lookAtServer>[0];

async function lookForServer(place: Omit<ServerPlace, "clock">): Promise<DatabaseFacts> {
  const { lookAtServer } = await import("./storage/postgres/look-at-server.ts");
  const looked = await lookAtServer({ ...place, clock: systemClock });
  return looked.ok ? ok({ ...looked.value, pid: undefined }) : looked;
}

/** What is on a server is looked at in a copy: the check reads all of it, in the order of a file. */
async function lookForDecisions({ paths, storage }: Config): Promise<DoctorFacts["decisions"]> {
  if (storage.database === undefined) return lookAtDecisions(paths.sessionDbPath);
  const { copyRecord } = await import("./storage/postgres/look-at-server.ts");
  const folder = mkdtempSync(join(tmpdir(), "agentyard-doctor-"));
  try {
    const path = join(folder, "copy.db");
    const place = { ...storage.database, ...storage, clock: systemClock };
    const copied = await copyRecord(place, path, fillCopy);
    if (!copied.ok) return copied;
    // It is brought to the newest format when it is opened, and can be looked at then.
    return copied.value === undefined ? undefined : lookAtDecisions(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const faultsMax = 20;

/** The whole record, read once; of a record that is broken all over only the beginning is told. */
function lookAtDecisions(path: string): DoctorFacts["decisions"] {
  const looked = lookAtRecord(path, (record) => {
    const faults: RecordFacts["faults"][number][] = [];
    let count = 0;
    const add = (number: number, seq: number, what: RecordFacts["faults"][number]["what"]) => {
      count += 1;
      if (faults.length < faultsMax) faults.push({ conversation: record.idOf(number), seq, what });
    };
    const check = checkRecord(record.rows, record);
    let step = check.next();
    for (; !step.done; step = check.next()) add(step.value.number, step.value.seq, step.value.what);
    for (const { number, seq } of record.gaps) add(number, seq, "event_missing");
    const { decisions, rules: made } = step.value;
    const rules = [...checkRules(record.rules, made)];
    count += Math.max(0, rules.length - faultsMax);
    return { decisions, faults, rules: rules.slice(0, faultsMax), more: count - faults.length };
  });
  if (!looked.ok) return looked;
  return looked.value === undefined ? undefined : ok(looked.value);
}

/** What is set; whether it answers is seen when somebody searches. */
function lookForSearch({ web }: Config): NonNullable<DoctorFacts["search"]> {
  const provider = openWeb({ clock: systemClock, settings: () => web, proxyEnv: () => ({}) }).provider();
  return { service: provider && searchServices[provider].name };
}

/** Whether the model answers is seen when documents are indexed. */
function lookAtDocuments({ documents }: Config): NonNullable<DoctorFacts["documents"]> {
  const { segmentation, embedding } = documents;
  return {
    segmenter: findSegmenter(segmentation),
    embedding: embedding && { model: embedding.model, server: URL.parse(embedding.baseUrl)?.host ?? "" },
  };
}

/** One is mounted, where it would be if the directory is there. */
function lookAtImages(folder: string): ReturnType<typeof probeImages> {
  return probeImages(statOf(folder)?.isDirectory() ? folder : tmpdir());
}

/** The canary looks from inside; what it does not tell is asked of the same programs from outside. */
async function lookAtSandbox(words: Words, loaded: Config | undefined, release: string): Promise<SandboxFacts> {
  const usual = {
    provider: { kind: "local" } as const,
    paths: { dataDir: tmpdir(), filesDir: tmpdir() },
    workspace: { disk: "folder" as const },
  };
  const config = loaded ?? usual;
  const { provider: settings } = config;
  const folder = makeFolderIn(settings.kind === "docker" ? config.paths.dataDir : tmpdir());
  const provider = openSandboxProvider({
    config,
    installation: "doctor",
    folder,
    words: words.sandbox,
    release,
    logger: noLogs,
  });
  try {
    if (settings.kind === "docker") return { ...(await provider.probe()), ...nothingHere, docker: settings };
    if (settings.kind === "kubernetes") return { ...(await provider.probe()), ...nothingHere, cluster: settings };
    if (settings.kind === "remote")
      return { ...(await provider.probe()), ...nothingHere, hosts: settings.hosts.length };
    const [probe, bwrap, python, bash, chineseFont] = await Promise.all([
      provider.probe(),
      readBwrap("/usr/bin/bwrap"),
      ask("/usr/bin/python3", ["-I", "-c", pythonQuestion]),
      ask("/bin/bash", ["-c", "echo $BASH_VERSION"]),
      findChineseFont(),
    ]);
    const { version, libraries } = python === undefined ? nothingOfPython : pythonAnswer.parse(JSON.parse(python));
    // As bash says it: 5.2.15(1)-release.
    const shell = bash?.replace(/\(.*/, "");
    return { ...probe, bwrap: bwrap?.version, python: version, libraries, bash: shell, chineseFont };
  } finally {
    await provider.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An engine finds by its path what it mounts: asked is where the server's own files will lie, if they can lie there yet. */
function makeFolderIn(parent: string): string {
  const name = "agentyard-doctor-";
  try {
    return mkdtempSync(join(parent, name));
  } catch {
    return mkdtempSync(join(tmpdir(), name));
  }
}

const nothingHere = { bwrap: undefined, python: undefined, libraries: [], bash: undefined, chineseFont: undefined };
const pythonQuestion = `
import importlib.metadata, json, platform
def find(name):
    try:
        return [{"name": name, "version": importlib.metadata.version(name)}]
    except importlib.metadata.PackageNotFoundError:
        return []
libraries = [found for name in ("numpy", "pandas", "matplotlib", "openpyxl", "pypdf", "reportlab") for found in find(name)]
print(json.dumps({"version": platform.python_version(), "libraries": libraries}))`;
const pythonAnswer = z.object({
  version: z.string(),
  libraries: z.array(z.object({ name: z.string(), version: z.string() })),
});
const nothingOfPython = { version: undefined, libraries: [] };

/** The name of one; the index of fonts is not installed everywhere. */
async function findChineseFont(): Promise<string | undefined> {
  const families = (await ask("fc-list", [":lang=zh", "family"])) ?? "";
  const names = "/usr/share/fonts/**/{*CJK*,wqy*,DroidSansFallback*,uming*,ukai*,SourceHan*}.*";
  const found = families === "" ? globSync(names).map((path) => basename(path)) : families.split("\n");
  return found.sort()[0]?.split(",")[0];
}

const answerTimeoutMs = 10_000;

/** What a program prints; undefined when it is missing or fails. */
function ask(program: string, args: readonly string[]): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  execFile(program, args, { timeout: answerTimeoutMs }, (error, printed) =>
    resolve(error === null ? printed.trim() : undefined),
  );
  return promise;
}

/** In this terminal, as if the person had typed it. */
function runInShell(command: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const child = spawn("/bin/sh", ["-c", command], { stdio: "inherit" });
  child.on("error", () => resolve(commandNotFound));
  child.on("close", (code) => resolve(code ?? commandNotFound));
  return promise;
}

const commandNotFound = 127;

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
