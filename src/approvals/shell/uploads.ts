import { posix } from "node:path";
import { isKeyStore } from "./credentials.ts";
import { sqlChanges } from "./databases.ts";
import { fileText, scriptNames, writeFile } from "./files.ts";
import { readOptions, valuedByRsync } from "./options.ts";
import { isOfUploads, placesOf } from "./paths.ts";
import { type Call, type Run, report, streamOf, unknownStream, unseenStream } from "./scene.ts";

/** What the user brought stays as it came: writing over it asks, also where nothing lies there yet, which nobody can tell. */
export function judgeWrite(run: Run, targets: readonly string[], what: string): void {
  const { scene, state } = run;
  const places = targets.flatMap((target) => placesOf(scene, state, target));
  if (places.some((place) => isOfUploads(scene, place))) report(scene, "change_upload", "high", what);
  if (places.some(isKeyStore)) report(scene, "credentials", "high", what);
}

/** Programs that write files whose names stand in their arguments. */
export function judgeProgramWrites(call: Call): void {
  const targets = [...(writtenBy(call) ?? []), ...namedOutputs(call)];
  judgeWrite(call, targets, call.what);
  keepMade(call);
}

function writtenBy(call: Call): readonly string[] | undefined {
  const { program, args } = call;
  const { rest, flags } = readOptions(args, []);
  switch (program) {
    case "tee":
    case "sponge":
    case "patch":
    case "dos2unix":
    case "unix2dos":
    case "mogrify":
    case "ed":
    case "ex":
    case "autopep8":
    case "isort":
    case "black":
    case "jpegoptim":
    case "optipng":
    case "fallocate":
    case "history":
      return rest;
    case "vim":
    case "vi":
    case "nvim":
    case "exiftool":
      return args.some((arg) => /^(-c|-e?s|-E|\+.*)$|^-\w+[+-]?=/.test(arg)) ? rest : [];
    case "ffmpeg":
    case "convert":
    case "magick":
    case "sox":
      return args.at(-2) === "-i" || args[0] === "identify" ? [] : rest.slice(-1);
    case "zip":
      return rest.slice(0, 1);
    case "sed":
      return [...(args.some((arg) => /^(-[nErsuz]*i|--in-pl)/.test(arg)) ? rest : []), ...savedBy(rest[0] ?? "")];
    case "perl":
    case "ruby":
      return args.some((arg) => /^-[a-zA-Z0-9]*i/.test(arg) && !/^-[IMm]/.test(arg)) ? rest : [];
    case "awk":
    case "gawk":
      return [...(args.includes("inplace") ? rest : []), ...printsTo(rest[0] ?? "")];
    case "yq":
      return flags.has("i") || flags.has("inplace") ? rest : [];
    case "prettier":
    case "eslint":
    case "ruff":
      return flags.has("write") || flags.has("fix") || rest[0] === "format" ? rest : [];
    case "dd":
      return args.flatMap((arg) => (arg.startsWith("of=") ? [arg.slice(3)] : []));
    case "pip":
    case "pip3": {
      const keys = ["t", "target", "prefix", "root", "d", "dest", "w", "wheel-dir", "src"];
      const { values } = readOptions(args, keys);
      return keys.flatMap((key) => values.get(key) ?? []);
    }
    case "truncate":
      return readOptions(args, ["s", "size", "r"]).rest;
    case "find":
      return args.filter((_, at) => /^-f(print0?|printf|ls)$/.test(args[at - 1] ?? ""));
    case "sqlite3":
    case "duckdb":
      return sqlChanges(call) ? rest.slice(0, 1) : [];
    default:
      return movedBy(call);
  }
}

/** `w file` in sed. */
function savedBy(text: string): string[] {
  return [...text.matchAll(/(?:^|[;/}\dgp])\s?[wW] (\S+)/g)].map(([, path = ""]) => path);
}

/** `print > "file"` in awk. */
function printsTo(text: string): string[] {
  return [...text.matchAll(/>>?\s*"([^"]+)"/g)].map(([, path = ""]) => path);
}

function movedBy(call: Call): readonly string[] {
  const { program, args } = call;
  switch (program) {
    case "cp":
    case "install":
    case "ln":
    case "scp":
      return destinations(args).slice(-1);
    case "rsync":
      return readOptions(args, valuedByRsync).rest.slice(-1);
    case "mv":
    case "rename":
      return destinations(args);
    case "gzip":
    case "gunzip":
    case "bzip2":
    case "bunzip2":
    case "xz":
    case "unxz":
    case "lzma":
    case "compress":
    case "uncompress": {
      const { flags, rest } = readOptions(args, ["S"]);
      return ["k", "c", "keep", "stdout", "to-stdout", "l", "t", "list", "test"].some((key) => flags.has(key))
        ? []
        : rest;
    }
    case "tar":
    case "bsdtar":
      return extracts(args) ? folderOf(args, /^(-C|--directory)$/, /^--directory=/) : archiveOf(args);
    case "unzip": {
      const isLook = /^-[a-zA-Z]*[lvtpzZ]/.test(args[0] ?? "");
      return isLook ? [] : folderOf(args, /^-d$/, /^-d(?=.)/);
    }
    case "7z":
    case "7za":
    case "unrar":
      return ["x", "e"].includes(args[0] ?? "") ? folderOf(args, /^$/, /^-o/) : [];
    case "split":
    case "csplit":
      return readOptions(args, ["l", "b", "n", "a"]).rest.slice(1);
    default:
      return [];
  }
}

/** Of `cp`, `mv`, `install`, `ln` and `scp`. */
const valuedByCopies = ["t", "target-directory", "S", "suffix", "m", "mode", "o", "owner", "g", "group"];

/** For a move its sources count as well: they are gone from where they were. */
function destinations(args: readonly string[]): readonly string[] {
  const { rest, values } = readOptions(args, valuedByCopies);
  return [...rest, ...(values.get("t") ?? []), ...(values.get("target-directory") ?? [])];
}

function extracts(args: readonly string[]): boolean {
  const [first = ""] = args;
  return args.some((arg) => /^-[a-zA-Z]*x|^--(extract|get)$/.test(arg)) || /^[a-zA-Z]*x[a-zA-Z]*$/.test(first);
}

/** What `tar cf` writes. */
function archiveOf(args: readonly string[]): readonly string[] {
  const [first = ""] = args;
  const isLook = args.some((arg) => /^-?[a-zA-Z]*t[a-zA-Z]*f?$/.test(arg) && (arg.startsWith("-") || arg === first));
  const at = args.findIndex(
    (arg, place) => /^-[a-zA-Z]*f$/.test(arg) || (place === 0 && /^[a-zA-Z]+f[a-zA-Z]*$/.test(arg)),
  );
  return isLook || at === -1 ? [] : args.slice(at + 1, at + 2);
}

/** Where it unpacks to: the folder that is named, or where it stands. */
function folderOf(args: readonly string[], before: RegExp, within: RegExp): readonly string[] {
  const at = args.findIndex((arg) => before.test(arg));
  if (at !== -1) return [args[at + 1] ?? "."];
  const joined = args.find((arg) => within.test(arg));
  return [joined === undefined ? "." : joined.replace(within, "")];
}

/** Most programs name what they write in the same way; `-o` of these is something else. */
function namedOutputs({ program, args }: Call): readonly string[] {
  if (
    /^(grep|egrep|fgrep|rg|ps|ls|find|ssh|bash|sh|set|install|stat|mount|useradd|pgrep|od|unzip|zip|tar|bsdtar|less|awk|test|\[)$/.test(
      program,
    )
  )
    return [];
  const { values } = readOptions(args, [...outputOptions, ...outputsOfWget]);
  const named = program === "wget" ? [...outputOptions, ...outputsOfWget] : outputOptions;
  return named.flatMap((option) => values.get(option) ?? []);
}

const outputOptions = ["o", "output", "out", "outfile", "output-document", "output-file", "outdir"];
const outputsOfWget = ["O", "P"];

/** Folders, links and texts that are there from now on. */
function keepMade(call: Call): void {
  const { scene, state, program, args } = call;
  keepTexts(call);
  const { rest, flags } = readOptions(args, ["m", "mode", "t"]);
  const placed = (path: string) => placesOf(scene, state, path);
  if (program === "mkdir") for (const path of rest) for (const place of placed(path)) scene.made.add(place);
  const [from, to] = rest;
  const isLink =
    program === "ln" || (program === "cp" && from !== undefined && /^\/(usr\/)?(local\/)?s?bin\//.test(from));
  if (!isLink || from === undefined) return;
  const base = from.slice(from.lastIndexOf("/") + 1);
  // A symbolic link is followed from where it lies.
  const isSymbolic = flags.has("s") || flags.has("symbolic");
  const targetIn = (folder: string) => {
    const [target = from] = isSymbolic ? placesOf(scene, { folders: [folder] }, from) : placed(from);
    return target;
  };
  for (const place of placed(to ?? base)) {
    const target = targetIn(posix.dirname(place));
    if (place !== target && !target.startsWith(`${place}/`)) scene.links.set(place, target);
    // Into a folder it keeps its name.
    if (to !== undefined) scene.links.set(`${place}/${base}`, targetIn(place));
  }
}

/** What `tee` and copies write is judged when it is run. */
function keepTexts(call: Call): void {
  const { program, args, stdin } = call;
  const { rest, flags } = readOptions(args, ["t", "m", "o", "g"]);
  if (program === "tee" || program === "sponge")
    for (const path of rest) writeFile(call, path, stdin ?? unknownStream, flags.has("a"));
  const [from, to] = rest;
  if (!/^(cp|mv|install)$/.test(program) || from === undefined || to === undefined) return;
  // Under the name of a script it is read as one. What nobody has read is asked about when it is run under its new name.
  const file = fileText(call, from, scriptNames.test(to));
  const stream = file === "unseen" || file === undefined ? unseenStream : streamOf(file.text);
  const base = from.slice(from.lastIndexOf("/") + 1);
  for (const path of [to, `${to}/${base}`]) writeFile(call, path, stream, false);
}
