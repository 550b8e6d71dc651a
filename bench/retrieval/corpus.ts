import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** Manuals that Debian has as PDF, by the name that queries give them: package, and file in it. */
const manuals: Readonly<Record<string, readonly [debianPackage: string, path: string]>> = {
  "debian-reference.en": ["debian-reference-en", "debian-reference/debian-reference.en.pdf"],
  "debian-reference.zh-cn": ["debian-reference-zh-cn", "debian-reference/debian-reference.zh-cn.pdf"],
  "debian-reference.zh-tw": ["debian-reference-zh-tw", "debian-reference/debian-reference.zh-tw.pdf"],
  "maint-guide.en": ["maint-guide", "doc/maint-guide/maint-guide.en.pdf"],
  "maint-guide.zh-cn": ["maint-guide-zh-cn", "doc/maint-guide-zh-cn/maint-guide.zh-cn.pdf"],
  "maint-guide.zh-tw": ["maint-guide-zh-tw", "doc/maint-guide-zh-tw/maint-guide.zh-tw.pdf"],
  "debmake-doc.en": ["debmake-doc", "doc/debmake-doc/debmake-doc.en.pdf"],
  "debmake-doc.zh-cn": ["debmake-doc", "doc/debmake-doc/debmake-doc.zh-cn.pdf"],
  "debmake-doc.zh-tw": ["debmake-doc", "doc/debmake-doc/debmake-doc.zh-tw.pdf"],
  "packaging-tutorial.en": ["packaging-tutorial", "doc/packaging-tutorial/packaging-tutorial.pdf"],
  "packaging-tutorial.zh-cn": ["packaging-tutorial", "doc/packaging-tutorial/packaging-tutorial.zh_CN.pdf"],
  "packaging-tutorial.zh-tw": ["packaging-tutorial", "doc/packaging-tutorial/packaging-tutorial.zh_TW.pdf"],
  "debian-edu.en": ["debian-edu-doc-en", "doc/debian-edu-doc-en/debian-edu-bookworm-manual.pdf"],
  "debian-edu.zh-cn": ["debian-edu-doc-zh-cn", "doc/debian-edu-doc-zh-cn/debian-edu-bookworm-manual.pdf"],
  "debian-faq": ["debian-faq", "doc/debian/FAQ/debian-faq.en.pdf.gz"],
  "debian-policy": ["debian-policy", "doc/debian-policy/policy.pdf.gz"],
  fhs: ["debian-policy", "doc/debian-policy/fhs/fhs-3.0.pdf.gz"],
  "developers-reference": ["developers-reference", "developers-reference/developers-reference.pdf"],
  gnuplot: ["gnuplot-doc", "doc/gnuplot/gnuplot.pdf"],
  "refcard.en": ["debian-refcard", "doc/debian-refcard/refcard-en-a4.pdf.gz"],
  "refcard.zh-cn": ["debian-refcard", "doc/debian-refcard/refcard-zh_CN-a4.pdf.gz"],
  "refcard.zh-tw": ["debian-refcard", "doc/debian-refcard/refcard-zh_TW-a4.pdf.gz"],
};
/** What the reference design cuts Chinese with, and what Python people read documents with. */
const pythonPackages = [
  ...["python3-jieba", "python3-bs4", "python3-soupsieve", "python3-fitz", "python3-docx"],
  ...["python3-openpyxl", "python3-et-xmlfile", "python3-jdcal", "python3-lxml"],
];
/** What the native code of those needs and few machines have. */
const libraryPackages = ["libgumbo1", "libjbig2dec0", "libmujs2"];

export type Manual = { readonly name: string; readonly bytes: Uint8Array; readonly pages: readonly string[] };

/** Fetches the packages once; nothing is installed. */
export function openCorpus(folder: string): readonly Manual[] {
  for (const name of new Set(Object.values(manuals).map(([name]) => name))) fetchPackage(folder, name);
  return Object.entries(manuals).map(([name, [from, path]]) => {
    const stored = readFileSync(join(folder, from, "usr/share", path));
    const bytes = path.endsWith(".gz") ? gunzipSync(stored) : stored;
    return { name, bytes, pages: pagesOf(bytes) };
  });
}

/** The environment in which the Python of this system finds its rivals' libraries; these are fetched as well. */
export function openPython(folder: string): Readonly<Record<string, string>> {
  for (const name of [...pythonPackages, ...libraryPackages]) fetchPackage(folder, name);
  const places = (names: readonly string[], pattern: string) =>
    globSync(names.map((name) => join(folder, name, pattern))).join(":");
  return {
    PYTHONPATH: places(pythonPackages, "usr/lib/python3/dist-packages"),
    LD_LIBRARY_PATH: places(libraryPackages, "usr/lib/*-linux-gnu"),
  };
}

function fetchPackage(folder: string, name: string): void {
  const place = join(folder, name);
  if (existsSync(place)) return;
  const half = `${place}.half`;
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { recursive: true });
  execFileSync("apt-get", ["download", "-qq", name], { cwd: half, stdio: ["ignore", "ignore", "pipe"] });
  execFileSync("sh", ["-c", "dpkg-deb -x ./*.deb . && rm ./*.deb"], { cwd: half });
  renameSync(half, place);
}

/** What another program reads on each page: where an answer stands must not be taken from what is judged. */
function pagesOf(bytes: Uint8Array): readonly string[] {
  const text = execFileSync("pdftotext", ["-", "-"], {
    input: bytes,
    maxBuffer: 2 ** 28,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return text.toString("utf8").split("\f");
}

export function squeezed(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/[\s\ufffe\u00ad-]+/g, "")
    .toLowerCase();
}
