// The pre-step of start, chat, test, check, bench and torture. It runs under whatever Node the machine has, so it is
// plain JavaScript without dependencies. With nothing missing it must cost next to nothing: what only an installation
// needs is imported only then.
import { readFileSync } from "node:fs";

/** Raise this when an installation of an unchanged lock file has to be made again. */
const SETUP_VERSION = 1;

// The stamp is what was installed: the lock file itself, and for which machine. A hash of it would be shorter, but
// loading node:crypto takes a third of the time that Node needs to start.
const stampFile = new URL("../node_modules/.setup-stamp", import.meta.url);
const lock = readFileSync(new URL("../package-lock.json", import.meta.url), "utf8");
const stamp = `set-up ${SETUP_VERSION} for ${process.platform} ${process.arch}\n${lock}`;

if (!isDone()) {
  const { install } = await import("./setup/install.mjs");
  process.exitCode = await install({ stamp, stampFile, isDone });
}

function isDone() {
  try {
    return readFileSync(stampFile, "utf8") === stamp;
  } catch {
    return false;
  }
}
