// The pre-step of start, chat, test, check, bench and torture. It runs under whatever Node the machine has, so it is
// plain JavaScript without dependencies. With nothing missing it must cost next to nothing: what only an installation
// needs is imported only then.
import { existsSync, readFileSync } from "node:fs";

/** Raise this when an installation of an unchanged lock file has to be made again. */
const SETUP_VERSION = 1;

const LIBRARIES = "/usr/lib/python3/dist-packages";
/**
 * Packages of Debian that the product can use, each by files or commands of which one is enough. The sandbox mounts `/usr`,
 * so that one elsewhere is of no use. AgentYard starts without them.
 */
const RUN_PACKAGES = {
  bubblewrap: ["/usr/bin/bwrap"],
  python3: ["/usr/bin/python3"],
  "python3-numpy": [`${LIBRARIES}/numpy/__init__.py`],
  "python3-pandas": [`${LIBRARIES}/pandas/__init__.py`],
  "python3-matplotlib": [`${LIBRARIES}/matplotlib/__init__.py`],
  "fonts-wqy-microhei": [
    "/usr/share/fonts/truetype/wqy",
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/google-noto-cjk",
    "/usr/share/fonts/google-noto-sans-cjk-fonts",
    "/usr/share/fonts/noto-cjk",
  ],
  // What the skills that we ship read and write files with: 8 MB to download, 31 MB on the disk.
  "python3-openpyxl": [`${LIBRARIES}/openpyxl/__init__.py`],
  "python3-pypdf": [`${LIBRARIES}/pypdf/__init__.py`],
  "python3-reportlab": [`${LIBRARIES}/reportlab/__init__.py`],
  "poppler-utils": ["/usr/bin/pdftotext"],
  "poppler-data": ["/usr/share/poppler/cMap"],
};
/** And those that tests and benches can use besides. */
const TEST_PACKAGES = {
  ripgrep: ["rg"],
  // The drawn terminal is tried in a real one: 0.5 MB to download.
  tmux: ["tmux"],
  "python3-pip": ["/usr/lib/python3/dist-packages/pip/__init__.py"],
  // Manuals that documents are read from: 3 MB to download.
  "developers-reference": ["/usr/share/developers-reference/developers-reference.pdf"],
  "debian-reference-zh-cn": ["/usr/share/debian-reference/debian-reference.zh-cn.pdf"],
  // The server that the promises of storage are tried on: 17 MB to download.
  postgresql: ["/usr/lib/postgresql"],
  // The browser that the tests of the browser app drive: 100 MB to download.
  "chromium-headless-shell": ["/usr/bin/chromium-headless-shell"],
};

// The stamp is what was installed: the lock file itself, and for which machine. A hash of it would be shorter, but
// loading node:crypto takes a third of the time that Node needs to start.
const stampFile = new URL("../node_modules/.setup-stamp", import.meta.url);
const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
const stamp = `set-up ${SETUP_VERSION} for ${process.platform} ${process.arch}\n${lock}`;
const isDone = () => readStamp(stampFile) === stamp;

if (!isDone()) {
  const { install } = await import("./setup/install.mjs");
  process.exitCode = await install({ stamp, stampFile, isDone });
}

if (!process.exitCode) {
  const { isWebBuilt } = await import("./setup/web-stamp.mjs");
  if (!isWebBuilt()) {
    const { buildApart } = await import("./setup/build-apart.mjs");
    await buildApart();
  }
}

if (process.platform === "linux" && !process.exitCode) {
  const isForTests = /^pre(test|check|bench|torture)$/.test(process.env.npm_lifecycle_event ?? "");
  const wanted = { ...RUN_PACKAGES, ...(isForTests ? TEST_PACKAGES : {}) };
  // Looked at each time: a stamp alone would hide that somebody has removed one since.
  const findMissing = () => Object.keys(wanted).filter((name) => !wanted[name].some(isThere));
  const noteFile = new URL("../node_modules/.setup-programs", import.meta.url);
  const notes = readStamp(noteFile)?.split("\n") ?? [];
  if (findMissing().length > 0 || Object.keys(wanted).some((name) => notes.some((note) => note.endsWith(` ${name}`)))) {
    const { installPrograms } = await import("./setup/programs.mjs");
    process.exitCode = await installPrograms({ wanted: Object.keys(wanted), findMissing, isThere, noteFile, notes });
  }
}

function isThere(name) {
  if (name.startsWith("/")) return existsSync(name);
  const folders = (process.env.PATH ?? "").split(":").filter((folder) => folder !== "");
  return folders.some((folder) => existsSync(`${folder}/${name}`));
}

function readStamp(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
