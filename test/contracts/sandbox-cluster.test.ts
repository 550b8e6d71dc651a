import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { KubernetesSandboxOptions } from "../../src/sandbox/kubernetes/kubernetes.ts";
import type { Guest, GuestWanted, SandboxProvider } from "../../src/sandbox/provider.ts";
import { until } from "../world/events.ts";
import type { ClusterFaults, Refusal } from "./played-cluster.ts";
import { cannotStart, ownerUid } from "./sandbox-guests.ts";
import { openKubernetes, openPlayed } from "./sandbox-on-kubernetes.ts";
import { conversation, done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

const options = { skip: cannotStart };
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

test(
  "a pod has nothing but what a guest needs, and asks for every wall there is [X3][X4][S5][N1]",
  options,
  async (t) => {
    const { cluster, provider, files } = await ready(t, { runtimeClass: "gvisor", volumePath: "" });
    mkdirSync(join(files, "conversations/c1"), { recursive: true });
    const workspace = { ...conversation(join(files, "conversations/c1")), skills: undefined };
    await openGuest(provider, { id: "one", workspace, uid: ownerUid });
    const spec = cluster.spec("agentyard-one");
    const user = ownerUid ?? process.geteuid?.();
    assert.partialDeepStrictEqual(spec, {
      ...{ restartPolicy: "Never", automountServiceAccountToken: false, runtimeClassName: "gvisor" },
      securityContext: { runAsNonRoot: true, runAsUser: user, seccompProfile: { type: "RuntimeDefault" } },
    });
    const [container] = spec?.containers ?? [];
    assert.partialDeepStrictEqual(container, {
      ...{ stdin: true, stdinOnce: true, tty: false, env: [] },
      securityContext: {
        ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
      },
      resources: {
        limits: { cpu: "1", memory: `${(400 + 64) * 1024 ** 2}` },
        requests: { cpu: "0.1", memory: `${(400 + 64) * 1024 ** 2}` },
      },
    });
    const mounts = container?.volumeMounts.map(({ name, mountPath, subPath = "", readOnly = false }) =>
      [name, mountPath, subPath, readOnly ? "read" : "write"].join(" "),
    );
    const stage = ".sandbox-pods/yard/one/one";
    assert.deepEqual(mounts, [
      "tmp /tmp  write",
      `files /run/agentyard ${stage}/run read`,
      `files /etc/passwd ${stage}/etc/passwd read`,
      `files /etc/group ${stage}/etc/group read`,
      `files /workspace ${stage}/workspace read`,
      "files /workspace/c1 conversations/c1 read",
      "files /workspace/c1/uploads conversations/c1/uploads write",
      "files /workspace/c1/outputs conversations/c1/outputs write",
      "files /workspace/c1/temp conversations/c1/temp write",
    ]);
  },
);

test("what programs say is not in the log that a node keeps of every pod [X3][Q1]", options, async (t) => {
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

test(
  "a guest outlives a cluster that forgets what happened, and one that only speaks the older streams [X3]",
  options,
  async (t) => {
    const { cluster, provider } = await openHere(t, { cluster: { version: "v4.channel.k8s.io" } });
    const { run, guest } = triedGuest(await openGuest(provider));
    cluster.forgetHistory();
    assert.deepEqual(await run("bash", "echo on"), done({ stdout: "on\n" }));
    // Between two watches: it is missing from the next list.
    cluster.forgetHistory();
    cluster.lose(`agentyard-${guest.id}`);
    assert.deepEqual(await guest.ended, { why: "ended" });
  },
);

test(
  "a pod that is taken away while the cluster was not heard is known to be gone at the next look [X3]",
  options,
  async (t) => {
    const { cluster, provider, left } = await ready(t);
    let watches = 0;
    cluster.breaks({
      status: {},
      answer(asked) {
        if (asked === "watch pods") watches += 1;
        return undefined;
      },
    });
    const opened = provider.open(wantedGuest({ id: "one" }));
    await until("it waits, and is watched", () => cluster.pods().length === 1 && watches > 0);
    cluster.forgetHistory();
    cluster.lose("agentyard-one");
    const told = await opened;
    assert.deepEqual(!told.ok && told.failure, { why: "start_failed", said: "removed" });
    assert.deepEqual(left(), nothing);
  },
);

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

for (const [what, faults, lack] of lacks) {
  test(`a cluster that ${what} runs no code and is told as ${lack} [X3]`, options, async (t) => {
    const { cluster, provider } = await openHere(t, { startTimeoutMs: 20_000 });
    cluster.breaks(faults);
    const { missing } = await provider.probe();
    assert.deepEqual(
      missing.map(({ name }) => name),
      [lack],
    );
    assert.equal((await provider.open(wantedGuest({}))).ok, false);
    assert.deepEqual(cluster.pods(), []);
  });
}

test(
  "a cluster that is not there, a token that is not there, and another volume are told apart [X3]",
  options,
  async (t) => {
    const missing = async (changes: Partial<KubernetesSandboxOptions>) => {
      const { provider } = await openHere(t, { startTimeoutMs: 20_000, ...changes });
      return (await provider.probe()).missing.map(({ name, reason }) => `${name}: ${reason}`);
    };
    const away = { server: "http://127.0.0.1:9", tokenFile: "/etc/hostname", caFile: undefined };
    assert.deepEqual(
      [
        await missing({ address: away }),
        await missing({ address: { ...away, tokenFile: "/nowhere/token" } }),
        await missing({ claim: "other", startTimeoutMs: 8000 }), // It is waited for, all of that time.
        await missing({ volumePath: "elsewhere" }),
        await missing({ isImaged: true }),
      ].flatMap((texts) => texts.map((text) => text.replace(/'\/run.*/, "…"))),
      [
        "no_cluster: The Kubernetes cluster does not answer (http://127.0.0.1:9: ECONNREFUSED).",
        "no_cluster: The Kubernetes cluster does not answer (http://127.0.0.1:9: /nowhere/token: ENOENT).",
        'pod_files: A sandbox does not see the files of this server (Unschedulable: persistentvolumeclaim "other" not found).',
        "pod_files: A sandbox does not see the files of this server (/usr/bin/python3: can't open file …",
        "host_images: Workspaces are images of disks, which no other machine can see.",
      ],
    );
  },
);

/** The time to start of what takes all of it; the other faults are told at once, and a busy machine has a minute for that. */
const awaitedMs = 5000;
const startFaults: readonly (readonly [what: string, faults: ClusterFaults, fault: object, startMs?: number])[] = [
  ["a token that ran out", refusesPods(401, "Unauthorized"), { why: "unavailable", said: "401 Unauthorized" }],
  ["rights that were taken", refusesPods(403, "forbidden"), { why: "unavailable", said: "403 forbidden" }],
  ["a quota that is used up", refusesPods(403, "exceeded quota: pods=1"), { why: "full" }],
  ["a name that is taken", refusesPods(409, "already exists"), { why: "start_failed", said: "409 already exists" }],
  ["a pod that it finds invalid", refusesPods(422, "invalid"), { why: "start_failed", said: "422 invalid" }],
  [
    "too many requests, for good",
    always({ status: 429, message: "too many", retryAfter: 1 }, "create pods"),
    { why: "unavailable", said: "429 too many" },
    awaitedMs,
  ],
  ["a broken server", refusesPods(500, "etcd"), { why: "unavailable", said: "500 etcd" }, awaitedMs],
  ["a connection that breaks", always("break", "create pods"), { why: "unavailable" }],
  ["no answer at all", always("silence", "create pods"), { why: "unavailable" }, awaitedMs],
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
  ["a pod that waits for ever", { status: {} }, { why: "start_timeout" }, awaitedMs],
  [
    "a pod that is evicted at once",
    { status: { phase: "Failed", reason: "Evicted" } },
    { why: "start_failed", said: "Evicted" },
  ],
  [
    "no room on any node",
    {
      status: {
        conditions: [
          {
            type: "PodScheduled",
            status: "False",
            reason: "Unschedulable",
            message: "0/3 nodes are available: 3 Insufficient memory.",
          },
        ],
      },
    },
    { why: "full" },
    awaitedMs,
  ],
  ["a program that ends at once", { command: ["/bin/sh", "-c", "echo broken >&2; exit 3"] }, { why: "start_failed" }],
  ["a program that says nothing", { command: ["/bin/sleep", "1000"] }, { why: "start_timeout" }, awaitedMs],
];

for (const [what, faults, fault, startMs = 60_000] of startFaults) {
  test(`${what} is a fault that tells why, and leaves nothing behind [X3]`, options, async (t) => {
    let isBroken = false;
    const after: Clock["after"] = (ms, action) => systemClock.after(isBroken && ms === 60_000 ? startMs : ms, action);
    const { cluster, provider, left } = await ready(t, { clock: { ...hurried, after }, startTimeoutMs: 60_000 });
    isBroken = true;
    cluster.breaks(faults);
    const opened = await provider.open(wantedGuest({}));
    assert.ok(!opened.ok);
    assert.partialDeepStrictEqual(opened.failure, fault);
    assert.deepEqual(left(), nothing);
  });
}

test("a cluster that is busy for a moment is asked again, as late as it wants [X3]", options, async (t) => {
  const { cluster, provider } = await ready(t);
  let refusals = 2;
  cluster.breaks({
    answer(asked) {
      if (asked !== "create pods" || refusals === 0) return undefined;
      refusals -= 1;
      return { status: refusals === 1 ? 429 : 503, message: "busy", retryAfter: 1 };
    },
  });
  await openGuest(provider);
  assert.equal(refusals, 0);
});

test("a pod whose making was never confirmed is removed all the same [X3]", options, async (t) => {
  const { cluster, provider, left } = await ready(t);
  cluster.breaks({ answer: (asked) => (asked === "create pods" ? "made" : undefined) });
  const opened = await provider.open(wantedGuest({}));
  assert.deepEqual([!opened.ok && opened.failure.why, left()], ["unavailable", nothing]);
});

type Happens = (cluster: Awaited<ReturnType<typeof openHere>>["cluster"], name: string) => void;
const lost = ["lost", "ended"];
const accidents: readonly (readonly [what: string, happens: Happens, ends: readonly string[]])[] = [
  ["is evicted", (cluster, name) => cluster.evict(name), lost],
  ["is taken away", (cluster, name) => cluster.lose(name), lost],
  ["has its stream cut", (cluster) => cluster.breakStreams(), lost],
  ["has a cluster that vanishes", (cluster) => cluster.vanish(), lost],
  ["ran out of memory", (cluster, name) => cluster.evict(name, "OOMKilled"), ["out_of_memory", "out_of_memory"]],
];

for (const [what, happens, ends] of accidents) {
  test(`a guest that ${what} loses what runs in it, ends, and both say why [X1][X3][X4]`, options, async (t) => {
    const { cluster, provider } = await ready(t);
    const guest = await openGuest(provider, { id: "one" });
    const seen: unknown[] = [];
    const code = { id: "1", language: "bash", code: "echo on; sleep 1000", agent: "a", timeoutMs: 60_000 } as const;
    for await (const event of guest.run(code)) {
      if (event.kind === "output") happens(cluster, "agentyard-one");
      if (event.kind === "exited") seen.push(event.how);
    }
    assert.deepEqual([[...seen, (await guest.ended).why], guest.isOpen()], [ends, false]);
  });
}

test("a stream on which nothing comes through any more is given up [X3]", options, async (t) => {
  // Whoever waits for a sign of life waits a hundredth of the time, and counts it in looks: a busy machine makes none more.
  let looks = 0;
  const look = (action: () => void) => {
    looks += 1;
    action();
  };
  const after: Clock["after"] = (ms, action) =>
    ms === 15_000 ? systemClock.after(150, () => look(action)) : systemClock.after(ms, action);
  const { cluster, provider } = await ready(t, { clock: { ...hurried, after, monotonic: () => looks * 15_000 } });
  const { run, guest } = triedGuest(await openGuest(provider, { id: "one" }));
  assert.deepEqual(await run("bash", "sleep 1; echo on"), done({ stdout: "on\n" }));
  cluster.freeze("agentyard-one");
  assert.deepEqual(await guest.ended, { why: "ended" });
});

test(
  "pods and files of a server that is gone are swept, and those of servers that live are not [X3]",
  options,
  async (t) => {
    const { cluster, provider, files } = await ready(t);
    const account = join(hostFolder(t), "token");
    writeFileSync(account, cluster.token);
    const address = { server: cluster.address, tokenFile: account, caFile: undefined };
    const other = openKubernetes(address, { installation: "yard", server: "two", files, clock: hurried });
    t.after(() => other.close());
    const used = await openGuest(provider, { id: "used" });
    assert.deepEqual(await other.reap(), { processes: 0, groups: 0, mounts: 0 });
    assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
    // The same server, started anew.
    const next = openKubernetes(address, { installation: "yard", server: "one", files, clock: hurried });
    t.after(() => next.close());
    mkdirSync(join(files, ".sandbox-pods/yard/three/left"), { recursive: true });
    const longAgo = new Date("2020-01-01T00:00:00Z");
    utimesSync(join(files, ".sandbox-pods/yard/three"), longAgo, longAgo);
    assert.deepEqual(await next.reap(), { processes: 1, groups: 0, mounts: 2 });
    assert.deepEqual(await used.ended, { why: "ended" });
    await until("it is gone", () => cluster.pods().length === 0);
  },
);

test("a pod made while leftovers are looked for is none: its programs run on [X3]", options, async (t) => {
  const { cluster, provider } = await ready(t);
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  cluster.breaks({
    delay(question) {
      if (question === "list pods") asked.resolve();
      return question === "list pods" ? answered.promise : undefined;
    },
  });
  const reaped = provider.reap();
  await asked.promise;
  cluster.breaks({});
  const { run } = triedGuest(await openGuest(provider));
  answered.resolve();
  assert.deepEqual(await reaped, { processes: 0, groups: 0, mounts: 0 });
  assert.deepEqual(await run("bash", "echo on"), done({ stdout: "on\n" }));
});

test("a pod ends with the server that was killed, and is swept by another one [X3]", options, async (t) => {
  const { cluster, provider, files } = await openHere(t, { server: "another" });
  const tokenFile = join(hostFolder(t), "token");
  writeFileSync(tokenFile, cluster.token);
  const told = {
    ...{ address: { server: cluster.address, tokenFile }, namespace: "boxes", image: "agentyard-sandbox:latest" },
    ...{ claim: "files", files, volumePath: "", startTimeoutMs: 60_000 },
  };
  const server = spawn(process.execPath, [servingChild, "yard", "killed", "served"], {
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

const servingChild = join(import.meta.dirname, "../kubernetes/serving-child.ts");

test("a folder that is swapped for another while the cluster mounts it is not opened [W5][X3]", options, async (t) => {
  const { cluster, provider, files } = await ready(t);
  for (const name of ["own", "others/outputs"]) mkdirSync(join(files, name), { recursive: true });
  symlinkSync(join(files, "others/outputs"), join(files, "link"));
  cluster.breaks({
    edit: (spec) => void Object.assign(spec, JSON.parse(JSON.stringify(spec).replaceAll('"own/outputs"', '"link"'))),
  });
  const opened = await provider.open(wantedGuest({ workspace: conversation(join(files, "own")), uid: ownerUid }));
  assert.deepEqual(!opened.ok && opened.failure.why, "wrong_workspace");
});
