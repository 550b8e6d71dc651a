import { parsedObject } from "../../base/json.ts";
import { languages, wordsFor } from "../../words/words.ts";
import type { DoneCall, TalkFacts } from "./facts.ts";
import { hasMore, type Page, pagesOf, seenFiles } from "./file-results.ts";
import { type DemoWords, type Intent, paragraphs, resultOf, type WantedCall } from "./intent.ts";
import { profileTable } from "./profile.ts";
import { profileText } from "./profile-text.ts";
import { canLookDeeper, lookAround, lookDeeper, pathIn } from "./target.ts";

const workersMax = 5;
const workersUsual = 3;
/** Of one worker; what is more is left out and said. */
const filesMax = 10;
const notesPath = "outputs/notes.md";

const wanted =
  /\b(split|divide|distribute|share|spread|hand|give)\b.{0,60}\b(workers?|agents|team|company|employees)\b|\b(run|start|open|make|play|build)\b.{0,16}\bcompany\b|(分给|分配给|分派给|交给|分成).{0,10}(员工|工人|工作者|智能体|助手|个人)|(开|办|组建|模拟|运行|成立).{0,6}公司/i;

/** A small company: the files are given to some agents, each writes notes on its part, and these become one report. */
export const companyIntent: Intent = {
  name: "company",
  tellsFailures: true,
  matches: (text) => text.length <= orderCharactersMax && wanted.test(text),
  calls: (facts, { words }) => {
    const files = filesFor(facts);
    if (files === "look") return lookAround;
    if (files === "find") return lookDeeper;
    if (files.length === 0) return [];
    if (!facts.done.some(({ name }) => name === "spawn_agent")) return spawns(facts, files, words);
    const team = teamOf(facts.done);
    if (team.length === 0 || facts.ended.length < team.length) return [];
    const notes = reading(facts, team);
    if (notes.length > 0) return notes;
    if (pagesOf(facts.done).length === 0 || resultOf(facts.done, "write_file") !== "") return [];
    return [{ name: "write_file", arguments: { path: words.company.path, content: reportText(facts, team, words) } }];
  },
  answer: (facts, { words }) => {
    const files = filesFor(facts);
    if (typeof files === "string" || files.length === 0) return words.noFiles;
    const team = teamOf(facts.done);
    const refused = facts.done.find(({ name, failure }) => name === "spawn_agent" && failure !== undefined);
    if (team.length === 0) return words.failed("spawn_agent", refused?.failure ?? "");
    if (facts.ended.length < team.length) return underWay(facts, team, words);
    const left = files.length - filesMax * team.length;
    return paragraphs(endText(facts, team, words), left > 0 ? words.filesLeft(left) : "");
  },
};

/** One of those agents: it looks into its files and leaves notes. What it says goes to another program with rules. */
export const companyWorkerIntent: Intent = {
  name: "work for a company",
  tellsFailures: true,
  introduces: true,
  matches: (text) => languages.some((language) => text.startsWith(wordsFor(language).demo.company.order)),
  calls: ({ text, done }, { words }) => {
    if (!done.some(({ name }) => name === "read_file"))
      return filesIn(text).map((path) => ({ name: "read_file", arguments: { path } }));
    if (resultOf(done, "write_file") !== "") return [];
    return [{ name: "write_file", arguments: { path: notesPath, content: `${notesText(done, words)}\n` } }];
  },
  answer: ({ done }, { words }) => words.company.noted({ files: pagesOf(done).length, path: notesPath }),
};

const orderCharactersMax = 300;

/** What came with the message, else what lies in `uploads/`, or in a folder of it that is named. */
function filesFor(facts: TalkFacts): readonly string[] | "look" | "find" {
  const { attached, done, text } = facts;
  if (attached.length > 0) return attached.map(({ path }) => path);
  if (!done.some(({ name }) => name === "list_files")) return "look";
  if (hasMore(done) && canLookDeeper(facts) && !done.some(({ name }) => name === "spawn_agent")) return "find";
  const below = `${/^uploads\b[^\s]*/.exec(pathIn(text) ?? "")?.[0].replace(/\/$/, "") ?? "uploads"}/`;
  return seenFiles(done).filter((path) => path.startsWith(below));
}

function spawns({ text }: TalkFacts, files: readonly string[], words: DemoWords): WantedCall[] {
  const count = Math.min(workersIn(text), files.length);
  return Array.from({ length: count }, (_, index) => {
    const own = files.filter((_file, at) => at % count === index).slice(0, filesMax);
    const task = `${words.company.order}\n${own.map((path) => `- ${path}`).join("\n")}`;
    return {
      name: "spawn_agent",
      arguments: { role: words.company.role, name: words.company.worker(index + 1), task, files: own },
    };
  });
}

const numbers: Readonly<Record<string, number>> = {
  ...{ two: 2, three: 3, four: 4, five: 5, 两: 2, 二: 2, 三: 3, 四: 4, 五: 5 },
};

const workers =
  /\b(?<en>two|three|four|five|\d{1,2}) +(?:workers|agents|employees)\b|(?<zh>[两二三四五]|\d{1,2})[个名位](?:员工|工人|工作者|智能体|助手|人)/i;

function workersIn(text: string): number {
  const { en, zh } = workers.exec(text)?.groups ?? {};
  const word = (en ?? zh ?? "").toLowerCase();
  const count = numbers[word] ?? Number(word);
  return count >= 1 ? Math.min(count, workersMax) : workersUsual;
}

/** Who was made, by the names that they go by. */
function teamOf(done: readonly DoneCall[]): readonly { readonly name: string; readonly files: number }[] {
  return done.flatMap(({ name: tool, result, failure }) => {
    if (tool !== "spawn_agent" || failure !== undefined) return [];
    const { name, files } = parsedObject(result.split("\n", 1)[0] ?? "") ?? {};
    return typeof name === "string" ? [{ name, files: typeof files === "number" ? files : 0 }] : [];
  });
}

type Team = ReturnType<typeof teamOf>;

function notesOf(name: string): string {
  return `outputs/${name}/${notesPath.replace("outputs/", "")}`;
}

/** The notes of all that came to their end, at once. */
function reading({ done, ended }: TalkFacts, team: Team): WantedCall[] {
  if (done.some(({ name }) => name === "read_file")) return [];
  const good = team.filter(({ name }) => ended.some((end) => end.name === name && end.isDone));
  return good.map(({ name }) => ({ name: "read_file", arguments: { path: notesOf(name) } }));
}

function reportText({ done, ended }: TalkFacts, team: Team, words: DemoWords): string {
  const pages = pagesOf(done);
  const parts = team.map(({ name }) => {
    const text = pages.find(({ path }) => path === notesOf(name))?.text.trim();
    return `## ${name}\n\n${text ?? words.company.failed(ended.some((end) => end.name === name && end.isDone))}`;
  });
  return `${[words.company.title, ...parts].join("\n\n")}\n`;
}

function underWay({ ended }: TalkFacts, team: Team, words: DemoWords): string {
  if (ended.length > 0) return words.company.underWay({ done: ended.length, of: team.length });
  return words.company.begun(team.map(({ name, files }) => words.company.given({ name, files })).join("\n"));
}

function endText({ done, ended }: TalkFacts, team: Team, words: DemoWords): string {
  const good = ended.filter(({ isDone }) => isDone).length;
  if (resultOf(done, "write_file") === "") return words.company.nothing;
  return words.company.done({ path: words.company.path, workers: team.length, good });
}

function filesIn(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => /^- (.+)$/.exec(line)?.[1] ?? []);
}

const beginCharactersMax = 120;

function notesText(done: readonly DoneCall[], words: DemoWords): string {
  const failed = done.filter(({ name, failure }) => name === "read_file" && failure !== undefined);
  const unread = failed.map(({ input, failure }) => words.company.unread(String(input.path), failure ?? ""));
  return paragraphs(...pagesOf(done).map((page) => noteOn(page, words)), ...unread);
}

function noteOn({ path, text, lastLine, lines, next }: Page, words: DemoWords): string {
  if (/\.(csv|tsv)$/i.test(path)) {
    const part = next === undefined ? undefined : { read: lastLine ?? next.offset - 1, of: lines };
    return profileText(path, profileTable(text), part, words);
  }
  const begin = text.trim().split("\n", 1)[0] ?? "";
  const shown = begin.length <= beginCharactersMax ? begin : `${begin.slice(0, beginCharactersMax).toWellFormed()}…`;
  const count = text.match(/\p{Script=Han}|[\p{L}\p{N}]+/gu)?.length ?? 0;
  return words.company.note({ path, lines: lines ?? text.split("\n").length, words: count, begin: shown });
}
