// Runs alone: it runs a whole suite in a process of another user.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { runAsNobody } from "../world/as-nobody.ts";
import { cannotStart } from "./sandbox-guests.ts";

const root = join(import.meta.dirname, "../..");
/** All of them in `npm run torture`; in `npm test` those to which it makes a difference who runs them. */
const isWhole = process.env.AGENTYARD_UNPRIVILEGED === "all";
const own = "{groups,launch,launch-faults,local,probe,stage}";
/** What stands in their way is made of rights that root has, or of limits that root may set. */
const attacks = "{files-and-mounts,memory,namespaces,processes,resources,supervisor}";
const suites = isWhole
  ? [
      ...["test/attacks/*.test.ts", "src/sandbox/**/*.test.ts"],
      ...["test/contracts/sandbox-*.test.ts", "test/stories/sandbox-*.test.ts"],
    ]
  : [
      ...[`test/attacks/${attacks}.test.ts`, "src/sandbox/local/*.test.ts", "src/sandbox/guest/supervisor.test.ts"],
      `test/contracts/sandbox-${own}.test.ts`,
    ];

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
}

type Probed = Record<"missing" | "degraded", { name: string; reason: string; fix: string }[]>;

/** A file that stops to run must not go unnoticed. */
const passedMin = isWhole ? 450 : 150;
const attacksMin = isWhole ? 190 : 90;
/** What depends on the packages of the machine that runs the tests. */
const packages = ["no_data_libraries", "no_cjk_fonts"];

const askProbe = `
const { openProvider } = await import("./test/contracts/sandbox-guests.ts");
const provider = openProvider();
console.log(JSON.stringify(await provider.probe()));
await provider.close();
`;
