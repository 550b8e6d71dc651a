// The pre-step of start, chat, test, check, bench and torture. It runs under whatever Node the machine has, so it is
// plain JavaScript without dependencies. With nothing missing it must cost next to nothing: what only an installation
// needs is imported only then.
import { readFileSync } from "node:fs";

/** Raise this when an installation of an unchanged lock file has to be made again. */
const SETUP_VERSION = 1;

/** Programs that tests and benches can use and Debian has, each by the command it brings. None of them is needed. */
const TEST_PROGRAMS = { ripgrep: "rg" };

// The stamp is what was installed: the lock file itself, and for which machine. A hash of it would be shorter, but
// loading node:crypto takes a third of the time that Node needs to start.
const stampFile = new URL("../node_modules/.setup-stamp", import.meta.url);
const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
const stamp = `set-up ${SETUP_VERSION} for ${process.platform} ${process.arch}\n${lock}`;
const isDone = () => isStamped(stampFile, stamp);

if (!isDone()) {
  const { install } = await import("./setup/install.mjs");
  process.exitCode = await install({ stamp, stampFile, isDone });
}

const isForTests = /^pre(test|check|bench|torture)$/.test(process.env.npm_lifecycle_event ?? "");
if (isForTests && !process.exitCode) {
  const programs = { stampFile: new URL("../node_modules/.setup-programs", import.meta.url), wanted: TEST_PROGRAMS };
  const programsStamp = Object.keys(TEST_PROGRAMS).join("\n");
  if (!isStamped(programs.stampFile, programsStamp)) {
    const { installPrograms } = await import("./setup/programs.mjs");
    installPrograms({ ...programs, stamp: programsStamp });
  }
}

function isStamped(file, text) {
  try {
    return readFileSync(file, "utf8") === text;
  } catch {
    return false;
  }
}
