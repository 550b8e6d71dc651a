// Runs alone: it runs a whole suite in a process of another user.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runAsNobody } from "../world/as-nobody.ts";
import { cannotStart } from "./sandbox-guests.ts";

const root = join(import.meta.dirname, "../..");
/** All of them in `npm run torture`; in `npm test` one of each kind: walls, limits, and what an ordinary user's system lacks. */
const isWhole = process.env.AGENTYARD_UNPRIVILEGED === "all";
const suites = isWhole
  ? [
      ...["test/attacks/*.test.ts", "src/sandbox/**/*.test.ts"],
      ...["test/contracts/sandbox-*.test.ts", "test/stories/sandbox-*.test.ts"],
    ]
  : ["test/attacks/kernel-calls.test.ts", "test/contracts/sandbox-local.test.ts"];

// Run by somebody else, every file of the suites is such a run by itself.
if (process.geteuid?.() === 0) {
  test("attacks are stopped and the sandbox suites pass for an ordinary user too, or belong to a limit that the probe says is missing [X3][X4]", {
    skip: cannotStart,
  }, async (t) => {
    const files = suites
      .flatMap((glob) => globSync(glob, { cwd: root }))
      .filter((file) => !file.includes("unprivileged") && !file.includes("web-addresses"));
    const { status, output } = await runAsNobody(t, [
      "--test",
      ...(isWhole ? [] : ["--test-isolation=none"]),
      "--test-reporter=tap",
      "--test-concurrency=2",
      ...files.sort(),
    ]);
    const lines = output.split("\n");
    const failed = lines.filter((line) => /^\s*not ok /.test(line));
    const passed = lines.filter((line) => /^ok \d+ /.test(line)).length;
    const stopped = lines.filter((line) => /^\s*ok \d+ - attacks? \d/.test(line)).length;
    assert.deepEqual([failed, status], [[], 0], output.slice(-20_000));
    assert.ok(passed >= passedMin && stopped >= attacksMin, `${passed} passed, ${stopped} attacks were stopped`);
    t.diagnostic(`${passed} passed, ${stopped} attacks were stopped`);
  });

  test("what an ordinary user lacks is named, each with the command that gets it [X3][P2]", {
    skip: cannotStart,
  }, async (t) => {
    const { output } = await runAsNobody(t, ["--input-type=module", "--eval", askProbe]);
    const { missing, degraded }: Probed = JSON.parse(output);
    const names = degraded.map(({ name }) => name).filter((name) => !packages.includes(name));
    assert.deepEqual(
      [missing, names],
      [[], ["no_cgroup_memory", "no_cgroup_pids", "no_cgroup_cpu", "no_cgroup_kill", "shared_uid"]],
    );
    assert.deepEqual(
      degraded.filter(({ reason, fix }) => reason === "" || fix === ""),
      [],
    );
  });

  test("a user for whom the system has no name, as containers have it, chats and is told about the machine [P1][N1]", async (t) => {
    const ran = await runAsNobody(t, ["bin/agentyard.mjs", "run", "what time is it", "--data", `t/data-${uid}`], uid);
    assert.equal(ran.status, 0, ran.output);
    const looked = await runAsNobody(t, ["bin/agentyard.mjs", "doctor", "--json", "--data", `t/data-${uid}`], uid);
    assert.match(looked.output, /"checks":/);
  });
}

type Probed = Record<"missing" | "degraded", { name: string; reason: string; fix: string }[]>;

/** Of the image. */
const uid = 10_001;

/** A file that stops to run must not go unnoticed. */
const passedMin = isWhole ? 200 : 38;
const attacksMin = isWhole ? 140 : 25;
/** What depends on the packages of the machine that runs the tests. */
const packages = ["no_data_libraries", "no_cjk_fonts"];

const askProbe = `
const { openProvider } = await import("./test/contracts/sandbox-guests.ts");
const provider = openProvider();
console.log(JSON.stringify(await provider.probe()));
await provider.close();
`;
