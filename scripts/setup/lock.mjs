import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

// The lock is a folder `.setup-lock` with one empty folder in it, named by the holder's process id. A folder that is not
// empty cannot be renamed over, so taking, taking over and giving back are one rename or rmdir each; and git does not
// show empty folders, so a killed set-up leaves a clean `git status`.

/** Waits until this process holds the lock; `onWait` is called once with the holder's pid. Answers how to give it back. */
export async function takeLock(root, onWait) {
  const lock = join(root, ".setup-lock");
  const mine = join(lock, String(process.pid));
  for (let announced = false; !tryToTake(lock, mine); ) {
    const holder = holderOf(lock);
    if (!announced && holder !== undefined) {
      announced = true;
      onWait(holder, lock);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return () => {
    rmSync(mine, { recursive: true, force: true });
    attempt(() => rmdirSync(lock));
  };
}

function tryToTake(lock, mine) {
  const holder = holderOf(lock);
  if (holder !== undefined) return !isAlive(Number(holder)) && attempt(() => renameSync(join(lock, holder), mine));
  const prepared = `${lock}-${process.pid}`;
  mkdirSync(join(prepared, String(process.pid)), { recursive: true });
  attempt(() => rmdirSync(lock));
  const taken = attempt(() => renameSync(prepared, lock));
  if (!taken) rmSync(prepared, { recursive: true });
  return taken;
}

function holderOf(lock) {
  try {
    return readdirSync(lock)[0];
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** Dead, but in a container whose first process does not collect its dead it stays listed. */
function isZombie(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** Another process may be quicker: that is an answer, not an error. */
function attempt(action) {
  try {
    action();
    return true;
  } catch {
    return false;
  }
}
