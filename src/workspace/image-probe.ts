import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ok, type Result } from "../base/result.ts";
import { type Failure, failure } from "../protocol/failure.ts";
import { attemptDisk } from "./faults.ts";
import { fillImage, hasProgram, mountImage, type Program, runProgram, sizesOf } from "./image-programs.ts";

/** Small, and made in some milliseconds. */
const sizes = sizesOf({ bytesMax: 0, filesMax: 0 });

/** Whether images can be made and mounted in this folder: one really is. Nothing of it stays. */
export async function probeImages(folder: string): Promise<Result<void, Failure<"images_unusable">>> {
  if (process.geteuid?.() !== 0) return failure("images_unusable", { why: "no_root", said: "" });
  const missing = programs.filter((program) => !hasProgram(program));
  if (missing.length > 0) return failure("images_unusable", { why: "no_programs", said: missing.join(", ") });
  const made = await attemptDisk(() => mkdtempSync(join(folder, ".image-probe-")));
  if (!made.ok) return failure("images_unusable", { why: "no_disk", said: made.failure });
  const base = made.value;
  try {
    const tried = await tryOut(base);
    const said = tried.ok ? "" : tried.failure.replaceAll(base, "").replaceAll(/\s+/g, " ");
    return tried.ok ? ok(undefined) : failure("images_unusable", { why: "no_loop", said });
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

const programs: readonly Program[] = ["mkfs.ext4", "mount", "umount", "cp"];

async function tryOut(base: string): Promise<Result<void, string>> {
  const places = { image: join(base, "image"), from: join(base, "from"), mounted: join(base, "mounted") };
  for (const path of [places.from, places.mounted]) mkdirSync(path);
  writeFileSync(places.image, "");
  truncateSync(places.image, sizes.bytes);
  const filled = await fillImage(places.image, places.from, sizes);
  const there = filled.ok ? await mountImage(places.image, places.mounted) : filled;
  return there.ok ? runProgram("umount", [places.mounted]) : there;
}
