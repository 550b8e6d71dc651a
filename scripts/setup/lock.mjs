import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";

// The lock is a folder `.setup-lock` with one empty folder in it, named by the holder's process id. A folder that is not
// empty cannot be renamed over, so taking, taking over and giving back are one rename or rmdir each; and git does not
// show empty folders, so a killed set-up leaves a clean `git status`. The npm that the holder started is one more empty
// folder inside, and goes over to the next holder with the rename: a set-up that is killed does not end its npm.

/**
 * Waits until this process holds the lock, and an npm that a killed holder left behind has ended; `onWait` is called with
 * the process that is waited for. Answers how to note the npm that is started, and how to give the lock back.
 */
export async function takeLock(root, onWait) {
  const lock = join(root, ".setup-lock");
  const mine = join(lock, String(process.pid));
  for (let announced = false; !tryToTake(lock, mine); ) {
    const holder = firstIn(lock);
    if (!announced && holder !== undefined) {
      announced = true;
      onWait(holder, lock);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await untilEnded(mine, (pid) => onWait(pid, lock));
  return {
    noteNpm: (pid) => {
      const earlier = firstIn(mine);
      if (earlier !== undefined) rmSync(join(mine, earlier), { recursive: true, force: true });
      mkdirSync(join(mine, String(pid)), { recursive: true });
    },
    giveBack: () => {
      rmSync(mine, { recursive: true, force: true });
      removed(lock);
    },
  };
}

/** Two of npm in one folder take each other's files away. Whoever removes the lock by hand ends the waiting. */
async function untilEnded(mine, onWait) {
  const left = firstIn(mine);
  if (left === undefined) return;
  if (isAlive(Number(left))) onWait(left);
  while (isAlive(Number(left)) && firstIn(mine) === left) await new Promise((resolve) => setTimeout(resolve, 200));
  rmSync(join(mine, left), { recursive: true, force: true });
}

function tryToTake(lock, mine) {
  const holder = firstIn(lock);
  if (holder !== undefined) return !isAlive(Number(holder)) && renamed(join(lock, holder), mine);
  const prepared = `${lock}-${process.pid}`;
  mkdirSync(join(prepared, String(process.pid)), { recursive: true });
  removed(lock);
  const taken = renamed(prepared, lock);
  if (!taken) rmSync(prepared, { recursive: true });
  return taken;
}

function firstIn(folder) {
  try {
    return readdirSync(folder)[0];
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
  return !isZombie(pid);
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
function renamed(from, to) {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function removed(folder) {
  try {
    rmdirSync(folder);
  } catch {} // Somebody else has it, or has removed it.
}
