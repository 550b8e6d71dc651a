import { forModels } from "../../words/words.ts";
import type { DoneCall } from "./facts.ts";
import type { DemoWords } from "./intent.ts";

/** What became of the calls of a turn in which one failed, for people: tools themselves speak to models, in English. */
export function outcomeText(done: readonly DoneCall[], words: DemoWords): string {
  const told = done.filter(({ name, failure }) => failure !== undefined || !onlyLooks.has(name));
  const lines = told.map((call) => outcome(call, words));
  return lines.length === 1 ? lines.join("") : lines.map((line) => `- ${line}`).join("\n");
}

/** Calls that lead to the one that counts: where they worked there is nothing to tell. */
const onlyLooks: ReadonlySet<string> = new Set(["list_files", "find_files", "read_file", "find_tools"]);
/** So much is said of a result that is only mentioned beside a failure. */
const mentionedCharactersMax = 500;
const quotedCharactersMax = 100;

function outcome(call: DoneCall, words: DemoWords): string {
  const { name, input, result, failure } = call;
  if (failure === undefined) return words.called(name, beginning(result, mentionedCharactersMax));
  if (failure === "tool_rejected") return words.rejected(name);
  const sentences: Readonly<Record<string, Sentence | undefined>> = words.fileFailures;
  const { path, old_string: text = "" } = input;
  const sentence = typeof path === "string" ? sentences[failure] : undefined;
  if (sentence === undefined || typeof path !== "string") return words.failed(name, failure);
  return sentence({
    path,
    near: nearIn(result),
    text: beginning(String(text), quotedCharactersMax),
    isUnwritable: changes.has(name) && !isWritable.test(path),
  });
}

type Sentence = DemoWords["fileFailures"][keyof DemoWords["fileFailures"]];

const changes: ReadonlySet<string> = new Set(["write_file", "edit_file"]);
const isWritable = /^(\.\/)*(uploads|outputs|temp)\/./;

/** The names that a tool suggests. */
function nearIn(result: string): string {
  const [before = "", after = ""] = forModels.didYouMean("\n").split("\n");
  const [line = ""] = result.split("\n", 1);
  const begin = line.indexOf(before);
  const end = line.indexOf(`${after} `, begin);
  return begin < 0 || end < 0 ? "" : line.slice(begin + before.length, end);
}

function beginning(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax).toWellFormed()}…`;
}
