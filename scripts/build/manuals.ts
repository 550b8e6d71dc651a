// What shells and `man` read, made from the same tables as the help.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { manPage } from "../../src/terminal/man-page.ts";
import { beginCommand } from "../../src/terminal/terminal.ts";
import { wordsFor } from "../../src/words/words.ts";

/** By the names under which each shell, and `man` in each language, looks for them. */
export function writeManuals(folder: string, version: string): void {
  write(folder, "man/agentyard.1", manPage(wordsFor("en").terminal, { version }));
  write(folder, "man/zh_CN/man1/agentyard.1", manPage(wordsFor("zh").terminal, { version }));
  write(folder, "completion/agentyard.bash", completion("bash", version));
  write(folder, "completion/_agentyard", completion("zsh", version));
  write(folder, "completion/agentyard.fish", completion("fish", version));
}

function completion(shell: string, version: string): string {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()];
  beginCommand(["completion", shell], { input, output, errors, language: "en", version });
  return output.read()?.toString() ?? "";
}

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
