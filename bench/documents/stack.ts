/** From the bytes of a mixed corpus to an index of it: ours against the documented design in Python, on the same files. */
import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { openSearch } from "../../src/search/search.ts";
import { type Figure, timed } from "../figure.ts";
import { must } from "../must.ts";
import { pythonOf } from "./formats.ts";
import type { Sizes } from "./sizes.ts";
import { corpusFolder, type World } from "./world.ts";

/** Of their time; PDFium in WASM against MuPDF as native code. */
const atMost = { all: 1 / 1.8, pdf: 1 / 0.33, twoPdf: 1 / 0.6, other: 1, size: 0.65 };
const script = join(import.meta.dirname, "stack.py");
const htmlManual = "debian-reference-en/usr/share/debian-reference/*.en.html";

type Theirs = {
  readonly ms: number;
  readonly cpuMs: number;
  readonly readingMs: Readonly<Record<string, number>>;
  readonly readingCpuMs: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly megabytes: number;
};

export async function measureStack(world: World, sizes: Sizes): Promise<Figure[]> {
  const files = makeFiles(world, sizes);
  const theirs = runTheirs(world, files, sizes);
  // Theirs begins to count when its libraries are loaded, so ours does too.
  const [smallest] = files.toSorted((one, other) => statSync(one).size - statSync(other).size).filter(isPdf);
  if (smallest !== undefined) await Promise.all([1, 2].map(() => readAll(world, [smallest], 1)));
  const [one, two] = [await indexAll(world, files, 1), await indexAll(world, files, 2)];
  const seconds = (ms: number) => ms / 1_000;
  // What is to be a share of theirs is only told where there is nothing of theirs.
  const against = (value: number | undefined, by = seconds) =>
    value === undefined ? { atMost: undefined } : { against: { what: "Python's", value: by(value) } };
  const readingOf = (kind: string, ms: number, what: string, most: number): Figure => ({
    ...{ what, unit: "s", value: seconds(ms), atMost: most, ...against(theirs?.readingMs[kind]) },
  });
  const pdfs = files.filter(isPdf);
  return [
    { what: "files of the mixed corpus", unit: "", value: files.length },
    { what: "read and indexed, one file at a time", unit: "s", value: seconds(one.ms), ...against(theirs?.ms) },
    {
      ...{ what: "the same in processor time, all threads", unit: "s", value: seconds(one.cpuMs), atMost: atMost.all },
      ...against(theirs?.cpuMs),
    },
    {
      ...{ what: "read and indexed, two at a time", unit: "s", value: seconds(two.ms), atMost: atMost.all },
      ...against(theirs?.ms),
    },
    // In processor time, which other work on the machine does not change.
    ...Object.entries({ docx: atMost.other, xlsx: atMost.other, html: atMost.other, pdf: atMost.pdf }).map(
      ([kind, most]): Figure => ({
        ...{ what: `reading ${kind.toUpperCase()}, processor time`, unit: "s", atMost: most },
        ...{ value: seconds(one.readingCpuMs[kind] ?? 0), ...against(theirs?.readingCpuMs[kind]) },
      }),
    ),
    readingOf("pdf", one.readingMs.pdf ?? 0, "reading all PDFs, one thread", atMost.pdf),
    readingOf("pdf", await timed(() => readAll(world, pdfs, 2)), "reading all PDFs, two threads", atMost.twoPdf),
    {
      ...{ what: "size of the index, with its trigrams", unit: "MB", value: two.bytes / 2 ** 20, atMost: atMost.size },
      ...against(theirs?.bytes, (bytes) => bytes / 2 ** 20),
    },
    {
      ...{ what: "memory, threads and all", unit: "MB", value: process.resourceUsage().maxRSS / 1_024 },
      ...against(theirs?.megabytes, (megabytes) => megabytes),
    },
  ];
}

function isPdf(file: string): boolean {
  return file.endsWith(".pdf");
}

function makeFiles(world: World, sizes: Sizes): readonly string[] {
  const place = join(world.folder, "mixed");
  mkdirSync(place);
  for (const { name, bytes } of world.manuals(sizes)) writeFileSync(join(place, name), bytes);
  const python = pythonOf(world, sizes);
  python("make_docx", join(place, "long.docx"), String(sizes.paragraphs), String(sizes.tables));
  python("make_xlsx", join(place, "long.xlsx"), String(sizes.rows));
  for (const page of globSync(htmlManual, { cwd: corpusFolder }).slice(0, sizes.htmlPages))
    cpSync(join(corpusFolder, page), join(place, basename(page)));
  return globSync("*", { cwd: place }).map((name) => join(place, name));
}

/** Undefined where one of its libraries is not there. */
function runTheirs(world: World, files: readonly string[], sizes: Sizes): Theirs | undefined {
  const done = spawnSync("/usr/bin/python3", [script, join(world.folder, "theirs.db"), ...files], {
    ...{ encoding: "utf8", env: world.python(sizes), maxBuffer: 2 ** 24 },
  });
  if (done.status === 0) return JSON.parse(done.stdout);
  console.error(`python3-fitz, python3-docx, python3-openpyxl and python3-lxml are needed: ${done.stderr.slice(-300)}`);
  return undefined;
}

async function indexAll(world: World, files: readonly string[], atOnce: number) {
  const file = join(world.folder, `ours-${atOnce}.db`);
  const search = must(openSearch({ file, clock: systemClock }));
  const readingMs: Record<string, number> = {};
  const readingCpuMs: Record<string, number> = {};
  const startedAt = cpuMs();
  const ms = await timed(() =>
    inTurn(files, atOnce, async (path) => {
      const bytes = readFileSync(path);
      const kind = path.slice(path.lastIndexOf(".") + 1);
      const [began, beganCpu] = [performance.now(), cpuMs()];
      const extracted = await world.extract({ name: basename(path), bytes });
      readingMs[kind] = (readingMs[kind] ?? 0) + performance.now() - began;
      readingCpuMs[kind] = (readingCpuMs[kind] ?? 0) + cpuMs() - beganCpu;
      must(await search.put({ owner: "bench", kind: "file", place: path }, path, extracted));
    }),
  );
  await search.close();
  return { ms, cpuMs: cpuMs() - startedAt, readingMs, readingCpuMs, bytes: statSync(file).size };
}

/** Of all threads of this process. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function readAll(world: World, files: readonly string[], atOnce: number): Promise<void> {
  return inTurn(files, atOnce, async (path) => {
    await world.extract({ name: basename(path), bytes: readFileSync(path) });
  });
}

/** So many at once, in their order. */
async function inTurn(files: readonly string[], atOnce: number, work: (path: string) => Promise<void>): Promise<void> {
  const waiting = files.values();
  const one = async () => {
    for (const path of waiting) await work(path);
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
