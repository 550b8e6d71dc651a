import { readOptions } from "./options.ts";
import { placesOf } from "./paths.ts";
import { any, type Call, emptyStream, fork, name, type Stream } from "./scene.ts";
import { runStream, runText } from "./shell-words.ts";

/** Programs that run another one, which stands in their arguments; `undefined` for all others. */
export function runWrapped(call: Call): Stream | undefined {
  const { program, args } = call;
  if (program === "env") return runEnv(call);
  if (program === "command" && args.some((arg) => /^-[vV]+$/.test(arg))) return undefined;
  const plain = plainWrappers[/^ld(-linux.*)?\.so[.\d]*$/.test(program) ? "nohup" : program];
  if (plain !== undefined) return runInner(call, plain);
  switch (program) {
    case "xargs":
    case "parallel":
      return runEach(call);
    case "find":
    case "fd":
    case "fdfind":
      return runFind(call);
    case "watch":
    case "entr":
      return runWords(apart(call), readOptions(args, ["n", "interval"], true).rest);
    case "script":
    case "su":
    case "runuser":
    case "flock":
      return runGivenText(call);
    case "docker":
    case "podman":
      return args[0] === "exec" ? runInner({ ...call, args: args.slice(1) }, inContainer) : undefined;
    case "start-stop-daemon":
      return runDaemon(call);
    case "tmux":
    case "screen":
    case "hyperfine":
      return runSession(call);
    case "make":
    case "gmake":
      return runMake(call);
    case "at":
    case "batch":
      return call.stdin === undefined ? undefined : runStream(apart(call), call.stdin);
    case "ssh":
      return runText(apart(call), readOptions(args, sshValued, true).rest.slice(1).join(" "));
    default:
      return runManaged(call);
  }
}

/** In a shell or a program of its own: whatever it does there, the shell that started it stays as it is. */
function apart(call: Call): Call {
  return { ...call, state: fork(call.state) };
}

/** `start-stop-daemon -S -x /bin/x -- …` */
function runDaemon(call: Call): Stream | undefined {
  const { values, rest } = readOptions(call.args, ["x", "exec", "a", "startas", "p", "pidfile", "u", "c", "chuid"]);
  const [program] = ["x", "exec", "a", "startas"].flatMap((key) => values.get(key) ?? []);
  return program === undefined ? undefined : call.scene.call([program, ...rest], apart(call), call.what);
}

/** Programs that hand their words to a shell. */
function runSession(call: Call): Stream | undefined {
  const { program, args } = call;
  if (program === "hyperfine") return runBenchmark(call);
  const valued = program === "screen" ? [..."StTcehp"] : [..."nstcxyeFflpLST"];
  const { rest } = readOptions(args, valued, true);
  const words = program === "tmux" ? readOptions(rest.slice(1), valued, true).rest : rest;
  const isOne =
    program !== "tmux" || /^(new|new-session|new-window|neww|split-window|run-shell|run)$/.test(rest[0] ?? "");
  if (!isOne || words.length === 0) return undefined;
  return runWords(apart(call), words);
}

/** Some put their words into one line for a shell, some hand them on as they are: where that differs, both count. */
function runWords(call: Call, words: readonly string[]): Stream {
  if (words.some((word) => /\s/.test(word))) call.scene.call(words, apart(call), call.what);
  return runText(call, words.join(" "));
}

/** `hyperfine --prepare x y`: a command each, and those that are run around it. */
function runBenchmark(call: Call): Stream {
  const around = ["s", "setup", "p", "prepare", "C", "conclude", "c", "cleanup"];
  const { rest, values } = readOptions(call.args, [..."wrmMn", "warmup", "runs", "min-runs", "max-runs", ...around]);
  const texts = [...around.flatMap((key) => values.get(key) ?? []), ...rest];
  return runText(apart(call), texts.join("\n"));
}

const makefiles = ["GNUmakefile", "makefile", "Makefile"];

/** The commands of a makefile that the text itself wrote. One that lies there is a program like all others. */
function runMake(call: Call): Stream | undefined {
  const { args, scene, state } = call;
  const { values, rest } = readOptions(args, ["f", "file", "makefile", "C", "directory", "j", "I", "o", "W"]);
  const own = fork(state);
  for (const folder of [...(values.get("C") ?? []), ...(values.get("directory") ?? [])])
    own.folders = placesOf(scene, own, folder);
  const named = ["f", "file", "makefile"].flatMap((key) => values.get(key) ?? []);
  const texts = (named.length > 0 ? named : makefiles).flatMap((path) => {
    if (path === "-") return call.stdin?.text ?? [];
    return placesOf(scene, own, path).flatMap((place) => scene.files.get(place) ?? []);
  });
  for (const text of texts) runText({ ...call, state: own }, recipes(text));
  const shell = rest.flatMap((word) => /^SHELL=(.+)$/.exec(word)?.[1] ?? []);
  for (const text of shell) runText({ ...call, state: fork(state) }, text);
  return undefined;
}

/** Lines that begin with a tab; `$(X)` is a variable here. */
function recipes(text: string): string {
  const set = new Map([...text.matchAll(/^(\w+)\s*[:?]?=\s*(.*)$/gm)].map(([, key = "", value = ""]) => [key, value]));
  const lines = [...text.matchAll(/^(?:\t|[^\s#:=][^\n=:]{0,200}:[^\n=;]{0,400};)[@+-]*(.*)$/gm)].map(
    ([, line = ""]) => line,
  );
  const spelled = (_: string, key: string) => set.get(key) ?? (key === "RM" ? "rm -f" : key.toLowerCase());
  return lines.map((line) => line.replace(/\$[({](\w+)[)}]/g, spelled).replaceAll("$$", "$")).join("\n");
}

/** `uv run x`, `bundle exec x`, `conda run -n env x`. */
function runManaged(call: Call): Stream | undefined {
  const { program, args } = call;
  const word = managed[program];
  const at = word === undefined ? -1 : args.indexOf(word);
  if (at === -1) return undefined;
  const { rest } = readOptions(args.slice(at + 1), ["n", "name", "p", "prefix", "with", "python"], true);
  return rest.length === 0 ? undefined : call.scene.call(rest, apart(call), call.what);
}

const managed: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["uv", "poetry", "pipenv", "pdm", "hatch", "conda", "mamba", "micromamba"].map((one) => [one, "run"]),
  ),
  ...Object.fromEntries(["bundle", "npm", "pnpm", "direnv"].map((one) => [one, "exec"])),
};

/** Whether it only passes on to another program. */
export function isWrapper(program: string): boolean {
  return program in plainWrappers || ["env", "xargs", "parallel"].includes(program);
}

/** How the other program is found: options that take a word, and how many operands come before it. */
type Plain = { readonly valued: readonly string[]; readonly skip: number };

const sshValued = [..."BbcDEeFIiJLlmOopQRSWw"];
const plain = (valued = "", skip = 0): Plain => ({ valued: valued.split(" ").filter(Boolean), skip });
const inContainer = plain("e u w env user workdir", 1);
const plainWrappers: Readonly<Record<string, Plain>> = {
  command: plain(),
  builtin: plain(),
  exec: plain("a"),
  nohup: plain(),
  setsid: plain(),
  time: plain("f o format output"),
  nice: plain("n adjustment"),
  ionice: plain("c n p class classdata pid"),
  chrt: plain("T P D sched-runtime sched-period sched-deadline", 1),
  taskset: plain("", 1),
  timeout: plain("s k signal kill-after", 1),
  stdbuf: plain("i o e input output error"),
  unbuffer: plain(),
  strace: plain("o e p s u P a b E I O S U X output trace user env attach"),
  ltrace: plain("o e p s u a A D F l n w x output library indent align where"),
  gdb: plain("x ex"),
  valgrind: plain(),
  busybox: plain(),
  toybox: plain(),
  chronic: plain(),
  setarch: plain("", 1),
  ...Object.fromEntries(["linux32", "linux64", "i386", "x86_64", "uname26"].map((one) => [one, plain()])),
  cpulimit: plain("l p e"),
  choom: plain("n p adjust pid"),
  ifne: plain(),
  sudo: plain("u g h p C r t user group"),
  doas: plain("u C"),
  pkexec: plain("user"),
  chroot: plain("", 1),
  unshare: plain("S G R w"),
  nsenter: plain("t target S G"),
  setpriv: plain("reuid regid groups"),
  capsh: plain(),
  prlimit: plain(),
  numactl: plain("C N m i p physcpubind cpunodebind membind interleave preferred"),
  caffeinate: plain("t w"),
  catchsegv: plain(),
  "dbus-run-session": plain(),
  perf: plain("e o r C p t x D F m u M event output repeat cpu pid tid freq", 1),
  gosu: plain("", 1),
  "su-exec": plain("", 1),
  setuidgid: plain("", 1),
  chpst: plain("u U b e / n l L m d o p f c"),
  "aa-exec": plain("p n"),
  fakeroot: plain("l i s b lib faked fd-base"),
  proxychains: plain("f"),
  proxychains4: plain("f"),
  torify: plain(),
  torsocks: plain(),
  "xvfb-run": plain("s e n f p w server-args error-file server-num auth-file xauth-protocol wait"),
  faketime: plain("", 1),
  sshpass: plain("p f"),
  rlwrap: plain("b C D f H l M O P q S s t w z history-filename file"),
};

function runInner(call: Call, { valued, skip }: Plain): Stream {
  const { rest, values } = readOptions(call.args, valued, true);
  // What gdb is told to do may be a command of the shell.
  for (const text of values.get("ex") ?? []) if (/^(shell|!)/.test(text)) runText(call, text.replace(/^(shell|!)/, ""));
  const words = rest.slice(operandsOf(call.program, rest, skip));
  // Options may stand behind an operand as well, and no program has a name like one: `perf stat -e cycles ls`.
  const argv = skip === 0 ? words : readOptions(words, valued, true).rest;
  const at = argv.findIndex((arg) => !/^\w+=/.test(arg));
  const isDirect = call.program === "command" || call.program === "builtin";
  const run = isDirect || call.program === "exec" || call.program === "time" ? call : apart(call);
  return at === -1 ? emptyStream : call.scene.call(argv.slice(at), { ...run, isDirect }, call.what);
}

/** How many words stand before the other program. */
function operandsOf(program: string, [first = ""]: readonly string[], skip: number): number {
  if (program === "perf" && !/^(stat|record|trace)$/.test(first)) return Number.POSITIVE_INFINITY;
  return program === "setarch" && !machines.test(first) ? 0 : skip;
}

const machines =
  /^(linux(32|64)|uname26|i[3-6]86|x86_64|athlon|(alpha|arm|aarch64|mips|ppc|s390|sparc|parisc|riscv|loongarch|ia64)\w*)$/;

function runEnv(call: Call): Stream {
  const split = call.args.findIndex((arg) => /^(-\w*S|--split-string)/.test(arg));
  if (split !== -1) {
    const [arg = "", next = "", ...rest] = call.args.slice(split);
    const own = arg.replace(/^(-\w*S|--split-string=?)/, "");
    return runText(call, (own === "" ? [next, ...rest] : [own, next, ...rest]).join(" "));
  }
  const { rest, values } = readOptions(call.args, ["u", "unset", "C", "chdir"], true);
  // `env - x` begins with nothing set.
  const at = rest.findIndex((arg) => !arg.includes("=") && arg !== "-");
  const folder = [...(values.get("C") ?? []), ...(values.get("chdir") ?? [])][0];
  const state = fork(call.state);
  if (folder !== undefined) call.scene.call(["cd", folder], { ...call, state }, call.what);
  return at === -1 ? emptyStream : call.scene.call(rest.slice(at), { ...call, state }, call.what);
}

/** What comes in is put behind the command, or where its mark stands. */
function runEach(call: Call): Stream {
  const { program, args, stdin } = call;
  const run = apart(call);
  const valued = [..."IiLnPsEdaj", "replace", "max-args", "max-procs", "delimiter", "arg-file", "jobs"];
  const { rest, values, flags } = readOptions(args, program === "xargs" ? valued : ["j", "jobs", "I", "a"], true);
  const given = rest.indexOf(":::");
  const command = given === -1 ? rest : rest.slice(0, given);
  const comesIn =
    stdin === undefined || stdin.unseen || values.has("a") || values.has("arg-file") ? [any] : stdin.items;
  const splits = !flags.has("0") && !flags.has("null") && !values.has("d");
  const items = given === -1 ? comesIn.flatMap((item) => (splits ? item.split(/\s+/) : [item])) : rest.slice(given + 1);
  const mark = values.get("I")?.[0] ?? values.get("replace")?.[0] ?? (program === "parallel" ? "{}" : undefined);
  const whole = given === -1 ? comesIn : items;
  // Each line is a command.
  if (command.length === 0) return program === "parallel" ? runText(run, whole.join("\n")) : { items, unseen: false };
  const isPlaced = mark !== undefined && command.some((arg) => arg.includes(mark));
  const put = (item: string) => command.map((arg) => (mark === undefined ? arg : arg.replaceAll(mark, item)));
  const each = isPlaced ? whole.map(put) : [[...command, ...items]];
  let stream: Stream = emptyStream;
  for (const argv of each) {
    stream = call.scene.call(argv, run, call.what);
    // What stands there is a text for a shell, into which an item goes as one word.
    if (program === "parallel") stream = runText(run, argv.join(" "));
  }
  return { ...stream, text: undefined };
}

const executes = /^(-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/;

/** `find … -exec`: the command is run on what lies below the folders it starts from. */
function runFind(call: Call): Stream | undefined {
  const { args, scene, what } = call;
  const found = foundBy(call);
  for (const [at, arg] of args.entries()) {
    if (!executes.test(arg)) continue;
    const end = endOf(args, at + 1);
    const command = args.slice(at + 1, end);
    const hasMark = command.some((word) => word.includes("{}"));
    const fd = hasMark || arg.startsWith("-exec") || arg.startsWith("-ok") ? command : [...command, "{}"];
    for (const item of found)
      scene.call(
        fd.map((word) => word.replaceAll("{}", item)),
        apart(call),
        what,
      );
  }
  return undefined;
}

function endOf(args: readonly string[], from: number): number {
  let at = from;
  while (at < args.length && args[at] !== ";" && args[at] !== "+") at += 1;
  return at;
}

/** What `find` can come by: a folder and something below it, or the name it looks for. */
export function foundBy({ args, program }: Call): string[] {
  if (program !== "find") return [name];
  const end = args.findIndex((arg) => /^[-(!]/.test(arg) && !/^-[HLPO]/.test(arg));
  const starts = args.slice(0, end === -1 ? undefined : end).filter((arg) => !/^-[HLPO]/.test(arg));
  const isOne = !args.some((arg) => ["!", "-not", "-o", "-or", ","].includes(arg));
  const acts = args.findIndex((arg) => arg === "-delete" || executes.test(arg));
  // What is tested behind a deed comes too late for it.
  const tests = isOne ? args.slice(0, acts === -1 ? undefined : acts) : [];
  const wordAfter = (...keys: string[]) => tests[tests.findIndex((arg) => keys.includes(arg)) + 1] ?? "";
  const path = tests.some((arg) => arg === "-path" || arg === "-wholename") ? wordAfter("-path", "-wholename") : "";
  if (path !== "") return [path];
  const wanted = tests.some((arg) => arg === "-name" || arg === "-iname") ? wordAfter("-name", "-iname") : "";
  return (starts.length === 0 ? ["."] : starts).flatMap((start) =>
    wanted === "" ? [`${start}/${name}`] : [`${start}/${name}/${wanted}`],
  );
}

function runGivenText(call: Call): Stream {
  const { args, program } = call;
  const { values, rest, flags } = readOptions(args, ["c", "command", "s", "u", "g", "w", "E"], program === "flock");
  // `flock file -c text`: it stands behind the file.
  if (program === "flock" && rest[1] === "-c") return runText(apart(call), rest[2] ?? "");
  const text = [...(values.get("c") ?? []), ...(values.get("command") ?? [])].join("\n");
  if (text !== "") return runText(apart(call), text);
  const isRunner = program === "flock" || (program === "runuser" && flags.has("u"));
  return isRunner && rest.length > 1
    ? call.scene.call(rest.slice(program === "flock" ? 1 : 0), apart(call), call.what)
    : emptyStream;
}
