import { posix } from "node:path";
import { any, name, type Run } from "../shell/scene.ts";
import { refCharactersMax, unknown, type Value } from "./reader.ts";
import type { Token } from "./tokens.ts";

/** What programs have without asking. */
export const startValues: readonly (readonly [string, Value])[] = [
  ...["os", "shutil", "subprocess", "pathlib", "tempfile", "glob", "io", "sys", "fs", "path", "process"].map(
    (key): [string, Value] => [key, { texts: [any], ref: key }],
  ),
  ["__file__", { texts: [name] }],
  ["__dirname", { texts: [any], ref: "__dirname" }],
];

/** Names that an import gives to things, by what they are everywhere else. */
export function importedAs(tokens: readonly Token[]): [string, string][] {
  const words = tokens.map((token) => (token.kind === "text" ? `"${token.pieces?.join("") ?? ""}"` : token.text));
  const source = words.find((word) => word.startsWith('"'))?.slice(1, -1);
  if (source !== undefined)
    return pairsOf(words.slice(1, words.indexOf("from")), moduleName(source), ["{", "}", "*", "type"]);
  if (words[0] === "from") {
    const at = words.indexOf("import");
    return pairsOf(words.slice(at + 1), words.slice(1, at).join(""), ["(", ")"]);
  }
  return namesOf(words.slice(1), []).map(([own, as]) =>
    as === own ? [own.split(".")[0] ?? own, own.split(".")[0] ?? own] : [as, own],
  );
}

function pairsOf(words: readonly string[], module: string, skipped: readonly string[]): [string, string][] {
  const isWhole = !words.includes("{") && skipped.includes("{");
  return namesOf(words, skipped).map(([own, as]) => [as, isWhole ? module : `${module}.${own}`]);
}

function namesOf(words: readonly string[], skipped: readonly string[]): [string, string][] {
  const groups = words
    .filter((word) => !skipped.includes(word))
    .join(" ")
    .split(",")
    .map((group) => group.trim().split(/ as |^as /));
  return groups.map(([own = "", as]): [string, string] => {
    const plain = own.replaceAll(" ", "");
    return [plain, as === undefined || as === "" ? plain : as.trim()];
  });
}

/** `node:fs/promises` is `fs`. */
export function moduleName(source: string): string {
  return source.replace(/^node:/, "").replace(/\/promises$/, "");
}

/** `a.b`: of something with a name a longer name, of a path one of its parts. */
export function attributeOf(run: Run, owner: Value, key: string): Value {
  if ((owner.ref ?? "").length + key.length > refCharactersMax) return unknown;
  const ref = owner.ref === undefined ? `.${key}` : `${owner.ref}.${key}`.replace(/\.promises(?=\.|$)/, "");
  const fixed = fixedOf(run, ref);
  if (fixed !== undefined) return fixed;
  if (owner.ref !== undefined) return { texts: owner.texts.includes(any) ? [any] : owner.texts, ref, owner };
  switch (key) {
    case "name":
    case "stem":
    case "suffix":
    case "length":
      return { texts: [name], ref, owner };
    case "parent":
      return { texts: owner.texts.map((text) => (text.includes(any) ? any : posix.dirname(text))) };
    case "path":
      return { texts: owner.texts };
    default:
      return { texts: [any], ref, owner };
  }
}

function fixedOf(run: Run, ref: string): Value | undefined {
  if (ref === "sys.executable") return { texts: ["python3"] };
  if (ref === "process.execPath") return { texts: ["node"] };
  if (/^(process\.env|os\.environ)\.(HOME|AGENT_WORKSPACE_PATH|PWD)$/.test(ref))
    return { texts: [run.scene.facts.root] };
  return /^(process\.env|os\.environ)\.TMPDIR$/.test(ref) ? { texts: ["/tmp"] } : undefined;
}

/** What functions that only compute give back; `undefined` for all others. */
export function computed(run: Run, ref: string, owner: Value | undefined, args: readonly Value[]): Value | undefined {
  const [first = unknown, second] = args;
  const method = ref.slice(ref.lastIndexOf(".") + 1);
  const all = (...values: readonly (Value | undefined)[]): Value => ({
    texts: joined(values.flatMap((one) => (one === undefined ? [] : [one.texts]))),
  });
  if (ref === "get_ipython") return { texts: [any], ref: "get_ipython()" };
  // Node's: an absolute piece is one like the others.
  if (/^path\.(posix\.)?join$/.test(ref)) return all(...args.map(relative));
  if (/^(os\.path\.join|path\.(posix\.)?resolve|posixpath\.join)$/.test(ref)) return all(...args);
  if (
    /^((pathlib\.)?(Pure)?(Posix)?Path|str|os\.fspath|os\.path\.(abspath|normpath|realpath|expanduser|expandvars)|path\.normalize|sorted|list|set|tuple|reversed|iter|fs\.realpathSync|String|bytes|shlex\.quote)$/.test(
      ref,
    )
  )
    return args.length > 1 && /Path$/.test(ref) ? all(...args) : args.length === 0 ? { texts: ["."] } : first;
  if (/^(tempfile\.|os\.tmpdir|(fs\.)?mkdtemp)/.test(ref)) return temporary(ref, first);
  if (/^(os\.getcwd|process\.cwd|(pathlib\.)?Path\.cwd)$/.test(ref)) return { texts: run.state.folders };
  if (/^(pathlib\.)?Path\.home$|^os\.homedir$/.test(ref)) return { texts: [run.scene.facts.root] };
  if (/^glob\.(glob|iglob|sync|globSync)$|^(globSync|glob)$/.test(ref)) return { texts: [any], items: [first] };
  if (/^os\.listdir$|^(fs\.)?readdir(Sync)?$/.test(ref)) return { texts: [any], items: [{ texts: [name] }] };
  if (ref === "os.scandir") return { texts: [any], items: [below(first, name)] };
  if (/^os\.f?walk$/.test(ref))
    return { texts: [any], ref: "tuples", items: [below(first, name), { texts: [name] }, { texts: [name] }] };
  if (/^enumerate$/.test(ref))
    return {
      texts: [any],
      ref: "tuples",
      items: [{ texts: [name] }, { texts: first.items?.flatMap((one) => one.texts) ?? [any] }],
    };
  if (/^(os\.path\.dirname|path\.dirname)$/.test(ref))
    return { texts: first.texts.map((text) => (text.includes(any) ? any : posix.dirname(text))) };
  if (
    /^(os\.path\.basename|path\.basename|len|int|float|round|range|time\.time|id|hash|uuid\.uuid4|Date\.now)$/.test(ref)
  )
    return ref === "range" ? { texts: [any], items: [{ texts: [name] }] } : { texts: [name] };
  if (owner === undefined) return undefined;
  return methodOf(owner, method, first, second);
}

function methodOf(owner: Value, method: string, first: Value, second: Value | undefined): Value | undefined {
  switch (method) {
    case "glob":
    case "rglob":
      return { texts: [any], items: [below(owner, first.texts[0] ?? any)] };
    case "iterdir":
    case "listdir":
      return { texts: [any], items: [below(owner, name)] };
    case "joinpath":
      return { texts: joined([owner.texts, first.texts]) };
    case "with_suffix":
    case "with_name":
    case "with_stem":
      return { texts: owner.texts.map((text) => (text.includes(any) ? any : `${posix.dirname(text)}/${name}`)) };
    case "join":
      return owner.ref === undefined && first.items !== undefined
        ? glued(owner.texts[0] ?? any, first.items)
        : glued(first.texts[0] ?? ",", owner.items);
    case "format":
      return { texts: owner.texts.map((text) => filled(text, /\{[^}]*\}/g, first.texts[0] ?? any)) };
    case "replace":
      return second === undefined
        ? undefined
        : { texts: owner.texts.map((text) => filled(text, first.texts[0] ?? any, second.texts[0] ?? any)) };
    case "split":
      return { texts: [any], items: (owner.texts[0] ?? any).split(/\s+/).map((text) => ({ texts: [text] })) };
    case "concat":
      return { texts: joined([owner.texts, first.texts], "") };
    case "filter":
    case "sort":
      return owner;
    default:
      return /^(resolve|absolute|as_posix|expanduser|strip|lstrip|rstrip|trim|toString|lower|upper|encode|decode|with_segments|normalize)$/.test(
        method,
      ) && owner.ref === undefined
        ? owner
        : undefined;
  }
}

function temporary(ref: string, first: Value): Value {
  if (/mkdtemp(Sync)?$/.test(ref) && !ref.startsWith("tempfile"))
    return { texts: first.texts.map((text) => text + name) };
  const own = { texts: [/gettempdir|tmpdir/.test(ref) ? "/tmp" : `/tmp/${name}`] };
  return ref === "tempfile.mkstemp" ? { texts: [any], ref: "tuples", items: [{ texts: [name] }, own] } : own;
}

function relative({ texts }: Value, at: number): Value {
  return { texts: at === 0 ? texts : texts.map((text) => text.replace(/^\/+/, "")) };
}

function below(folder: Value, pattern: string): Value {
  return { texts: folder.texts.map((text) => `${text}/${pattern}`) };
}

function glued(between: string, items: readonly Value[] | undefined): Value {
  if (items === undefined) return unknown;
  const texts = items.map((item) => item.texts[0] ?? any);
  const length = texts.reduce((sum, text) => sum + text.length + between.length, 0);
  return length > madeCharactersMax ? unknown : { texts: [texts.join(between)] };
}

/** A longer text that a function makes can be anything. */
const madeCharactersMax = 8_192;

/** A text with each place of a pattern filled in; it may grow by much. */
function filled(text: string, pattern: string | RegExp, by: string): string {
  if (text.length * Math.max(1, by.length) <= madeCharactersMax) return text.replaceAll(pattern, () => by);
  const places = text.length > madeCharactersMax ? madeCharactersMax : text.split(pattern).length;
  return text.length + places * by.length > madeCharactersMax ? any : text.replaceAll(pattern, () => by);
}

/** A later absolute piece stands for the whole. */
function joined(lists: readonly (readonly string[])[], between = "/"): string[] {
  const both = (text: string, next: string) => {
    if (text === "" || (between === "/" && next.startsWith("/"))) return next;
    return text.length + next.length > madeCharactersMax ? any : `${text}${between}${next}`;
  };
  return lists.reduce<string[]>(
    (all, texts) =>
      all.length * texts.length > madeTextsMax ? [any] : all.flatMap((text) => texts.map((next) => both(text, next))),
    [""],
  );
}

const madeTextsMax = 64;
