import type { TerminalWords } from "../words/words.ts";
import { exitCodes, exitReasons } from "./exit-codes.ts";
import { optionText } from "./help.ts";
import {
  globalOptions,
  type OptionName,
  optionShort,
  optionValue,
  type SubCommandName,
  subCommandNames,
  subCommands,
} from "./sub-commands.ts";

/** The page that `man agentyard` shows, in the language of roff: the same tables as the help, all of them on one page. */
export function manPage(words: TerminalWords, { version }: { readonly version: string }): string {
  const { help } = words;
  return [
    `.TH AGENTYARD 1 "" "agentyard ${version}" ""`,
    heading(help.manName),
    `agentyard \\- ${text(help.tagline.replace(/^AgentYard\s*[:：]\s*/, ""))}`,
    heading(help.usage),
    ".B agentyard",
    "[COMMAND] [OPTION…]",
    ".PP",
    text(help.more),
    heading(help.commands),
    ...subCommandNames.flatMap((name) => command(words, name)),
    heading(help.globalOptions),
    ...globalOptions.flatMap((name) => option(words, name)),
    heading(help.exitCodes),
    ...exitReasons.flatMap((reason) => [".TP", `.B ${exitCodes[reason]}`, text(help.exit[reason])]),
    "",
  ].join("\n");
}

function command(words: TerminalWords, name: SubCommandName): string[] {
  const { form, options } = subCommands[name];
  const notes = name === "run" ? [words.help.runNote] : name === "exec" ? [words.exec.noteAboutCodes] : [];
  return [
    `.SS "agentyard ${name}${form === "" ? "" : ` ${text(form)}`}"`,
    text(words.help.command[name]),
    ...notes.flatMap((note) => [".PP", text(note)]),
    ...options.flatMap((each) => option(words, each, name)),
  ];
}

function option(words: TerminalWords, name: OptionName, command?: SubCommandName): string[] {
  const short = optionShort(name);
  const value = optionValue(name);
  const typed = [...(short === undefined ? [] : [`-${short}`]), `--${name}`].map((flag) => `\\fB${text(flag)}\\fR`);
  return [
    ".TP",
    `${typed.join(", ")}${value === "" ? "" : ` \\fI${text(value)}\\fR`}`,
    text(optionText(words, name, command)),
  ];
}

function heading(title: string): string {
  return `.SH "${text(title.toUpperCase())}"`;
}

/** Plain words: a backslash, a hyphen that is to be copied, and a line that begins like a request are written otherwise. */
function text(plain: string): string {
  return plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^(?=[.'])/, "\\&");
}
