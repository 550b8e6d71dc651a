import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { TestContext } from "node:test";
import { failureWords, wordsFor } from "../../src/words/words.ts";
import { probeImages } from "../../src/workspace/workspace.ts";

const probed = await probeImages(tmpdir());

/** A test with images that are really mounted. Where this machine cannot do that it shows that people are told so. */
export function withImages(work: (t: TestContext) => Promise<void>): (t: TestContext) => Promise<void> {
  return async (t) => {
    if (probed.ok) return work(t);
    t.diagnostic(`no images here: ${probed.failure.params.why} ${probed.failure.params.said}`);
    assert.match(failureWords(wordsFor("en"), probed.failure).join(" "), /set sandbox_platform\.disk to folder\.$/);
  };
}

/** What is mounted below a folder, shortened by it; or how. */
export function mountsBelow(folder: string, what: "places" | "options" = "places"): string[] {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, , , , place = ""]) => place.startsWith(`${folder}/`));
  return mounts.map(([, , , , place = "", options = ""]) =>
    what === "places" ? place.slice(folder.length + 1) : options,
  );
}
