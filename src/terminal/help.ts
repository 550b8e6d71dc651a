import type { TerminalWords } from "../words/words.ts";
import { exitCodes, exitReasons } from "./exit-codes.ts";
import {
  globalOptions,
  type OptionName,
  optionShort,
  optionValue,
  type SubCommandName,
  subCommandNames,
  subCommands,
} from "./sub-commands.ts";

/** The text of `agentyard --help`, or of `agentyard SUB --help`. */
export function helpText(words: TerminalWords, about?: SubCommandName): string {
  return about === undefined ? overview(words) : aboutCommand(words, about);
}

function overview(words: TerminalWords): string {
  const { help } = words;
  return page([
    help.tagline,
    [`${help.usage}: agentyard [COMMAND] [OPTION…]`],
    [`${help.commands}:`, ...rows(subCommandNames.map((name) => [name, help.command[name]]))],
    [`${help.globalOptions}:`, ...optionRows(words, globalOptions)],
    help.more,
  ]);
}

function aboutCommand(words: TerminalWords, name: SubCommandName): string {
  const { help } = words;
  const command = subCommands[name];
  const usage = ["agentyard", name, command.form, "[OPTION…]"].filter((part) => part !== "").join(" ");
  return page([
    `${help.usage}: ${usage}`,
    [help.command[name], ...(name === "run" ? [help.runNote] : name === "exec" ? [words.exec.noteAboutCodes] : [])],
    ...(command.options.length > 0 ? [[`${help.options}:`, ...optionRows(words, command.options, name)]] : []),
    [`${help.globalOptions}:`, ...optionRows(words, globalOptions)],
    ...(name === "run" ? [[`${help.exitCodes}:`, ...exitRows(words)]] : []),
  ]);
}

/** `--file` of `exec` is something else than that of `run`. */
export function optionText(words: TerminalWords, option: OptionName, command?: SubCommandName): string {
  return command === "exec" && option === "file" ? words.exec.fileOption : words.help.option[option];
}

function optionRows(words: TerminalWords, names: readonly OptionName[], command?: SubCommandName): string[] {
  return rows(
    names.map((name) => {
      const short = optionShort(name);
      const long = `--${name} ${optionValue(name)}`.trimEnd();
      return [short === undefined ? `    ${long}` : `-${short}, ${long}`, optionText(words, name, command)];
    }),
  );
}

function exitRows(words: TerminalWords): string[] {
  return rows(exitReasons.map((reason) => [String(exitCodes[reason]).padStart(3), words.help.exit[reason]]));
}

function rows(pairs: readonly (readonly [left: string, right: string])[]): string[] {
  const width = Math.max(...pairs.map(([left]) => left.length));
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}

function page(parts: readonly (string | readonly string[])[]): string {
  return `${parts.map((part) => (typeof part === "string" ? part : part.join("\n"))).join("\n\n")}\n`;
}
