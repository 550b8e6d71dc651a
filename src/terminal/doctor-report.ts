import type { Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { BrokenToolFile } from "../protocol/tool.ts";
import { failureWords, type Words } from "../words/words.ts";
import { formatBytes } from "./format.ts";
import { shellQuoted } from "./shell-quoted.ts";

/** What was found out about this machine, without a judgement. */
export type DoctorFacts = {
  readonly node: string;
  readonly system: string;
  /** Mistakes in the settings; what depends on them is then not looked at. */
  readonly problems: readonly Failure[];
  /** The operator's own programs that look at calls. */
  readonly checkers?: readonly string[];
  /** Skills that can be used, and what is wrong with others; undefined where nobody looked. */
  readonly skills?: SkillFacts | undefined;
  /** And those that are tools, with the files that cannot be used. */
  readonly tools?: readonly { readonly file: string; readonly tool: string }[];
  readonly brokenTools?: readonly BrokenToolFile[];
  /** The MCP servers that are switched on: what they are, and whether a program is there. */
  readonly mcp?: readonly { readonly id: string; readonly what: string; readonly isThere: boolean }[];
  /** What a person should know about the settings, in words. */
  readonly notes: readonly string[];
  readonly data: DataFacts | undefined;
  /** Accounts of people other than the one who asks. */
  readonly otherPeople: number;
  readonly database: DatabaseFacts | undefined;
  /** Undefined where there is no database yet. */
  readonly decisions: Result<RecordFacts, Failure> | undefined;
  /** The slots that are filled. */
  readonly models: readonly { readonly slot: string; readonly model: string; readonly server: string }[];
  /** How documents are searched: whether their Chinese can be cut, and the model for embeddings. Absent as above. */
  readonly documents?: {
    readonly segmenter: Result<undefined, Failure>;
    readonly embedding: { readonly model: string; readonly server: string } | undefined;
  };
  /** Who searches the web, for people; undefined where nobody is set. Absent where the settings are broken. */
  readonly search?: { readonly service: string | undefined };
  /** Whether workspaces can be images; undefined where they are not meant to be. */
  readonly images: Result<void, Failure> | undefined;
  readonly sandbox: SandboxFacts;
};

export type SkillFacts = {
  readonly usable: number;
  readonly faults: readonly { readonly place: string; readonly what: string; readonly instead: string }[];
};

export type DataFacts = {
  readonly folder: string;
  readonly state: "there" | "new" | "read_only";
  readonly freeBytes: number;
  /** The mode of a folder that is there: 0o700 is for its owner alone. */
  readonly mode: number | undefined;
};

/** Without a format there is none yet. `pid` is the process that works with it. */
/** `server`: the version of PostgreSQL, where the database is not a file. */
export type DatabaseFacts = Result<
  {
    readonly format: number | undefined;
    readonly pid: number | undefined;
    /** Where it is one of others: its version, and at which addresses those are that work with it. */
    readonly server?: string;
    readonly living?: readonly string[];
  },
  Failure
>;

/** How many decisions are on record, and what does not fit; `more`: so many faults are left out here. */
export type RecordFacts = {
  readonly decisions: number;
  readonly faults: readonly { readonly conversation: string; readonly seq: number; readonly what: RecordFaultName }[];
  /** What is allowed always although no decision says so, by id. */
  readonly rules?: readonly string[];
  readonly more: number;
};

type RecordFaultName = keyof Words["doctor"]["recordFault"];

/** `missing`: no code runs. `degraded`: it runs with less. The rest is what programs find inside. */
export type SandboxFacts = {
  readonly missing: readonly LackFacts[];
  readonly degraded: readonly LackFacts[];
  /** Where they are containers; then what programs find inside is the image's own. */
  readonly cluster?:
    | { readonly namespace: string; readonly image: string; readonly runtimeClass: string | undefined }
    | undefined;
  readonly docker?: { readonly image: string; readonly runtime: string | undefined } | undefined;
  /** Code runs on other machines: how many were named. */
  readonly hosts?: number | undefined;
  readonly bwrap: string | undefined;
  readonly python: string | undefined;
  readonly libraries: readonly { readonly name: string; readonly version: string }[];
  readonly bash: string | undefined;
  readonly chineseFont: string | undefined;
};

type LackFacts = { readonly name: string; readonly reason: string; readonly fix: string };

/** One line of the report. The names and the statuses are stable. */
export type Check = {
  readonly name: string;
  readonly status: "ok" | "degraded" | "missing";
  readonly text: string;
  readonly advice: string | null;
  /** What mends it, for a shell. */
  readonly command: string | null;
};

const gibibyte = 1024 ** 3;
const freeBytesFew = 2 * gibibyte;
const freeBytesMin = gibibyte / 16;

/** What the facts mean: one check for each, the essential ones in the order in which they would be mended. */
export function diagnose(facts: DoctorFacts, words: Words): readonly Check[] {
  const { doctor } = words;
  return [
    fine("program", doctor.program(facts)),
    ...facts.problems.map((problem) => lacking("settings", failureWords(words, problem))),
    ...(facts.checkers ?? []).map((name) => fine("checker", doctor.checker({ name }))),
    ...(facts.skills === undefined ? [] : diagnoseSkills(facts.skills, words)),
    ...(facts.tools ?? []).map((tool) => fine("tool", doctor.tool(tool))),
    ...(facts.brokenTools ?? []).map((broken) => lesser("tool", doctor.brokenTool(broken))),
    ...(facts.mcp ?? []).map((server) =>
      server.isThere ? fine("mcp", doctor.mcp(server)) : lesser("mcp", doctor.mcpMissing(server)),
    ),
    ...facts.notes.map((note) => lesser("settings", [note, ""])),
    ...(facts.data === undefined ? [] : diagnoseData(facts.data, words)),
    ...(facts.otherPeople === 0 ? [] : [lesser("loopback", doctor.shared({ count: facts.otherPeople }))]),
    ...(facts.database === undefined ? [] : [diagnoseDatabase(facts.database, words)]),
    ...(facts.decisions === undefined ? [] : diagnoseRecord(facts.decisions, words)),
    ...(facts.problems.length > 0 ? [] : diagnoseModels(facts, words)),
    ...diagnoseDocuments(facts, words),
    ...(facts.search === undefined ? [] : [diagnoseSearch(facts.search, words)]),
    ...(facts.images === undefined ? [] : [diagnoseImages(facts.images, words)]),
    ...diagnoseSandbox(facts, words),
  ];
}

/** None at all is nothing to tell of. */
function diagnoseSkills({ usable, faults }: SkillFacts, { doctor }: Words): Check[] {
  return [
    ...(usable === 0 ? [] : [fine("skills", doctor.skills({ count: usable }))]),
    ...faults.map(({ place, what, instead }) => lesser("skill", doctor.skillUnfit({ place, what, instead }))),
  ];
}

/** Whether everything essential is there. */
export function isFit(checks: readonly Check[]): boolean {
  return checks.every(({ status }) => status !== "missing");
}

/** Agents can do without: it is no lack of the machine. */
function diagnoseSearch({ service }: NonNullable<DoctorFacts["search"]>, { doctor }: Words): Check {
  return fine("search", service === undefined ? doctor.searchNone() : doctor.search({ service }));
}

function diagnoseData({ folder, state, freeBytes, mode }: DataFacts, words: Words): Check[] {
  const { doctor } = words;
  const about = { folder, free: formatBytes(freeBytes, words) };
  if (state === "read_only") return [lacking("data", doctor.dataReadOnly(about))];
  const isOpen = mode !== undefined && (mode & 0o077) !== 0;
  const open = () => doctor.dataOpen({ mode: (mode ?? 0).toString(8).padStart(3, "0") });
  const space = doctor.spaceLow(about);
  return [
    fine("data", state === "new" ? doctor.dataNew(about) : doctor.data(about)),
    ...(isOpen ? [mendable("data_mode", open(), `chmod 700 ${shellQuoted(folder)}`)] : []),
    ...(freeBytes < freeBytesMin ? [lacking("space", space)] : []),
    ...(freeBytes >= freeBytesMin && freeBytes < freeBytesFew ? [lesser("space", space)] : []),
  ];
}

function diagnoseDatabase(database: DatabaseFacts, words: Words): Check {
  if (!database.ok) return lacking("database", failureWords(words, database.failure));
  const { format, pid, server, living = [] } = database.value;
  if (server !== undefined) return fine("database", words.doctor.databaseServer({ format, server, living }));
  if (format === undefined) return fine("database", words.doctor.databaseNew());
  return fine(
    "database",
    pid === undefined ? words.doctor.database({ format }) : words.doctor.databaseInUse({ format, pid }),
  );
}

function diagnoseRecord(record: Result<RecordFacts, Failure>, words: Words): Check[] {
  const { doctor } = words;
  if (!record.ok) return [lacking("decisions", failureWords(words, record.failure))];
  const { decisions, faults, rules = [], more } = record.value;
  if (faults.length + rules.length === 0) return [fine("decisions", doctor.record({ count: decisions }))];
  const named = [
    ...faults.map(({ conversation, seq, what }) =>
      lacking("decisions", doctor.recordBroken({ conversation, seq, what: doctor.recordFault[what] })),
    ),
    ...rules.map((rule) => lacking("decisions", doctor.ruleUnknown({ rule }))),
  ];
  return more === 0 ? named : [...named, lacking("decisions", doctor.recordMore({ count: more }))];
}

function diagnoseModels({ models }: DoctorFacts, { doctor }: Words): Check[] {
  const filled = models.map((model) => fine("model", doctor.model(model)));
  return models.some(({ slot }) => slot === "base") ? filled : [lesser("model", doctor.modelDemo()), ...filled];
}

function diagnoseDocuments({ documents }: DoctorFacts, words: Words): Check[] {
  if (documents === undefined) return [];
  const { segmenter, embedding } = documents;
  if (!segmenter.ok) return [lacking("documents", failureWords(words, segmenter.failure))];
  return [fine("documents", embedding ? words.doctor.embedding(embedding) : words.doctor.embeddingNone())];
}

function diagnoseImages(images: Result<void, Failure>, words: Words): Check {
  return images.ok ? fine("images", words.doctor.images()) : lacking("images", failureWords(words, images.failure));
}

function diagnoseSandbox({ sandbox, node }: DoctorFacts, { doctor }: Words): Check[] {
  const { missing, degraded, docker, cluster, hosts, bwrap, python, libraries, bash, chineseFont } = sandbox;
  if (missing.length > 0) return missing.map((lack) => ofLack(lack, "missing"));
  if (docker !== undefined)
    return [fine("sandbox", doctor.container(docker)), ...degraded.map((lack) => ofLack(lack, "degraded"))];
  if (cluster !== undefined)
    return [fine("sandbox", doctor.pods(cluster)), ...degraded.map((lack) => ofLack(lack, "degraded"))];
  if (hosts !== undefined)
    return [fine("sandbox", doctor.hosts({ count: hosts })), ...degraded.map((lack) => ofLack(lack, "degraded"))];
  const versions = libraries.map(({ name, version }) => `${name} ${version}`).join(", ");
  return [
    fine("sandbox", doctor.sandbox({ version: bwrap ?? "" })),
    ...degraded.map((lack) => ofLack(lack, "degraded")),
    ...(python === undefined ? [] : [fine("python", doctor.python({ version: python, libraries: versions }))]),
    bash === undefined ? lesser("bash", doctor.bashMissing()) : fine("bash", doctor.bash({ version: bash })),
    fine("javascript", doctor.javascript({ version: node })),
    ...(chineseFont === undefined ? [] : [fine("fonts", doctor.font({ family: chineseFont }))]),
  ];
}

/** A fix is a command or a sentence; the commands begin with one of these programs. */
const command = /^(sudo )?(apt-get|dnf|pacman|apk|sysctl) |^printf '/;

function ofLack({ name, reason, fix }: LackFacts, status: "missing" | "degraded"): Check {
  const isCommand = command.test(fix);
  return { name, status, text: reason, advice: isCommand ? null : fix, command: isCommand ? fix : null };
}

function fine(name: string, text: string): Check {
  return { name, status: "ok", text, advice: null, command: null };
}

function lesser(name: string, [text, advice]: readonly [string, string]): Check {
  return { name, status: "degraded", text, advice: advice === "" ? null : advice, command: null };
}

function lacking(name: string, pair: readonly [string, string]): Check {
  return { ...lesser(name, pair), status: "missing" };
}

function mendable(name: string, text: string, mending: string): Check {
  return { name, status: "degraded", text, advice: null, command: mending };
}
