import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createServer } from "node:tls";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { KubernetesSandboxOptions } from "../../src/sandbox/kubernetes/kubernetes.ts";
import type { Guest, GuestWanted, SandboxProvider } from "../../src/sandbox/provider.ts";
import { until } from "../world/events.ts";
import { readRules } from "../world/manifests.ts";
import type { ClusterFaults, Refusal } from "./played-cluster.ts";
import { playCluster } from "./played-cluster.ts";
import { ownerUid, guestTest as test } from "./sandbox-guests.ts";
import { openKubernetes, openPlayed } from "./sandbox-on-kubernetes.ts";
import { conversation, done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

/** Whoever waits for a cluster waits a tenth of the time; programs have all of theirs. */
const hurried: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms / 10, signal) };

async function openHere(t: TestContext, changes: Parameters<typeof openPlayed>[1] = {}) {
  const files = hostFolder(t);
  const opened = await openPlayed(t, { clock: hurried, files, server: "one", installation: "yard", ...changes });
  return { ...opened, left: () => [opened.cluster.pods(), readdirSync(join(files, ".sandbox-pods/yard/one"))] };
}

async function ready(t: TestContext, changes: Partial<KubernetesSandboxOptions> = {}) {
  const opened = await openHere(t, changes);
  assert.deepEqual((await opened.provider.probe()).missing, []);
  return opened;
}

async function openGuest(provider: SandboxProvider, wanted: Partial<GuestWanted> = {}): Promise<Guest> {
  const opened = await provider.open(wantedGuest(wanted));
  assert.ok(opened.ok, JSON.stringify(opened));
  return opened.value;
}

const nothing = [[], []];
const always = (refusal: Refusal | "silence" | "break", what: string): ClusterFaults => ({
  answer: (asked) => (asked === what ? refusal : undefined),
});
const refusesPods = (status: number, message: string) => always({ status, message }, "create pods");

test("what programs say is not in the log that a node keeps of every pod [X3][Q1]", async (t) => {
  const { cluster, provider } = await ready(t);
  const { run } = triedGuest(await openGuest(provider, { id: "one" }));
  assert.deepEqual(
    await run("bash", `head -c 90000 /dev/zero | tr '\\0' y; echo business`).then(({ end }) => end),
    "done 0",
  );
  const kept = cluster.log("agentyard-one");
  assert.ok(kept.length > 90_000, `${kept.length}`);
  assert.ok(!kept.includes("business") && !kept.includes("stdout"));
});

const lacks: readonly (readonly [what: string, faults: ClusterFaults, lack: string])[] = [
  ["does not know our token", always({ status: 401, reason: "Unauthorized" }, "list pods"), "cluster_rights"],
  ["lets us look and make nothing", refusesPods(403, "pods is forbidden"), "cluster_rights"],
  ["has a quota that is used up", refusesPods(403, "exceeded quota: pods=1"), "pod_start"],
  ["cannot pull the image", { status: waiting("ImagePullBackOff", 'Back-off pulling image "x"') }, "pod_image"],
  ["has no network policy", { hasNetwork: true }, "pod_network"],
  ["starts another program", { command: ["/bin/echo", "hello"] }, "pod_start"],
  ["lets somebody take the read-only root away", { edit: withoutReadOnlyRoot }, "pod_walls"],
];

function waiting(reason: string, message: string) {
  return { containerStatuses: [{ state: { waiting: { reason, message } } }] };
}

function withoutReadOnlyRoot(spec: Record<string, unknown>): void {
  const text = JSON.stringify(spec).replace('"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false');
  Object.assign(spec, JSON.parse(text));
}

test("a cluster that runs no code is told by what it lacks [X3]", async (t) => {
  const told = lacks.map(async ([what, faults, lack]) => {
    const { cluster, provider } = await openHere(t, { startTimeoutMs: 20_000 });
    cluster.breaks(faults);
    const { missing } = await provider.probe();
    assert.deepEqual([what, ...missing.map(({ name }) => name)], [what, lack]);
    assert.equal((await provider.open(wantedGuest({}))).ok, false);
    assert.deepEqual(cluster.pods(), []);
  });
  await Promise.all(told);
});

test("a cluster that is not there, a token that is not there, and another volume are told apart [X3]", async (t) => {
  const missing = async (changes: Partial<KubernetesSandboxOptions>) => {
    const { provider } = await openHere(t, { startTimeoutMs: 60_000, ...changes });
    return (await provider.probe()).missing.map(({ name, reason }) => `${name}: ${reason}`);
  };
  const away = { server: "http://127.0.0.1:9", tokenFile: "/etc/hostname", caFile: undefined };
  assert.deepEqual(
    (
      await Promise.all([
        missing({ address: away }),
        missing({ address: { ...away, tokenFile: "/nowhere/token" } }),
        missing({ volumePath: "elsewhere" }),
        missing({ isImaged: true }),
      ])
    ).flatMap((texts) => texts.map((text) => text.replace(/'\/run.*/, "…"))),
    [
      "no_cluster: The Kubernetes cluster does not answer (http://127.0.0.1:9: ECONNREFUSED).",
      "no_cluster: The Kubernetes cluster does not answer (http://127.0.0.1:9: /nowhere/token: ENOENT).",
      "pod_files: A sandbox does not see the files of this server (/usr/bin/python3: can't open file …",
      "host_images: Workspaces are images of disks, which no other machine can see.",
    ],
  );
});

type Played = Awaited<ReturnType<typeof openHere>>["cluster"];

const startFaults: readonly (readonly [what: string, faults: ClusterFaults, fault: object])[] = [
  ["a quota that is used up", refusesPods(403, "exceeded quota: pods=1"), { why: "full" }],
  ["a connection that breaks", always("break", "create pods"), { why: "unavailable" }],
  [
    "streams that are refused",
    always({ status: 403, message: "no attach" }, "get pods/attach"),
    { why: "unavailable", said: "403 no attach" },
  ],
  [
    "an image that cannot be pulled",
    { status: waiting("ErrImagePull", "no such host") },
    { why: "unavailable", said: "ErrImagePull: no such host" },
  ],
  ["a program that ends at once", { command: ["/bin/sh", "-c", "echo broken >&2; exit 3"] }, { why: "start_failed" }],
];

test("a pod that does not start is a fault that tells why, and leaves nothing behind [X3]", async (t) => {
  const tried = startFaults.map(async ([what, faults, fault]) => {
    const { cluster, provider, left } = await ready(t, { startTimeoutMs: 60_000 });
    cluster.breaks(faults);
    const opened = await provider.open(wantedGuest({}));
    assert.partialDeepStrictEqual([what, !opened.ok && opened.failure], [what, fault]);
    assert.deepEqual(left(), nothing);
  });
  await Promise.all(tried);
});

test("a pod whose making was never confirmed is removed all the same [X3]", async (t) => {
  const { cluster, provider, left } = await ready(t);
  cluster.breaks({ answer: (asked) => (asked === "create pods" ? "made" : undefined) });
  const opened = await provider.open(wantedGuest({}));
  assert.deepEqual([!opened.ok && opened.failure.why, left()], ["unavailable", nothing]);
});

type Happens = (cluster: Played, name: string) => void;
const lost = ["lost", "ended"];
const accidents: readonly (readonly [what: string, happens: Happens, ends: readonly string[]])[] = [
  ["is evicted", (cluster, name) => cluster.evict(name), lost],
  ["is taken away", (cluster, name) => cluster.lose(name), lost],
  ["has its stream cut", (cluster) => cluster.breakStreams(), lost],
  ["has a cluster that vanishes", (cluster) => cluster.vanish(), lost],
  ["ran out of memory", (cluster, name) => cluster.evict(name, "OOMKilled"), ["out_of_memory", "out_of_memory"]],
];

test("a guest whose pod has an accident loses what runs in it, ends, and both say why [X1][X3][X4]", async (t) => {
  const tried = accidents.map(async ([what, happens, ends]) => {
    const { cluster, provider } = await ready(t);
    const guest = await openGuest(provider, { id: "one" });
    const seen: unknown[] = [];
    const code = { id: "1", language: "bash", code: "echo on; sleep 1000", agent: "a", timeoutMs: 60_000 } as const;
    for await (const event of guest.run(code)) {
      if (event.kind === "output") happens(cluster, "agentyard-one");
      if (event.kind === "exited") seen.push(event.how);
    }
    assert.deepEqual([what, ...seen, (await guest.ended).why, guest.isOpen()], [what, ...ends, false]);
  });
  await Promise.all(tried);
});

test("a pod ends with the server that was killed, and is swept by another one [X3]", async (t) => {
  const { cluster, provider, files } = await openHere(t, { server: "another" });
  const tokenFile = join(hostFolder(t), "token");
  writeFileSync(tokenFile, cluster.token);
  const told = {
    ...{ address: { server: cluster.address, tokenFile }, namespace: "boxes", image: "agentyard-sandbox:latest" },
    ...{ claim: "files", files, volumePath: "", startTimeoutMs: 60_000 },
  };
  const server = spawn(process.execPath, [servingChild, "kubernetes", "served", "yard", "killed"], {
    ...{ stdio: ["ignore", "pipe", "inherit"], env: { AGENTYARD_TEST_KUBERNETES: JSON.stringify(told) } },
  });
  t.after(() => server.kill("SIGKILL"));
  await new Promise((resolve) => server.stdout.once("data", resolve));
  assert.deepEqual(cluster.pods(), ["agentyard-served"]);
  assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
  server.kill("SIGKILL");
  await until("its pod is over, and found", async () => (await provider.reap()).processes === 1);
  await until("its pod is gone", () => cluster.pods().length === 0);
});

const servingChild = join(import.meta.dirname, "sandbox-serving-child.ts");

test("a folder that is swapped for another while the cluster mounts it is not opened [W5][X3]", async (t) => {
  const { cluster, provider, files } = await ready(t);
  for (const name of ["own", "others/outputs"]) mkdirSync(join(files, name), { recursive: true });
  symlinkSync(join(files, "others/outputs"), join(files, "link"));
  cluster.breaks({
    edit: (spec) => void Object.assign(spec, JSON.parse(JSON.stringify(spec).replaceAll('"own/outputs"', '"link"'))),
  });
  const opened = await provider.open(wantedGuest({ workspace: conversation(join(files, "own")), uid: ownerUid }));
  assert.deepEqual(!opened.ok && opened.failure.why, "wrong_workspace");
});

/** What a claim may take is a minute here: on a busy machine, too, whoever can have a pod of the pool has it. */
const after: Clock["after"] = (ms, action) => systemClock.after(ms === 10_000 ? 60_000 : ms, action);

async function openWithPool(t: TestContext, cluster: object) {
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

test("a guest without a workspace is given a pod that waits, and one takes its place [X2][X3]", async (t) => {
  const { cluster, open } = await openWithPool(t, { hasPools: true });
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

test("a guest with a workspace, or with packages of its user, never comes from a pool: its pod mounts these and nothing else [S5][X3]", async (t) => {
  const { cluster, open, files } = await openWithPool(t, { hasPools: true });
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
});

test("without agent-sandbox, and with a pool that gives nothing, guests get pods of their own [X3]", async (t) => {
  const { open, cluster } = await openWithPool(t, {});
  await open();
  const { run, guest } = await open();
  assert.ok(cluster.pods().includes(`agentyard-${guest.id}`));
  assert.deepEqual(await run("bash", "echo on"), done({ stdout: "on\n" }));

  const other = await openWithPool(t, { hasPools: true });
  await other.open();
  await until("two wait", () => other.cluster.pods().length === 3);
  other.cluster.breaks({
    answer: (asked) => (asked === "create sandboxclaims" ? { status: 403, message: "no" } : undefined),
  });
  const own = await other.open();
  assert.ok(other.cluster.pods().includes(`agentyard-${own.guest.id}`));
});

test("the rights for pools in the manifests are those that are used, and no other [X3][N1]", async (t) => {
  const rules = readRules("pool.yaml");
  const { cluster, open, provider } = await openWithPool(t, { hasPools: true, rules: [...readRules(), ...rules] });
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

test("a cluster is spoken with over TLS, believed by its authority only, and shown the token of the moment [X3][N1]", async (t) => {
  const files = hostFolder(t);
  const tokenFile = join(hostFolder(t), "token");
  // A certificate for localhost and 127.0.0.1, its own authority, good until 2126.
  const [key, caFile] = ["key.pem", "ca.pem"].map((name) => join(import.meta.dirname, "../data/docker-tls", name));
  assert.ok(key !== undefined && caFile !== undefined);
  const ends: (() => unknown)[] = [];
  const cluster = await playCluster(
    { after: (end) => void ends.push(end) },
    { namespace: "boxes", volumes: { files } },
  );
  const { port } = new URL(cluster.address);
  const door = createServer({ key: readFileSync(key), cert: readFileSync(caFile) }, (outer) => {
    const inner = connect(Number(port), "127.0.0.1");
    outer.pipe(inner).pipe(outer);
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      one.on("error", () => {});
      one.once("close", () => other.destroy());
    }
  });
  door.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const bound = door.address();
  const server = `https://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`;
  writeFileSync(tokenFile, "an-old-one");
  const provider = openKubernetes({ server, tokenFile, caFile }, { files });
  const stranger = openKubernetes({ server, tokenFile, caFile: undefined }, { files });
  t.after(async () => {
    await provider.close();
    for (const end of ends) end();
    door.close();
  });
  const lacking = async (tried: typeof provider) =>
    (await tried.probe({ fresh: true })).missing.map(
      ({ name, about }) => `${name} ${about?.detail.replace(server, "")}`,
    );
  assert.deepEqual(
    [await lacking(stranger), await lacking(provider)],
    [["no_cluster : DEPTH_ZERO_SELF_SIGNED_CERT"], ["cluster_rights : 401 Unauthorized"]],
  );
  writeFileSync(tokenFile, cluster.token);
  assert.deepEqual(await lacking(provider), []);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok, JSON.stringify(opened));
  assert.deepEqual(await triedGuest(opened.value).run("bash", "echo on"), done({ stdout: "on\n" }));
  await opened.value.close("idle");
  assert.deepEqual(cluster.pods(), []);
});
