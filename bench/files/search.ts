/** Searching 100 MB of mixed text against ripgrep. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bestInTurns, type Figure, timed } from "../figure.ts";
import { must } from "../must.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const atMost = 6;
const rival = "rg";
const needles = ["Zauberwort", "咒语"];
const path = "outputs/text";

export async function measureSearch({ workspace, documents, outside }: World, sizes: Sizes): Promise<Figure[]> {
  const folder = join(outside, path);
  const megabytes = makeTexts(folder, sizes) / 1e6;
  const search = async (query: string) => {
    const options = { path, isRegex: false, hitsMax: 20, contextCharacters: 100, signal: new AbortController().signal };
    return must(await documents.search(workspace, { ...options, query }));
  };
  const hasRipgrep = spawnSync(rival, ["--version"]).status === 0;
  const figures: Figure[] = [];
  for (const query of needles) {
    const what = `search for ${query} in ${megabytes.toFixed(0)} MB`;
    const { total, stopped } = await search(query);
    const skipped =
      stopped !== undefined ? `it was stopped by its limit (${stopped})` : hasRipgrep ? undefined : noRipgrep;
    if (skipped !== undefined) {
      figures.push({ what, value: Number.NaN, unit: "ms", skipped });
      continue;
    }
    assert.equal(total, ripgrep(query, folder));
    const jobs = [() => search(query), () => ripgrep(query, folder)].map((job) => () => timed(job));
    const [value = 0, theirs = 0] = await bestInTurns(sizes.rounds, jobs);
    figures.push({ what, value, unit: "ms", against: { what: "rg -i", value: theirs }, atMost });
  }
  rmSync(folder, { recursive: true });
  return figures;
}

const noRipgrep = "rg is not installed (Debian: ripgrep)";

/** Prose, code, numbers and Chinese, the same in every run; a needle in every tenth file. Answers the bytes. */
function makeTexts(folder: string, { textFiles, textFileBytes }: Sizes): number {
  mkdirSync(folder, { recursive: true });
  const lines = [
    "The quick brown fox jumps over the lazy dog, again and again, until the evening comes.",
    "  for (let index = 0; index < rows.length; index += 1) total += rows[index]?.price ?? 0;",
    "2026-03-01T18:05:00Z,1048576,3.14159,-273.15,OK,12.5%,0x7f3a",
    "今天的会议讨论了下一季度的销售计划，大家同意先整理数据，再写报告。",
    "Größe, façade, naïve, smörgåsbord: words with marks stand between plain ones.",
  ];
  let bytes = 0;
  for (let file = 0; file < textFiles; file += 1) {
    const text: string[] = [];
    for (let size = 0, line = file; size < textFileBytes; line += 1) {
      const words = `${line} ${lines[(line * 7 + file) % lines.length]}`;
      text.push(words);
      size += Buffer.byteLength(words) + 1;
    }
    if (file % 10 === 0) text.splice(text.length >> 1, 0, `somewhere the zauberWORT stands`, `这里有一句咒语。`);
    const data = `${text.join("\n")}\n`;
    bytes += Buffer.byteLength(data);
    writeFileSync(join(folder, `text-${file}.txt`), data);
  }
  return bytes;
}

/** The number of matching lines. */
function ripgrep(query: string, folder: string): number {
  const { stdout } = spawnSync(rival, ["-i", "-n", "--no-ignore", "-e", query, folder], { encoding: "utf8" });
  return stdout.split("\n").length - 1;
}
