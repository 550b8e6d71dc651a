/**
 * A text with a word in place of each file that it names by `#`, as the terminal reads them: `#a.csv`, `#data/*.csv`,
 * `#two\ words.csv`, `#"two words.csv"`. `names` are those of the files that came along; tags and colours stay.
 */
export function replaceMentions(text: string, names: readonly string[], word: string): string {
  return text.replaceAll(mention, (whole: string, run: string | undefined) => {
    if (run === undefined) return word;
    const name = nameIn(run, names);
    return isFile(name, names) ? word + run.slice(name.length) : whole;
  });
}

const cjk = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}";
const cjkMarks = "\\u3000-\\u3004\\u3006\\u3008-\\u303f\\uff01-\\uff0f\\uff1a-\\uff20“”‘’…—·";
const inPairs = "\\([^\\s()#]*\\)|（[^\\s（）#]*）|\\{[^\\s{}#]*\\}|\\[[^\\s\\[\\]#]*\\]";
const single = `[^\\s"'\`#<>|,;(){}\\[\\]${cjkMarks}]`;
const mention = new RegExp(
  `(?<=^|[\\s(\\[{<"',;:${cjk}${cjkMarks}])#(?:(?<!"#)"[^"\\n]+"|(?<!'#)'[^'\\n]+'|((?=[\\p{L}\\p{N}._~/*])(?:\\\\[^\\p{L}\\p{N}\\n]|${inPairs}|${single})+))`,
  "gu",
);

/** The name at the beginning of a run: Chinese text goes on right behind it, and a full stop belongs to the sentence. */
function nameIn(run: string, names: readonly string[]): string {
  const lastAt = run.lastIndexOf("/") + 1;
  const last = run.slice(lastAt);
  const known = names.find((name) => last.startsWith(name));
  return run.slice(0, lastAt) + (known ?? withoutFullStop(upToEnding.exec(last)?.[0] ?? last));
}

function withoutFullStop(name: string): string {
  let end = name.length;
  while (".:!?".includes(name[end - 1] ?? " ")) end -= 1;
  return name.slice(0, end);
}

const upToEnding = new RegExp(`^.*?\\.[A-Za-z0-9]{1,8}(?=[${cjk}（])`, "u");

/** What has neither an ending nor a folder may be a tag, and `#3/4` is a number. */
function isFile(name: string, names: readonly string[]): boolean {
  return names.includes(name) || (/[./\\*]/.test(name) && !/^\d+([./:-]\d*)*$/.test(name));
}
