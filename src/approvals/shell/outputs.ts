import { posix } from "node:path";
import { fileText } from "./files.ts";
import { readOptions } from "./options.ts";
import { placesOf } from "./paths.ts";
import {
  any,
  type Call,
  emptyStream,
  fileStream,
  isUnknown,
  name,
  type Stream,
  streamOf,
  unknownStream,
  unseenStream,
} from "./scene.ts";
import { foundBy } from "./wrappers.ts";

/** What a program prints, as far as its words tell. */
export function outputOf(call: Call): Stream {
  const { program, args, stdin, state, scene } = call;
  const { rest, values } = readOptions(args, ["p", "tmpdir", "s", "suffix"]);
  switch (program) {
    case "echo":
      return echoed(args);
    case "printf":
      return printed(call);
    case "cat":
    case "tac":
      return catted(call);
    case "pwd":
      return {
        items: state.folders,
        text: state.folders.length === 1 ? `${state.folders[0]}\n` : undefined,
        unseen: false,
      };
    case "mktemp": {
      const folder =
        values.get("p")?.[0] ?? values.get("tmpdir")?.[0] ?? (rest.length === 0 || args.includes("-t") ? "/tmp" : "");
      const pattern = (rest[0] ?? name).replace(/X+/, name);
      return streamOf(`${folder === "" ? pattern : `${folder}/${pattern}`}\n`);
    }
    case "which":
    case "command":
    case "type":
      return streamOf(`${rest.filter((arg) => !arg.startsWith("-")).at(-1) ?? any}\n`);
    case "basename":
      return streamOf(`${isUnknown(rest[0] ?? any) ? name : posix.basename(rest[0] ?? "", rest[1])}\n`);
    case "dirname":
      return streamOf(`${(rest[0] ?? any).includes(any) ? any : posix.dirname(rest[0] ?? "")}\n`);
    case "realpath":
    case "readlink":
      return { items: rest.flatMap((path) => placesOf(scene, state, path)), unseen: false };
    case "find":
      return { items: foundBy(call), unseen: false };
    case "ls":
      return listed(rest);
    case "true":
    case "false":
    case ":":
    case "test":
    case "[":
      return emptyStream;
    default:
      return filtered(call, stdin);
  }
}

function echoed(args: readonly string[]): Stream {
  const at = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const text = at === -1 ? "" : args.slice(at).join(" ");
  const decodes = args.slice(0, at === -1 ? undefined : at).some((arg) => arg.includes("e"));
  return decodes ? decoded(text) : streamOf(`${text}\n`);
}

/** Spelled by numbers, a text is not one that a person reads. */
function decoded(text: string): Stream {
  if (/\\(x[0-9a-f]|0?[0-7]{2,}|u[0-9a-f])/i.test(text)) return unseenStream;
  return streamOf(`${text.replaceAll("\\n", "\n").replaceAll("\\t", "\t").replaceAll("\\\\", "\\")}\n`);
}

function printed({ args, state }: Call): Stream {
  const variable = args[0] === "-v" ? args[1] : undefined;
  const [format = "", ...words] =
    variable === undefined ? args.filter((arg, at) => at > 0 || arg !== "--") : args.slice(2);
  const used = [...words];
  const text = format.replace(/%(%|[-\d.]*[a-zA-Z])/g, (whole, kind: string) => {
    if (kind === "%") return "%";
    return /[sqb]$/.test(kind) ? (used.shift() ?? "") : /[diu]$/.test(kind) ? (used.shift() ?? name) : whole && any;
  });
  // The format is used again for the words that are left.
  const again = used.length > 0 ? [text, ...used].join(" ") : text;
  const stream = decoded(format.includes("%b") ? `${again}${words.join("")}` : again);
  const whole = stream.text === undefined ? stream : streamOf(stream.text.replace(/\n$/, ""));
  if (variable === undefined) return whole;
  state.variables.set(variable, { values: [whole.text ?? any] });
  return emptyStream;
}

function catted(call: Call): Stream {
  const { rest } = readOptions(call.args);
  if (rest.length === 0 || (rest.length === 1 && rest[0] === "-")) return call.stdin ?? unknownStream;
  const streams = rest.map((path) => {
    const file = fileText(call, path);
    if (file === "unseen") return unseenStream;
    return file === undefined ? fileStream(placesOf(call.scene, call.state, path)) : streamOf(file.text);
  });
  const [only] = streams;
  if (streams.length === 1 && only?.files !== undefined && call.program === "cat") return only;
  const texts = streams.map(({ text }) => text);
  const items = streams.flatMap((stream) => stream.items);
  const isWhole = texts.every((text) => text !== undefined);
  const unseen = streams.some((stream) => stream.unseen);
  return isWhole ? { text: texts.join(""), items, unseen } : { items, unseen, files: filesOf(streams) };
}

/** All of them, where each is a file or known. */
function filesOf(streams: readonly Stream[]): readonly string[] | undefined {
  const isOne = ({ files, text }: Stream) => files !== undefined || text !== undefined;
  return streams.every(isOne) ? streams.flatMap(({ files }) => files ?? []) : undefined;
}

/** Names of what lies in a folder; what was named by a pattern comes back as it was named. */
function listed(rest: readonly string[]): Stream {
  if (rest.length === 0) return { items: [name], unseen: false };
  return { items: rest.map((path) => (/[*?[]/.test(path) ? path : name)), unseen: false };
}

/** Programs that hand on some of what comes in, name for name. */
const passing =
  /^(grep|egrep|fgrep|rg|sort|uniq|head|tail|tee|shuf|pv|nl|less|more|fzf|sponge|stdbuf|column|expand|fold|fmt)$/;
const numbers =
  /^(wc|date|seq|expr|nproc|id|whoami|hostname|uname|bc|stat|du|df|uuidgen|md5sum|sha256sum|sha1sum|cksum|arch|tty|logname|free|jot)$/;
const decoders =
  /^(base64|base32|basenc|xxd|uudecode|openssl|gpg|gpg2|gunzip|zcat|bzcat|xzcat|zstdcat|uncompress|lz4cat|rev|tr|od|hexdump|iconv)$/;

function filtered({ program, args }: Call, stdin: Stream | undefined): Stream {
  if (numbers.test(program)) return { items: [name], unseen: false };
  if (passing.test(program) && stdin !== undefined)
    return program === "tee" ? stdin : { items: stdin.items, unseen: stdin.unseen };
  if (decoders.test(program)) return unseenStream;
  if (
    /^(gzip|bzip2|xz|zstd|lz4|brotli)$/.test(program) &&
    args.some((arg) => /^-\w*d/.test(arg) || /^--(un|de)/.test(arg))
  )
    return unseenStream;
  return /^(curl|wget|nc|ncat|netcat|socat|ssh|telnet|ftp|aria2c|http|dig|aws|gh|gsutil)$/.test(program)
    ? unseenStream
    : unknownStream;
}
