import type { TerminalWords } from "../words/words.ts";
import type { Shell } from "./command-line.ts";
import { optionText } from "./help.ts";
import { globalOptions, optionShort, optionsOf, optionValue, subCommandNames, subCommands } from "./sub-commands.ts";

/** A script that a shell reads at its start: `source <(agentyard completion bash)`. */
export function completionScript(shell: Shell, words: TerminalWords): string {
  switch (shell) {
    case "bash":
      return bash();
    case "zsh":
      return zsh(words);
    case "fish":
      return fish(words);
  }
}

function bash(): string {
  const cases = subCommandNames.map((name) => {
    const candidates = [...subCommands[name].words, ...optionsOf(name).map((option) => `--${option}`)];
    return `    ${name}) candidates="${candidates.join(" ")}" ;;`;
  });
  const first = [...subCommandNames, ...globalOptions.map((option) => `--${option}`)].join(" ");
  return `_agentyard() {
  local word="\${COMP_WORDS[COMP_CWORD]}" candidates="${first}" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$each" in
${cases.map((line) => `  ${line}`).join("\n")}
    esac
  done
  COMPREPLY=($(compgen -W "$candidates" -- "$word"))
}
complete -o default -F _agentyard agentyard
`;
}

function zsh(words: TerminalWords): string {
  const commands = subCommandNames.map((name) => `    '${name}:${quoted(words.help.command[name])}'`);
  const cases = subCommandNames.map((name) => {
    const specs = optionsOf(name).map((option) => {
      const value = optionValue(option);
      return `'--${option}[${quoted(optionText(words, option, name))}]${value === "" ? "" : `:${value}:_files`}'`;
    });
    const first = subCommands[name].words.length > 0 ? [`'1:argument:(${subCommands[name].words.join(" ")})'`] : [];
    return `    ${name}) _arguments ${[...specs, ...first].join(" ")} ;;`;
  });
  return `#compdef agentyard
_agentyard() {
  local -a commands=(
${commands.join("\n")}
  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
compdef _agentyard agentyard
`;
}

function fish(words: TerminalWords): string {
  const lines = ["complete -c agentyard -f"];
  for (const name of subCommandNames) {
    lines.push(`complete -c agentyard -n __fish_use_subcommand -a ${name} -d '${quoted(words.help.command[name])}'`);
    const inside = `-n '__fish_seen_subcommand_from ${name}'`;
    if (subCommands[name].words.length > 0) {
      lines.push(`complete -c agentyard ${inside} -a '${subCommands[name].words.join(" ")}'`);
    }
    for (const option of optionsOf(name)) {
      const short = optionShort(option);
      const flags = `${short === undefined ? "" : `-s ${short} `}-l ${option}${optionValue(option) === "" ? "" : " -rF"}`;
      lines.push(`complete -c agentyard ${inside} ${flags} -d '${quoted(optionText(words, option, name))}'`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** Inside single quotes, and without what zsh takes for the end of a description. */
function quoted(text: string): string {
  return text.replaceAll("'", "’").replace(/[[\]:]/g, " ");
}
