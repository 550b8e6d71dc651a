/**
 * The attacker of the race test, a process of its own: swaps folders and files of a workspace for links to the outside
 * and back, as fast as it can, until it is killed. `node swapper.ts <workspace folder> <outside folder>`
 */
import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder = "", outside = ""] = process.argv.slice(2);
const tricks = join(folder, "tricks");
rmSync(tricks, { recursive: true, force: true });
mkdirSync(join(tricks, "real"), { recursive: true });
writeFileSync(join(tricks, "real", "f.txt"), "inside");
execFileSync("mkfifo", [join(tricks, "pipe")]);
process.stdout.write("ready\n");

for (let round = 0; ; round += 1) {
  attempt(() => {
    // A folder in the middle of a path: real, then a link to the outside, then real again.
    mkdirSync(join(folder, "outputs", "d"), { recursive: true });
    writeFileSync(join(folder, "outputs", "d", "f.txt"), "inside");
    symlinkSync(outside, join(tricks, "link"));
    renameSync(join(folder, "outputs", "d"), join(tricks, `away-${round}`));
    renameSync(join(tricks, "link"), join(folder, "outputs", "d"));
    rmSync(join(folder, "outputs", "d"), { force: true });
    renameSync(join(tricks, `away-${round}`), join(folder, "outputs", "d"));
  });
  attempt(() => {
    // The last name: a file, a link, a second name of a file outside, a pipe.
    writeFileSync(join(tricks, "leaf"), "inside");
    renameSync(join(tricks, "leaf"), join(folder, "outputs", "leaf.txt"));
    symlinkSync(join(outside, "f.txt"), join(tricks, "leaf"));
    renameSync(join(tricks, "leaf"), join(folder, "outputs", "leaf.txt"));
    linkSync(join(outside, "f.txt"), join(tricks, "leaf"));
    renameSync(join(tricks, "leaf"), join(folder, "outputs", "leaf.txt"));
    linkSync(join(tricks, "pipe"), join(tricks, "leaf"));
    renameSync(join(tricks, "leaf"), join(folder, "outputs", "leaf.txt"));
    rmSync(join(folder, "outputs", "leaf.txt"), { force: true });
  });
  attempt(() => {
    // A whole top folder.
    symlinkSync(outside, join(tricks, "temp"));
    renameSync(join(folder, "temp"), join(tricks, `temp-${round}`));
    renameSync(join(tricks, "temp"), join(folder, "temp"));
    rmSync(join(folder, "temp"), { force: true });
    renameSync(join(tricks, `temp-${round}`), join(folder, "temp"));
  });
}

/** The other side changes the same files: half of a trick may find nothing to work on. */
function attempt(trick: () => void): void {
  try {
    trick();
  } catch {
    rmSync(join(tricks, "link"), { force: true });
    rmSync(join(tricks, "leaf"), { force: true });
    rmSync(join(tricks, "temp"), { force: true });
    mkdirSync(join(folder, "outputs"), { recursive: true });
    try {
      mkdirSync(join(folder, "temp"));
    } catch {
      // It is there, or a link stands in its place until the next round.
    }
  }
}
