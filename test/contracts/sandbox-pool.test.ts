import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { until } from "../world/events.ts";
import { readRules } from "../world/manifests.ts";
import { cannotStart, ownerUid } from "./sandbox-guests.ts";
import { openPlayed } from "./sandbox-on-kubernetes.ts";
import { conversation, done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

const options = { skip: cannotStart };
/** What a claim may take is a minute here: on a busy machine, too, whoever can have a pod of the pool has it. */
const after: Clock["after"] = (ms, action) => systemClock.after(ms === 10_000 ? 60_000 : ms, action);

async function openHere(t: TestContext, cluster: object) {
  const clock = { ...systemClock, after };
  const opened = await openPlayed(t, { clock, files: hostFolder(t), installation: "yard", poolSize: 2, cluster });
  assert.deepEqual((await opened.provider.probe()).missing, []);
  const open = async (changes: Parameters<typeof wantedGuest>[0] = {}) => {
    const guest = await opened.provider.open(wantedGuest(changes));
    assert.ok(guest.ok, JSON.stringify(guest));
    return triedGuest(guest.value);
  };
  return { ...opened, open };
}

test("a guest without a workspace is given a pod that waits, and one takes its place [X2][X3]", options, async (t) => {
  const { cluster, open } = await openHere(t, { hasPools: true });
  const first = await open();
  // It did not wait for the pool, which is filled now.
  assert.ok(cluster.pods().includes(`agentyard-${first.guest.id}`));
  await until("two wait", () => cluster.pods().length === 3);
  const waiting = cluster.pods().filter((name) => name.startsWith("agentyard-yard-"));
  const second = await open({ env: { OWN: "variable" } });
  assert.deepEqual(await second.run("bash", "pwd; echo $OWN; ls /workspace"), done({ stdout: "/tmp\nvariable\n" }));
  assert.ok(!cluster.pods().includes(`agentyard-${second.guest.id}`));
  await until("another one waits", () => cluster.pods().length === 4);
  // Its processes are on another machine: nobody can tell what they share with their memory.
  assert.deepEqual([await second.guest.sharedFiles(), await second.guest.unnamedBytes()], [undefined, 0]);
  await second.guest.close("idle");
  assert.deepEqual(await second.guest.ended, { why: "idle" });
  await until("the claimed one is gone", () => cluster.pods().length === 3);
  assert.equal(waiting.filter((name) => cluster.pods().includes(name)).length, 1);
});

test(
  "a guest with a workspace, or with packages of its user, never comes from a pool: its pod mounts these and nothing else [S5][X3]",
  options,
  async (t) => {
    const { cluster, open, files } = await openHere(t, { hasPools: true });
    await open();
    await until("two wait", () => cluster.pods().length === 3);
    for (const folder of ["c1", "packages/ann"]) mkdirSync(join(files, folder), { recursive: true });
    const { guest } = await open({ workspace: conversation(join(files, "c1")), uid: ownerUid });
    // A program without a conversation has what its user installed all the same.
    const { guest: packaged } = await open({ packages: join(files, "packages/ann") });
    const mountedBy = (name: string) =>
      (cluster.spec(name)?.containers[0].volumeMounts ?? []).flatMap(({ subPath = "" }) =>
        subPath === "" || subPath.startsWith(".sandbox-pods/") ? [] : [subPath],
      );
    const mounted = cluster.pods().map((name) => [name, mountedBy(name)] as const);
    assert.deepEqual(
      mounted.filter(([, folders]) => folders.length > 0),
      [
        [`agentyard-${guest.id}`, ["c1", "c1/uploads", "c1/outputs", "c1/temp"]],
        [`agentyard-${packaged.id}`, ["packages/ann"]],
      ],
    );
  },
);

test(
  "without agent-sandbox, and with a pool that gives nothing, guests get pods of their own [X3]",
  options,
  async (t) => {
    const { open, cluster } = await openHere(t, {});
    await open();
    const { run, guest } = await open();
    assert.ok(cluster.pods().includes(`agentyard-${guest.id}`));
    assert.deepEqual(await run("bash", "echo on"), done({ stdout: "on\n" }));

    const other = await openHere(t, { hasPools: true });
    await other.open();
    await until("two wait", () => other.cluster.pods().length === 3);
    other.cluster.breaks({
      answer: (asked) => (asked === "create sandboxclaims" ? { status: 403, message: "no" } : undefined),
    });
    const own = await other.open();
    assert.ok(other.cluster.pods().includes(`agentyard-${own.guest.id}`));
  },
);

test("the rights for pools in the manifests are those that are used, and no other [X3][N1]", options, async (t) => {
  const rules = readRules("pool.yaml");
  const { cluster, open, provider } = await openHere(t, { hasPools: true, rules: [...readRules(), ...rules] });
  await open();
  await until("two wait", () => cluster.pods().length === 3);
  const { guest } = await open();
  await guest.close("idle");
  await provider.reap();
  // Other limits are another pool, and the old one goes.
  await open({ limits: { ...wantedGuest({}).limits, cpus: 2 } });
  await until("the old pool is gone", () => cluster.asked().has("delete sandboxtemplates"));
  const given = rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  assert.deepEqual([...cluster.asked()].filter((asked) => !asked.includes("pods")).sort(), given.sort());
});
