import type { Risk } from "../../protocol/approval.ts";
import { judgeTargets } from "./deletes.ts";
import { readOptions } from "./options.ts";
import { isTemporary } from "./paths.ts";
import { type Call, fork, report, type Stream, unknownStream } from "./scene.ts";
import { runText } from "./shell-words.ts";

/** Commands of git that lose work which is nowhere else, or talk to another machine. */
export function runGit(call: Call): Stream | undefined {
  if (call.program !== "git") return undefined;
  const { rest, values } = readOptions(call.args, ["C", "c", "git-dir", "work-tree", "namespace", "exec-path"], true);
  const state = fork(call.state);
  for (const folder of values.get("C") ?? []) call.scene.call(["cd", folder], { ...call, state }, call.what);
  state.failed = [];
  for (const setting of values.get("c") ?? []) runSetting({ ...call, state }, setting);
  const [command = "", ...args] = rest;
  const inside: Call = { ...call, state, args };
  judgeRemote(inside, command);
  runNamedPrograms(inside);
  judgeLoss(inside, command);
  // `git config alias.x '!…'`: it is run later, by a name that tells nothing.
  const [key, value] = args.filter((arg) => !arg.startsWith("-"));
  if (command === "config" && key !== undefined && value !== undefined) runSetting(inside, `${key}=${value}`);
  return unknownStream;
}

/** `-c alias.x='!rm …'` is a command of the shell. */
function runSetting(call: Call, setting: string): void {
  const text =
    /^alias\.[^=]+=!(.*)$/s.exec(setting)?.[1] ??
    /^core\.(?:sshcommand|editor|pager|hookspath)=(.*)$/is.exec(setting)?.[1];
  if (text !== undefined) runText({ ...call, state: fork(call.state) }, text);
}

/** `--receive-pack=…` and `ext::…` are commands of the shell. */
function runNamedPrograms(call: Call): void {
  const { values } = readOptions(call.args, ["receive-pack", "upload-pack", "exec"]);
  const named = ["receive-pack", "upload-pack", "exec"].flatMap((key) => values.get(key) ?? []);
  for (const text of named) runText({ ...call, state: fork(call.state) }, text);
  for (const text of call.args.flatMap((arg) => /^ext::(.*)$/s.exec(arg)?.[1] ?? []))
    call.scene.call(
      text.split(/(?<!%) /).map((word) => word.replaceAll("% ", " ")),
      { ...call, state: fork(call.state) },
      call.what,
    );
}

const remote = /^(fetch|pull|push|ls-remote|remote-https|svn|send-email|daemon|request-pull)$/;

function judgeRemote({ scene, args, what }: Call, command: string): void {
  const [first = ""] = args.filter((arg) => !arg.startsWith("-"));
  const isFar =
    remote.test(command) ||
    (command === "clone" && !args.some((arg) => /^(\.{0,2}\/|file:|\.\.?$)/.test(arg))) ||
    (command === "submodule" && ["update", "add", "init"].includes(first)) ||
    (command === "remote" && ["update", "show", "prune"].includes(first)) ||
    (command === "lfs" && ["pull", "fetch", "push", "clone"].includes(first)) ||
    (command === "archive" && args.some((arg) => arg.startsWith("--remote")));
  const risk = command === "push" || command === "send-email" ? "high" : "medium";
  if (isFar) report(scene, "network", risk, what, `git ${command} *`);
}

function judgeLoss(call: Call, command: string): void {
  const { args, what } = call;
  const { flags, rest } = readOptions(args, ["source", "s", "m", "b", "B", "c", "e", "exclude"]);
  const has = (...keys: string[]) => keys.some((key) => flags.has(key));
  const isDry = has("n", "dry-run");
  const all = (risky: boolean) => risky && judgeTargets(call, rest, true, what);
  const here = (risky: boolean, risk: Risk = "high") => risky && judgeHere(call, risk);
  switch (command) {
    case "clean":
      if (rest.length > 0) return void all(!isDry);
      return void here(!isDry);
    case "rm":
      return void (has("cached") || isDry || judgeTargets(call, rest, has("r"), what));
    case "mv":
      return void (rest.at(-1) !== undefined && call.scene.call(["mv", ...rest], call, what));
    case "reset":
      return void here(
        [...flags].some((flag) => flag.length > 1 && ["hard", "merge"].some((mode) => mode.startsWith(flag))),
      );
    case "checkout":
      return void here(has("f", "force") || (args.includes("--") && args.at(-1) !== "--") || overwrites(args));
    case "switch":
      return void here(has("f", "force", "discard-changes"));
    case "restore":
      return void here(!has("staged", "S") || has("worktree", "W"));
    case "stash":
      return void here(["drop", "clear"].includes(rest[0] ?? ""), "medium");
    case "branch":
      return void here(has("D") || (has("d", "delete") && has("f", "force")), "medium");
    case "tag":
      return void here(has("d", "delete"), "medium");
    case "update-ref":
      return void here(has("d"));
    case "worktree":
      return void (rest[0] === "remove" && judgeTargets(call, rest.slice(1), true, what));
    case "reflog":
      return void here(["expire", "delete"].includes(rest[0] ?? ""));
    case "filter-branch":
    case "filter-repo":
      return void here(true);
    case "submodule":
    case "bisect":
    case "rebase":
      return runNested(call, command, rest);
  }
}

/** What is lost is of the folder that git works in. */
function judgeHere({ scene, state, what }: Call, risk: Risk): void {
  if (!state.folders.every((folder) => isTemporary(scene, folder))) report(scene, "delete", risk, what);
}

/** `git checkout .` and `git checkout HEAD file`: what is not committed is gone. A new branch loses nothing. */
function overwrites(args: readonly string[]): boolean {
  if (args.some((arg) => /^-(b|B|t)$|^--(track|orphan|detach)/.test(arg))) return false;
  const words = args.filter((arg) => !arg.startsWith("-"));
  return words.length > 1 || ["./", ".", "*"].includes(words[0] ?? "");
}

function runNested(call: Call, command: string, rest: readonly string[]): void {
  const at = call.args.findIndex((arg) => arg === "--exec" || arg === "-x");
  if (command === "submodule" && rest[0] === "foreach") runText(call, rest.slice(1).join(" "));
  if (command === "bisect" && rest[0] === "run") call.scene.call(rest.slice(1), call, call.what);
  if (command === "rebase" && at !== -1) runText(call, call.args[at + 1] ?? "");
}
