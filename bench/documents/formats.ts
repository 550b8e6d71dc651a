/** One thread of ours against the libraries that Python people use, on the same files. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bestInTurns, type Figure, timed } from "../figure.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

/** Of their time; PDFium in WASM against MuPDF as native code. */
const atMost = { pdf: 3, docx: 1, xlsx: 1 };
const script = join(import.meta.dirname, "peers.py");
/** 251 pages in Chinese, which is what docs/decisions/0061 tells of; all manuals together are a part of the stack. */
const longManual = "debian-reference.zh-cn.pdf";

export async function measureFormats(world: World, sizes: Sizes): Promise<Figure[]> {
  const file = (name: string) => join(world.folder, name);
  const python = pythonOf(world, sizes);
  const manuals = world.manuals(sizes);
  const manual = manuals.find(({ name }) => name === longManual) ?? manuals.at(-1);
  if (manual !== undefined) writeFileSync(file("a.pdf"), manual.bytes);
  python("make_docx", file("a.docx"), String(sizes.paragraphs), String(sizes.tables));
  python("make_xlsx", file("a.xlsx"), String(sizes.rows));
  const figures: Figure[] = [];
  for (const format of ["pdf", "docx", "xlsx"] as const)
    figures.push(await measure(world, python, format, sizes.rounds));
  return figures;
}

async function measure(
  { folder, extract }: World,
  python: Python,
  format: keyof typeof atMost,
  rounds: number,
): Promise<Figure> {
  const path = join(folder, `a.${format}`);
  const what = `reading ${format.toUpperCase()}`;
  const theirs = () => Number(python(`read_${format}`, path)?.split(" ")[0] ?? Number.NaN);
  if (!existsSync(path) || Number.isNaN(theirs()))
    return {
      what,
      unit: "ms",
      value: Number.NaN,
      skipped: "a manual, python3-fitz, python3-docx and python3-openpyxl are needed",
    };
  const bytes = readFileSync(path);
  const ours = () => timed(() => extract({ name: `a.${format}`, bytes }));
  const [value = 0, rival = 0] = await bestInTurns(rounds, [ours, theirs]);
  return { what, unit: "ms", value, against: { what: "Python's", value: rival }, atMost: atMost[format] };
}

type Python = (...job: readonly string[]) => string | undefined;

/** What a job of the script prints; undefined where it cannot be done. */
export function pythonOf(world: World, sizes: Sizes): Python {
  const env = world.python(sizes);
  return (...job) => {
    const done = spawnSync("/usr/bin/python3", [script, ...job], { encoding: "utf8", env });
    return done.status === 0 ? done.stdout : undefined;
  };
}
