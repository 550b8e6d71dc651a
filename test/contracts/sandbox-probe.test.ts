import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { readBwrap } from "../../src/sandbox/local/bwrap.ts";
import { probeMachine } from "../../src/sandbox/local/probe.ts";
import { canStage } from "../../src/sandbox/local/stage.ts";
import { wordsFor } from "../../src/words/words.ts";
import { cannotStart, isRoot, openHost } from "./sandbox-guests.ts";

async function machineOf(t: TestContext) {
  return { ...(await openHost(t)), ids: systemIds, words: wordsFor("en").sandbox };
}

/** What depends on the packages of the machine that runs the tests. */
const packages = ["no_data_libraries", "no_cjk_fonts"];

test("a machine with everything has all walls, and says what it lacks for limits [X3]", {
  skip: cannotStart,
}, async (t) => {
  const machine = await machineOf(t);
  const { missing, degraded } = await probeMachine(machine);
  const names = degraded.map(({ name }) => name).filter((name) => !packages.includes(name));
  const { memory, pids, cpu, kill } = machine.groups.has;
  const groups = [
    memory ? [] : ["no_cgroup_memory"],
    pids ? [] : ["no_cgroup_pids"],
    cpu ? [] : ["no_cgroup_cpu"],
    kill ? [] : ["no_cgroup_kill"],
  ].flat();
  assert.deepEqual([missing, names], [[], isRoot ? [] : [...groups, "shared_uid"]]);
});

test("without bubblewrap, or with one too old, no code runs, and the command that mends it is told [X3][P1]", {
  skip: cannotStart,
}, async (t) => {
  const machine = await machineOf(t);
  const bwrap = await readBwrap("/nowhere/bwrap");
  const probes = [
    await probeMachine({ ...machine, bwrap }),
    await probeMachine({ ...machine, bwrap: { ...machine.bwrap, lacking: ["--size"] } }),
    await probeMachine({ ...machine, python: "/nowhere/python3" }),
  ];
  assert.deepEqual(
    probes.map(({ missing, degraded }) => [
      missing.map(({ name, fix }) => [name, /install|add|-S/i.test(fix)]),
      degraded,
    ]),
    [
      [[["no_bwrap", true]], []],
      [[["old_bwrap", true]], []],
      [[["no_python", true]], []],
    ],
  );
});

test("a bubblewrap that takes no open folders is named where they cannot be put beside it either [X3][P4]", {
  skip: cannotStart,
}, async (t) => {
  const machine = await machineOf(t);
  const { degraded } = await probeMachine({ ...machine, bwrap: { ...machine.bwrap, hasBindFd: false } });
  assert.deepEqual(
    degraded.map(({ name }) => name).filter((name) => name === "no_bind_fd"),
    isRoot && canStage() ? [] : ["no_bind_fd"],
  );
});

test("what the machine lacks is said in Chinese too [P4]", { skip: cannotStart }, async (t) => {
  const probe = await probeMachine({ ...(await machineOf(t)), bwrap: undefined, words: wordsFor("zh").sandbox });
  assert.equal(probe.missing[0]?.reason, "未安装 bubblewrap，程序无法与本机隔离。");
});

test("a machine on which bubblewrap cannot build its walls runs no code [X3]", { skip: cannotStart }, async (t) => {
  const machine = await machineOf(t);
  const { missing, degraded } = await probeMachine({ ...machine, bwrap: { ...machine.bwrap, path: "/bin/false" } });
  // Which of them depends on the machine that runs the tests.
  const walls = ["no_userns", "apparmor_userns", "in_container"];
  assert.deepEqual([missing.map(({ name }) => walls.includes(name)), degraded], [[true], []]);
});
