import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { wordsFor } from "../../src/words/words.ts";

const root = join(import.meta.dirname, "..", "..");

/** The words that `why` of a code may be, by the types in the files of words. */
export function causesIn(): { code: string; why: string }[] {
  const codes = Object.keys(wordsFor("en").failures);
  const texts = globSync("src/words/en-*.ts", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
  const types = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^(?:export )?type (\w+) =([^;]+);/gm)].map(([, name = "", of = ""]) => [name, of] as const),
    ),
  );
  const wordsOf = (of: string): string[] => [
    ...[...of.matchAll(/"(\w+)"/g)].map(([, word = ""]) => word),
    ...[...of.matchAll(/\b[A-Z]\w+/g)].flatMap(([name]) => wordsOf(types.get(name) ?? "")),
  ];
  return texts.flatMap((text) =>
    [...text.matchAll(/^ {2}(\w+): \(p: \{[^}]*\bwhy: ([^;}]+)/gm)]
      .filter(([, code = ""]) => codes.includes(code))
      .flatMap(([, code = "", of = ""]) => wordsOf(of).map((why) => ({ code, why }))),
  );
}
