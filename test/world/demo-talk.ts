import { type Failure, makeFailure } from "../../src/protocol/failure.ts";
import { errorForModel } from "../../src/tools/tools.ts";
import { forModels } from "../../src/words/words.ts";

type Call = { readonly id: string; readonly name: string; readonly arguments: string };
type Message = {
  role: string;
  content: string;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
};
/** The demo model itself: it is handed in, since only its own folder knows it. */
type Reply = (request: {
  model: string;
  messages: Message[];
  tools: { function: { name: string } }[];
}) => Promise<{ readonly text: string; readonly calls: readonly Call[] }>;

export type TalkFiles = Readonly<Record<string, string>>;
type Parameters = Record<string, unknown>;
export type TalkOptions = {
  /** What a tool answers in place of its usual result. */
  readonly results?: Readonly<Record<string, string | ((parameters: Parameters) => string)>>;
  /** Tools that are offered too. */
  readonly and?: readonly string[];
  /** Tools that are not offered. */
  readonly without?: readonly string[];
};

const tools = "now todo_write todo_read list_files find_files read_file write_file edit_file search_file".split(" ");
const requestsMax = 10;

/** A conversation with the demo model in which the tools answer from these files in the form of the real ones. */
export function startDemoTalk(
  reply: Reply,
  present: TalkFiles,
  { results = {}, without = [], and = [] }: TalkOptions = {},
) {
  const messages: Message[] = [];
  const offered = [...tools, ...and].filter((name) => !without.includes(name)).map((name) => ({ function: { name } }));
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const made: [name: string, parameters: Parameters][] = [];
    for (let requests = 1; requests <= requestsMax; requests += 1) {
      const { text, calls } = await reply({ model: "demo", messages, tools: offered });
      messages.push({
        role: "assistant",
        content: text,
        tool_calls: calls.map(({ id, name, arguments: json }) => ({ id, function: { name, arguments: json } })),
      });
      if (calls.length === 0) return { text, calls: made };
      for (const { id, name, arguments: json } of calls) {
        const parameters: Parameters = JSON.parse(json);
        made.push([name, parameters]);
        const given = results[name] ?? resultOf(name, parameters, present);
        const result = typeof given === "string" ? given : given(parameters);
        messages.push({ role: "tool", tool_call_id: id, content: result });
      }
    }
    throw new Error("the demo model does not come to an end");
  };
  return { say };
}

/** What a model reads of a failed call. */
export function failedResult(failure: Failure): string {
  return errorForModel(failure);
}

function resultOf(tool: string, parameters: Parameters, present: TalkFiles): string {
  const path = String(parameters.path);
  switch (tool) {
    case "list_files":
      return listOf(path, present);
    case "find_files":
      return foundIn(present);
    case "read_file":
      return present[path] === undefined
        ? failedResult(makeFailure("file_not_found", { path, near: "" }))
        : pageOf(path, present[path], Number(parameters.offset ?? 1), Number(parameters.column ?? 1));
    case "search_file": {
      const query = String(parameters.query);
      return /^red/.test(query) ? `outputs/notes.txt:1\n**${query}**` : "No line matches.";
    }
    default:
      return "Success";
  }
}

function listOf(folder: string, present: TalkFiles): string {
  const { listed, listEmpty } = forModels.files;
  const lines = Object.entries(present).flatMap(([path, text]) => {
    if (!path.startsWith(`${folder}/`)) return [];
    const [name = "", ...below] = path.slice(folder.length + 1).split("/");
    return below.length === 0 ? listed.file(path, Buffer.byteLength(text)) : listed.folder(`${folder}/${name}`);
  });
  return lines.length === 0 ? listEmpty(folder) : [...new Set(lines)].join("\n");
}

function foundIn(present: TalkFiles): string {
  const { found, size, age } = forModels.files;
  return Object.entries(present)
    .map(([path, text]) => found(path, size(Buffer.byteLength(text)), age(0)))
    .join("\n");
}

const pageCharactersMax = 50_000;

function pageOf(path: string, text: string, offset: number, column: number): string {
  const all = text.replace(/\n$/, "").split("\n");
  const first = (all[offset - 1] ?? "").slice(column - 1);
  const { header, lines, more } = forModels.files;
  if (first.length > pageCharactersMax) {
    const head = header(path, `${lines(offset, offset, all.length)}, ${text.length} bytes, UTF-8`);
    return [head, first.slice(0, pageCharactersMax), more(path, offset, column + pageCharactersMax)].join("\n");
  }
  all[offset - 1] = first;
  let [last, characters] = [offset - 1, 0];
  while (last < all.length && characters + (all[last]?.length ?? 0) + 1 <= pageCharactersMax) {
    characters += (all[last]?.length ?? 0) + 1;
    last += 1;
  }
  const head = header(path, `${lines(offset, last, all.length)}, ${text.length} bytes, UTF-8`);
  const next = last < all.length ? `\n${more(path, last + 1)}` : "";
  return `${head}\n${all.slice(offset - 1, last).join("\n")}${next}`;
}
