import { judgeCredentials } from "../shell/credentials.ts";
import { judgeSql } from "../shell/databases.ts";
import { judgeTargets } from "../shell/deletes.ts";
import { fileText } from "../shell/files.ts";
import { runModule, runPath, runRequired } from "../shell/modules.ts";
import { isOfUploads, placesOf } from "../shell/paths.ts";
import { any, fork, type Language, name, type Run, report, shellLimits, spend } from "../shell/scene.ts";
import { runText } from "../shell/shell-words.ts";
import { judgeWrite } from "../shell/uploads.ts";
import { computed, moduleName } from "./names.ts";
import { isReachingOut } from "./networks.ts";
import { type Argument, costOf, elements, kept, unknown, type Value } from "./reader.ts";
import { type Called, keepOpened, keepWritten } from "./written.ts";

/** A program that is being read. */
export type Program = {
  readonly run: Run;
  readonly language: Language;
  readonly variables: Map<string, Value>;
  /** Names of functions that delete, imported and not used so far, and where. */
  readonly unused: Map<string, string>;
  /** It has opened a database that lies in `uploads/`. */
  usesUploads: boolean;
  /** Files that it has opened to write, and whether nothing was seen written so far. */
  readonly opened: Map<string, boolean>;
  whatAt(at: number): string;
};

/** Judges one call of a function, and tells what comes of it. */
export function callIn(
  program: Program,
  callee: Value,
  args: readonly Argument[],
  at: number,
  nested: (text: string, at: number) => void,
): Value {
  const { run } = program;
  spend(run.scene, callSteps);
  const values = args.filter(({ key }) => key === undefined).map(({ value }) => value);
  const ref = laterRef(program, knownRef(callee.ref ?? ""), values);
  const what = program.whatAt(at);
  const owner = callee.owner;
  const taken = reflected(ref, values, run, what);
  if (taken !== undefined) return taken;
  if (isRunningText(ref, program.language)) {
    const given = values.at(ref.endsWith("Function") ? -1 : 0) ?? unknown;
    const file = given.file === undefined ? undefined : fileText(run, given.file, true);
    if (file === "unseen") report(run.scene, "run_unseen", "critical", what);
    else for (const text of given.texts) nested(text, at);
    return unknown;
  }
  if (ref === "runpy.run_path") for (const path of values[0]?.texts ?? [any]) runPath(run, path, what);
  judgeFiles(program, { ref, owner, values, args, what });
  judgeShell(program, ref, args, what);
  judgeOther(program, ref, values, what);
  judgePassed(program, owner, args, at, nested);
  const value = kept(opened(run, ref, owner, values) ?? computed(run, ref, owner, values) ?? unknown);
  spend(run.scene, costOf(value));
  return value;
}

/** A call costs as much as so many pieces of an expression. */
const callSteps = 50;

/**
 * What a name stands for that nothing in this text has set: an earlier one may have, by `import os as o` or
 * `from shutil import rmtree`.
 */
function laterRef({ variables, language }: Program, ref: string, values: readonly Value[]): string {
  const [root = "", method = root, more] = ref.split(".");
  if (language !== "python" || root === "" || more !== undefined || variables.has(root)) return ref;
  const [first = unknown] = values;
  if (/^(rmtree|removedirs)$/.test(method)) return "shutil.rmtree";
  if (/^(unlink|rmdir)$/.test(method) && values.length > 0) return `os.${method}`;
  if (method === "remove" && first.texts.some((text) => text.includes("/"))) return "os.remove";
  if (/^(system|popen|getoutput|getstatusoutput)$/.test(method) && isPlain(first)) return "os.system";
  const isList = first.items !== undefined && first.items.length > 0 && first.items.every(isPlain);
  return /^(run|call|check_call|check_output|Popen)$/.test(method) && isList ? `subprocess.${method}` : ref;
}

function isPlain({ texts, items, ref }: Value): boolean {
  return items === undefined && ref === undefined && !texts.includes(any);
}

/** `builtins.open` is `open`; `fs_extra` is `fs`. */
export function knownRef(ref: string): string {
  return ref
    .replace(/^((builtins|__builtins__|globalThis|window|global|self|globals|locals|sys\.modules)\.)+/, "")
    .replaceAll(".__dict__", "")
    .replace(/^posix\b/, "os")
    .replace(/^(fs-extra|fsPromises|fsp|graceful-fs)\b/, "fs");
}

/** Modules and functions that are named by a text. */
function reflected(ref: string, values: readonly Value[], run: Run, what: string): Value | undefined {
  const [first, second] = values;
  if (/^(__import__|importlib\.import_module|runpy\.run_module)$/.test(ref) || requiring.test(ref)) {
    const [text = any] = first?.texts ?? [];
    if (text.includes(any)) report(run.scene, "unreadable", "medium", what);
    else if (requiring.test(ref)) runRequired(run, text, what);
    else runModule(run, text, what, ref.startsWith("runpy"));
    return { texts: [any], ref: moduleName(text) };
  }
  if (/^(globals|locals)$/.test(ref)) return { texts: [any], ref };
  if (ref === "vars") return first;
  // `operator.methodcaller("remove", x)(os)`
  const [method = any] = first?.texts ?? [];
  if (/^operator\.(methodcaller|attrgetter)$/.test(ref) && isGrave(`os.${method}`))
    report(run.scene, "unreadable", "high", what);
  if (!/^(getattr|Reflect\.get)$/.test(ref) || first?.ref === undefined) return undefined;
  const [text = any] = second?.texts ?? [];
  if (text.includes(any) && /^(os|shutil|subprocess|builtins|__builtins__|fs|child_process|socket)$/.test(first.ref)) {
    report(run.scene, "unreadable", "high", what);
  }
  return { texts: [any], ref: `${first.ref}.${text}`, owner: first };
}

const requiring =
  /^(require|import|module\.require|module\.constructor\._load|[mM]odule\._load)$|(^|\.)getBuiltinModule$/;

/** `map(os.remove, files)`, `files.forEach(fs.unlinkSync)`: a function that another one calls. */
function judgePassed(
  program: Program,
  owner: Value | undefined,
  args: readonly Argument[],
  at: number,
  nested: (text: string, at: number) => void,
): void {
  const passed = args.findIndex(({ value }) => isGrave(knownRef(value.ref ?? "")));
  const callee = args[passed]?.value;
  if (callee === undefined) return;
  const others = args.filter((_, place) => place !== passed).map(({ value }) => value);
  const given = others.length === 0 && owner !== undefined ? [owner] : others;
  const each = given.flatMap((value) => (value.items === undefined ? [value] : [elements(value)]));
  callIn(
    program,
    callee,
    each.map((value) => ({ key: undefined, value })),
    at,
    nested,
  );
}

function isGrave(ref: string): boolean {
  return ref.includes(".") && (deleting.test(ref) || isRunning(ref));
}

/** Whether a function of this name deletes. */
export function isDeleting(ref: string): boolean {
  return deleting.test(ref);
}

/** Whether a function of this name runs programs. `Popen` is a type as well. */
export function isRunning(ref: string): boolean {
  return (shells.test(ref) || launchers.test(ref)) && !ref.endsWith(".Popen");
}

function isRunningText(ref: string, language: Language): boolean {
  if (language === "python") return /^(exec|eval|compile|code\.interact)$/.test(ref);
  return /^(eval|Function|(worker_threads\.)?Worker|vm\.(run\w+|Script|compileFunction))$/.test(ref);
}

const deleting =
  /^(os\.(remove|unlink|rmdir|removedirs)|shutil\.rmtree|send2trash(\.send2trash)?|(fs\.)?(rm|unlink|rmdir|remove|emptyDir)(Sync)?|rimraf(\.sync|Sync)?|del(\.sync)?|Deno\.remove(Sync)?|(pathlib\.)?Path\.(unlink|rmdir)|distutils\.dir_util\.remove_tree)$/;
const deepDeleting = /rmtree|rimraf|emptyDir|remove_tree|^(fs\.)?rm(Sync)?$|^del/;
/** Names so common that only the whole of them means the file system. */
const commonNames = /^(remove|del|rm)$/;
const writing =
  /(^|\.)(to_(csv|excel|json|parquet|pickle|html|feather|sql|markdown|latex|hdf|stata|xml)|savefig|save|savez\w*|savetxt|write_(text|bytes|image|html|csv|parquet|json)|imwrite|imsave|writeFile(Sync)?|appendFile(Sync)?|createWriteStream|outputFile(Sync)?|writeJson(Sync)?|truncate(Sync)?|extractall|unpack_archive|make_archive|copytree|writeTextFile(Sync)?|copyFile(Sync)?|cp(Sync)?|copy|copy2|copyfile|(sym)?link(Sync)?)$/;

function judgeFiles(program: Program, called: Called): void {
  const { run } = program;
  const { ref, owner, values, args, what } = called;
  const [first = unknown, second] = values;
  const method = ref.slice(ref.lastIndexOf(".") + 1);
  const isOwn = owner !== undefined && !deleting.test(ref) && /^(unlink|rmdir|rmtree)$/.test(method);
  if (isOwn) judgeTargets(run, owner.texts, method === "rmtree", what);
  if (deleting.test(ref) && !(commonNames.test(ref) && first.texts.includes(any)))
    judgeTargets(run, first.texts, deepDeleting.test(ref), what);
  if (/^(shutil\.move|os\.(rename|renames|replace)|(fs\.)?(rename|move)(Sync)?)$/.test(ref) && second !== undefined)
    for (const from of first.texts) for (const to of second.texts) run.scene.call(["mv", from, to], run, what);
  if (owner !== undefined && /^(rename|replace|move)$/.test(method) && values.length === 1 && owner.ref === undefined)
    for (const from of owner.texts) for (const to of first.texts) run.scene.call(["mv", from, to], run, what);
  if (ref === "os.truncate" || /^(fs\.)?truncate(Sync)?$/.test(ref))
    run.scene.call(["truncate", "-s", second?.texts[0] ?? "0", ...first.texts], run, what);
  if (writing.test(ref)) {
    const targets = /copy|cp|move|unpack|symlink|link(Sync)?$/.test(ref)
      ? values.slice(1)
      : [...values, ...(owner?.ref === undefined ? [owner ?? unknown] : [])];
    const named = args.filter(({ key }) => key !== undefined).map(({ value }) => value);
    judgeWrite(
      run,
      [...targets, ...named].flatMap((value) => value.texts).filter((text) => text !== any),
      what,
    );
  }
  judgeOpen(program, called);
  keepWritten(program, called);
}

/** A file that is opened to be written is changed; one that is read may hold credentials. */
function judgeOpen(program: Program, { ref, owner, values, args, what }: Called): void {
  const { run } = program;
  const isOpen = /(^|\.)(open|openSync|ZipFile|TarFile|ExcelWriter|PdfPages|FileHandler)$/.test(ref);
  const isOwn = isOpen && owner !== undefined && owner.ref === undefined;
  const named = (keys: RegExp) => args.find(({ key }) => key !== undefined && keys.test(key))?.value;
  const path = isOwn ? owner : (values[0] ?? named(/^(file|path|name|filename)$/));
  const paths = (path?.texts ?? []).filter((text) => text !== any);
  const mode = named(/^(mode|flags?)$/) ?? values[isOwn ? 0 : 1];
  const writes = isWriting(ref, mode);
  const isInPlace = /^fileinput\./.test(ref) && args.some(({ key }) => key === "inplace");
  if ((isOpen && writes) || isInPlace) judgeWrite(run, paths, what);
  if ((isOpen && writes) || /(^|\.)createWriteStream$/.test(ref)) keepOpened(program, path, mode, isFile(ref, owner));
  if (
    /(^|\.)connect$|Database$/.test(ref) &&
    paths.some((path) => placesOf(run.scene, run.state, path).some((place) => isOfUploads(run.scene, place)))
  )
    program.usesUploads = true;
  if (
    /^(print|console\.\w+|logging\.\w+|len|os\.path\.\w+|os\.stat|fs\.(existsSync|statSync|access)|str\.\w+)$|\.(startswith|endswith|append|info|debug|format|startsWith|includes|push)$/.test(
      ref,
    ) ||
    (isOpen && writes)
  )
    return;
  judgeCredentials(
    run,
    values.flatMap((value) => value.texts).filter((text) => text !== any && /^[~./]|\.env|id_rsa/.test(text)),
    what,
  );
}

/**
 * By the letters of the mode: `r+`, or in Node `rs+` and `sa`. The system has flags for it, of which the first is seen, and
 * databases are made where they are not only read.
 */
function isWriting(ref: string, mode: Value | undefined): boolean {
  if (/Writer|PdfPages|FileHandler/.test(ref)) return true;
  if (ref === "os.open") return mode?.ref !== "os.O_RDONLY" && mode?.texts[0] !== "0";
  if (/^(shelve|dbm(\.\w+)?)\.open$/.test(ref)) return mode?.texts[0] !== "r";
  if (/(^|\.)O_(WRONLY|RDWR|APPEND|CREAT|TRUNC)$/.test(mode?.ref ?? "")) return true;
  return (mode?.texts ?? []).some((text) => /^[rbts]*[wax+]/.test(text));
}

const shells =
  /^(os\.(system|popen)|subprocess\.(getoutput|getstatusoutput)|commands\.get\w+|pty\.spawn|asyncio\.create_subprocess_shell|(child_process\.)?(exec|execSync)|shelljs\.exec|popen2?\.\w+|execa(Command)?(Sync)?|get_ipython(\(\))?\.(system|getoutput))$/;
const launchers =
  /^(subprocess\.(run|call|check_call|check_output|Popen)|asyncio\.create_subprocess_exec|(child_process\.)?(spawn|spawnSync|execFile|execFileSync|fork)|Bun\.spawn(Sync)?|Deno\.(run|Command)|os\.(exec\w+|spawn\w+|posix_spawnp?))$/;

/** Programs that a program starts are commands like all others. */
function judgeShell(program: Program, ref: string, passed: readonly Argument[], what: string): void {
  const isText = shells.test(ref);
  if (!isText && !launchers.test(ref)) return;
  const state = fork(program.run.state);
  const run = { ...program.run, state, what };
  // Options are an object in JavaScript, and `**{…}` in Python.
  const args = passed.flatMap((arg) => (arg.key === undefined ? arg.value.named : undefined) ?? [arg]);
  const named = (keys: RegExp) => args.filter(({ key }) => keys.test(key ?? "")).map(({ value }) => value);
  const folders = named(/^cwd$/).filter(({ ref = "" }) => !/^(None|null|undefined)$/.test(ref));
  // An object may have been changed since it was made: where the program stands counts as well.
  const isChangeable = passed.every(({ key }) => key !== "cwd");
  if (folders.length > 0) goTo(run, [...folders, ...(isChangeable ? [{ texts: ["."] }] : [])]);
  const given = [...args.filter(({ key }) => key === undefined).map(({ value }) => value), ...named(/^(args|cmd)$/)];
  const first = given[0] ?? unknown;
  if (isText || (first.items === undefined && given.length === 1)) {
    for (const text of first.texts) {
      if (text === any || text === name) report(run.scene, "unreadable", "high", what);
      else runText(run, text);
    }
    return;
  }
  const argv = argvOf(ref, given).map((value) => value.texts[0] ?? any);
  const shell = args.some(
    ({ key, value }) => key === "shell" && /^(True|true|1|.*sh)$/.test(value.ref ?? value.texts[0] ?? ""),
  );
  if (shell) runText(run, argv.join(" "));
  else if (argv.length > 0) run.scene.call(argv, run, what);
}

/** It may stand in any of them from then on. */
function goTo({ scene, state }: Run, folders: readonly Value[]): void {
  const places = new Set(folders.flatMap(({ texts }) => texts).flatMap((text) => placesOf(scene, state, text)));
  state.folders = places.size > shellLimits.foldersMax ? [any] : [...places];
}

function argvOf(ref: string, given: readonly Value[]): readonly Value[] {
  const [first = unknown, second, ...rest] = given;
  if (/^os\.execl/.test(ref)) return [first, ...rest];
  if (/^os\.spawn/.test(ref)) return second?.items === undefined ? [second ?? unknown, ...rest.slice(1)] : second.items;
  if (/^os\.(exec|posix)/.test(ref)) return [first, ...(second?.items?.slice(1) ?? [unknown])];
  if (first.items !== undefined) return first.items;
  return [first, ...(second?.items ?? (second === undefined ? [] : [second, ...rest]))];
}

/** Where modules are looked for. */
const foldersMax = 16;

function judgeOther(program: Program, ref: string, values: readonly Value[], what: string): void {
  const { run } = program;
  const { scene } = run;
  const texts = values.flatMap((value) => value.texts);
  if (isReachingOut(ref, texts)) report(scene, "network", "medium", what);
  if (
    /^(pip\.main|pip\._internal\.\w+(\.\w+)*|micropip\.install|install\.packages|ensurepip\.\w+|nltk\.download)$/.test(
      ref,
    )
  )
    report(scene, "packages", "medium", what);
  if (
    /^(os|process)\.(setuid|setgid|seteuid|setegid|setreuid|setresuid|setgroups|chroot|unshare|setns)$|\.(unshare|setns|mount|chroot)$/.test(
      ref,
    )
  )
    report(scene, "privilege", "high", what);
  if (/(^|\.)f?l?chmod(Sync)?$/.test(ref) && texts.some((text) => /^0o?[2467]\d{3}$/.test(text)))
    report(scene, "privilege", "high", what);
  if (/(^|\.)(execute\w*|query|raw|exec|run|text|read_sql\w*|prepare|sql|all)$/.test(ref)) {
    for (const text of values[0]?.texts ?? []) judgeSql(run, text, what);
    if (
      program.usesUploads &&
      texts.some((text) => /^\s*(insert|update|delete|drop|alter|create|replace)\b/i.test(text))
    )
      report(scene, "change_upload", "high", what);
  }
  if (/^sys\.path\.(insert|append)$/.test(ref))
    run.state.modules = [...run.state.modules, ...placesOf(scene, run.state, texts.at(-1) ?? any)].slice(0, foldersMax);
  if (/^(os\.chdir|process\.chdir)$/.test(ref)) goTo(run, [values[0] ?? unknown]);
}

/** `open(x)` and `Path(x).open()` of Python: what they give is followed. */
function isFile(ref: string, owner: Value | undefined): boolean {
  return /^((io|codecs)\.)?open$/.test(ref) || (ref === ".open" && owner !== undefined && owner.ref === undefined);
}

/** `open(x).read()`: the text, where somebody has read it. */
function opened(run: Run, ref: string, owner: Value | undefined, values: readonly Value[]): Value | undefined {
  if (isFile(ref, owner)) return { texts: (ref === ".open" ? owner : values[0])?.texts ?? [any], ref: "file" };
  const isRead = /(^|\.)(read|read_text|readFileSync|readFile)$/.test(ref);
  const path = /readFile/.test(ref) ? values[0]?.texts[0] : owner?.texts[0];
  if (!isRead || path === undefined || path.includes(any)) return undefined;
  const file = fileText(run, path);
  if (file === "unseen") return { ...unknown, file: path };
  return file === undefined ? { texts: [name], file: path } : { texts: [file.text], file: path };
}
