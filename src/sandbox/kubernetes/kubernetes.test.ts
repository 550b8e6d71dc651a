import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { manualClock, notingClock } from "../../../test/world/manual-clock.ts";
import { playApi, podOf } from "../../../test/world/played-api.ts";
import { systemIds } from "../../base/ids.ts";
import { type CallFault, callFault } from "../guest/http-call.ts";
import type { GuestWanted } from "../provider.ts";
import { openApi } from "./api.ts";
import { lateFault, podFault, startFault } from "./faults.ts";
import type { PodSeen } from "./follow.ts";
import { followPods, listPods } from "./follow.ts";
import { makeObject, removeObject } from "./objects.ts";
import { podBody } from "./pod.ts";
import { claimPod, type Pool, reapClaims } from "./pool.ts";
import { placesToTry } from "./probe.ts";
import { reapLeft } from "./reap.ts";

const seen = (changes: Partial<PodSeen>): PodSeen => ({
  ...{ name: "p", labels: {}, isRunning: false, isLeaving: false, end: undefined, waits: { reason: "", message: "" } },
  ...changes,
});

test("what a cluster answers to a wish for a pod tells whether somebody has to see to it, there is no room, or this one is wrong [X3]", () => {
  const refused = (status: number, said = "") => startFault(callFault("refused", said, status)).why;
  const of = (why: CallFault["why"]) => startFault(callFault(why)).why;
  assert.deepEqual(
    [401, 403, 404, 429, 500, 503].map((status) => refused(status)),
    Array<string>(6).fill("unavailable"),
  );
  assert.deepEqual(
    [400, 409, 413, 422, 499].map((status) => refused(status)),
    Array<string>(5).fill("start_failed"),
  );
  assert.deepEqual(
    [refused(403, "pods are forbidden: Exceeded quota: a"), refused(422, "exceeded quota"), refused(403, "quota")],
    ["full", "start_failed", "unavailable"],
  );
  assert.deepEqual([of("unreachable"), of("broken_off"), of("late")], Array<string>(3).fill("unavailable"));
  assert.deepEqual(
    [startFault(callFault("late")).said, startFault(callFault("broken_off", "ECONNRESET")).said],
    ["late", "ECONNRESET"],
  );
});

test("a pod that waits for what nobody brings is given up at once, and one that may come is waited for [X3]", () => {
  const waits = (reason: string) => podFault(seen({ waits: { reason, message: "why" } }));
  for (const reason of [
    ...["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError"],
    ...["CreateContainerConfigError", "CreateContainerError", "RunContainerError"],
  ])
    assert.deepEqual(waits(reason), { why: "unavailable", said: `${reason}: why` });
  for (const reason of ["ContainerCreating", "PodInitializing", "Unschedulable", ""])
    assert.equal(waits(reason), undefined);
  assert.deepEqual(
    [podFault(seen({ end: { code: 1, reason: "Evicted" } })), podFault(seen({ isLeaving: true }))],
    [
      { why: "start_failed", said: "Evicted" },
      { why: "start_failed", said: "removed" },
    ],
  );
});

test("a pod that did not run in time was without room, without its volume, or slow [X3][X4]", () => {
  const late = (reason: string, message: string) => lateFault(seen({ waits: { reason, message } }));
  assert.deepEqual(
    [
      late("Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.").why,
      late("Unschedulable", "0/3 nodes are available: 3 Too many pods.").why,
      late("Unschedulable", 'persistentvolumeclaim "files" not found').why,
      late("Unschedulable", "0/3 nodes match the selector").why,
      late("ContainerCreating", "insufficient words").why,
      lateFault(undefined).why,
    ],
    ["full", "full", "unavailable", "start_timeout", "start_timeout", "start_timeout"],
  );
  assert.deepEqual(
    [late("Unschedulable", "no node").said, late("ContainerCreating", "").said],
    ["Unschedulable: no node", "ContainerCreating"],
  );
});

const running = { phase: "Running", containerStatuses: [{ state: { running: {} } }] };

test("how a pod is follows from all that a cluster says of it [X3]", async (t) => {
  let items: object[] = [];
  const { address } = await playApi(t, {
    answer: (_, response) => void response.end(JSON.stringify({ metadata: { resourceVersion: "7" }, items })),
  });
  const api = openApi({ address, clock: manualClock() });
  const terminated = (exitCode: number, reason?: string) => ({
    containerStatuses: [{ state: { terminated: { exitCode, reason } } }],
  });
  const unscheduled = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" };
  const waiting = { containerStatuses: [{ state: { waiting: { reason: "ErrImagePull", message: "no such host" } } }] };
  const cases: readonly (readonly [status: object, seen: Partial<PodSeen>])[] = [
    [{}, { isRunning: false, end: undefined, waits: { reason: "", message: "" } }],
    [running, { isRunning: true, end: undefined }],
    [
      { ...running, phase: "Failed", reason: "Evicted" },
      { isRunning: false, end: { code: null, reason: "Evicted" } },
    ],
    [{ phase: "Running", ...terminated(137, "OOMKilled") }, { end: { code: 137, reason: "OOMKilled" } }],
    [{ phase: "Failed", reason: "Evicted", ...terminated(137, "Error") }, { end: { code: 137, reason: "Evicted" } }],
    [{ phase: "Succeeded", message: "well" }, { end: { code: null, reason: "well" } }],
    [
      { ...waiting, reason: "x" },
      { end: undefined, waits: { reason: "ErrImagePull", message: "no such host" } },
    ],
    [
      { ...waiting, conditions: [{ ...unscheduled, status: "True" }] },
      { waits: { reason: "ErrImagePull", message: "no such host" } },
    ],
    [{ ...waiting, conditions: [unscheduled] }, { waits: { reason: "Unschedulable", message: "no node" } }],
    [{ reason: "NodeLost", message: "m" }, { waits: { reason: "NodeLost", message: "m" } }],
  ];
  items = cases.map(([status], number) => podOf(`${number}`, { status }));
  const metadata = { name: "leaving", deletionTimestamp: "2026-01-01T00:00:00Z" };
  items.push(podOf("leaving", { metadata }));
  const listed = await listPods({ api, pods: "/pods" }, {});
  assert.ok(listed.ok);
  const { pods, version } = listed.value;
  for (const [number, [, seen]] of cases.entries())
    assert.partialDeepStrictEqual(pods[number], { name: `agentyard-${number}`, isLeaving: false, ...seen });
  assert.deepEqual([pods.at(-1)?.isLeaving, pods.at(-1)?.name, version], [true, "leaving", "7"]);
  items = [{ kind: "none" }];
  const wrong = await listPods({ api, pods: "/pods" }, {});
  assert.partialDeepStrictEqual(wrong, { ok: false, failure: { why: "broken_off", said: "no list of pods" } });
});

test("a cluster that is busy is asked again, later each time and never before it wants; what it refuses is not asked again [X3]", async (t) => {
  const { clock, waits } = notingClock();
  const answers: [status: number, retryAfter?: string][] = [
    ...([[429], [500], [503, "3"], [503, "0"], [429], [500], [500], [422]] as [number, string?][]),
  ];
  const { address, asked } = await playApi(t, {
    answer(_, response) {
      const [status, retryAfter] = answers.shift() ?? [200];
      response.writeHead(status, retryAfter === undefined ? {} : { "Retry-After": retryAfter });
      response.end(JSON.stringify({ message: `said ${status}` }));
    },
  });
  const api = openApi({ address, clock });
  const order = { path: "/pods", name: "one", body: {} };
  const refused = await makeObject({ api, clock }, order);
  assert.partialDeepStrictEqual(refused, { ok: false, failure: { status: 422, said: "said 422" } });
  assert.deepEqual(waits, [250, 500, 3000, 2000, 4000, 5000, 5000]);
  assert.equal((await makeObject({ api, clock }, order)).ok, true);
  assert.deepEqual(new Set(asked), new Set(["POST /pods"]));

  // Time is over while it is waited for: the last answer tells why.
  answers.push([503]);
  const late = new AbortController();
  const stopping = { ...clock, wait: async () => "aborted" as const };
  assert.partialDeepStrictEqual(await makeObject({ api, clock: stopping }, order, late.signal), {
    ...{ ok: false, failure: { why: "refused", status: 503 } },
  });
  answers.push([200], [404], [500]);
  asked.length = 0;
  const removed = [];
  for (let count = 0; count < 3; count += 1) removed.push(await removeObject({ api }, order));
  assert.deepEqual(removed, ["asked", "absent", "not_asked"]);
  assert.deepEqual(new Set(asked), new Set(["DELETE /pods/one?gracePeriodSeconds=1"]));
});

const mebibyte = 1024 ** 2;

const limits = {
  ...{ memoryBytes: 400 * mebibyte, processesMax: 64, cpus: 0.5, fileBytesMax: 8 * mebibyte },
  ...{ tmpBytesMax: 32 * mebibyte, outputBytesMax: 100_000 },
};

const wanted = {
  ...{ name: "agentyard-one", labels: { a: "b" }, image: "sandbox:1", runtimeClass: undefined, architecture: "amd64" },
  ...{ command: ["/bin/sh"], user: 54_321, folder: "/workspace/c1", limits, claim: "files" },
  mounts: { "/run/agentyard": "/files/stage/run" },
  sources: { workspace: undefined, packages: { fd: 0, path: "/files/packages", isFolder: true } },
  subPath: (path: string) => path.replace("/files/", ""),
};

// Written out in full: what is left away here is a wall less, and no program inside notices.
test("a pod asks for all walls that a cluster has: no rights, no names, no network of the node, and no more room than its guest [X3][X4][X5][Q1]", () => {
  assert.deepEqual(podBody(wanted), {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "agentyard-one", labels: { a: "b" } } },
    spec: {
      ...{ restartPolicy: "Never", automountServiceAccountToken: false, enableServiceLinks: false },
      ...{ hostname: "sandbox", dnsPolicy: "None", dnsConfig: { nameservers: ["127.0.0.1"] } },
      ...{ hostNetwork: false, hostPID: false, hostIPC: false, shareProcessNamespace: false },
      ...{ terminationGracePeriodSeconds: 1, activeDeadlineSeconds: 172_800 },
      nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 54_321, runAsGroup: 54_321, supplementalGroups: [] },
        seccompProfile: { type: "RuntimeDefault" },
      },
      containers: [
        {
          ...{ name: "sandbox", image: "sandbox:1", imagePullPolicy: "IfNotPresent", command: ["/bin/sh"], args: [] },
          ...{ workingDir: "/workspace/c1", env: [], stdin: true, stdinOnce: true, tty: false },
          resources: {
            limits: { cpu: "0.5", memory: `${464 * mebibyte}`, "ephemeral-storage": `${256 * mebibyte}` },
            requests: { cpu: "0.05", memory: `${464 * mebibyte}`, "ephemeral-storage": `${mebibyte}` },
          },
          securityContext: {
            ...{ allowPrivilegeEscalation: false, privileged: false, readOnlyRootFilesystem: true },
            ...{ runAsNonRoot: true, capabilities: { drop: ["ALL"] } },
          },
          volumeMounts: [
            { name: "tmp", mountPath: "/tmp" },
            { name: "files", mountPath: "/run/agentyard", subPath: "stage/run", readOnly: true },
            { name: "files", mountPath: "/run/agentyard/packages", subPath: "packages", readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: "tmp", emptyDir: { medium: "Memory", sizeLimit: `${32 * mebibyte}` } },
        { name: "files", persistentVolumeClaim: { claimName: "files" } },
      ],
    },
  });
  const { spec } = podBody({ ...wanted, runtimeClass: "gvisor", limits: { ...limits, cpus: 0.001 } });
  const [container] = spec.containers;
  assert.deepEqual(
    ["runtimeClassName" in spec && spec.runtimeClassName, container?.resources.requests.cpu],
    ["gvisor", "0.001"],
  );
});

const poolLimits = {
  ...{ memoryBytes: 1024, processesMax: 64, cpus: 1, fileBytesMax: 1024, tmpBytesMax: 1024, outputBytesMax: 1024 },
};

const plain: GuestWanted = { id: "g", workspace: undefined, limits: poolLimits, uid: undefined, env: {} };
const program = { command: ["/bin/sh"], files: { "guest/a.py": "x" }, greet: async () => undefined };

/** A pool of a cluster that has these things of each kind. */
async function pooling(t: TestContext, names: readonly string[] = []) {
  const files = mkdtempSync(join(tmpdir(), "agentyard-pool-"));
  t.after(() => rmSync(files, { recursive: true, force: true }));
  const clock = manualClock();
  const { address, asked } = await playApi(t, {
    answer({ url = "" }, response) {
      const all = pool.name === undefined ? names : [...names, pool.name];
      const items = url.startsWith("/pods") ? [] : all.map((name) => ({ metadata: { name } }));
      response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
    },
  });
  const api = openApi({ address, clock });
  const pool: Pool = {
    ...{ size: 2, namespace: "boxes", folder: join(files, "pools"), name: undefined },
    notBefore: Number.NEGATIVE_INFINITY,
  };
  const host = {
    ...{ api, clock, ids: systemIds, pods: "/pods", image: "i", runtimeClass: undefined, architecture: "amd64" },
    ...{ claim: "files", files, volumePath: "on/it", folder: join(files, "one"), installation: "yard", server: "one" },
    ...{ startTimeoutMs: 60_000, follower: followPods({ api, clock, pods: "/pods" }, {}) },
  };
  return { pool, host, asked };
}

const claims = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/boxes/sandboxclaims";

test("claims that a server left are given back, and those of its guests and of other servers are not [X3]", async (t) => {
  const { pool, host, asked } = await pooling(t, ["agentyard-left", "agentyard-used"]);
  // It was asked for while they were listed.
  const spared = () => new Set(asked.length > 0 ? ["used"] : []);
  assert.equal(await reapClaims(host, pool, spared), 1);
  const selected = "labelSelector=agentyard.mark%3Dyard%2Cagentyard.server%3Done";
  assert.deepEqual(asked, [`GET ${claims}?${selected}`, `DELETE ${claims}/agentyard-left?gracePeriodSeconds=1`]);
  asked.length = 0;
  assert.equal(await reapClaims(host, { ...pool, size: 0 }, () => new Set()), 0);
  assert.deepEqual(asked, []);
});

test("whatever a pod is made of has a pool of its own, and the same has the same [X2][X3][S5]", async (t) => {
  const { host, pool } = await pooling(t);
  const nameOf = async ({ host: h = {}, pool: p = {}, program: g = {} }: Record<string, object> = {}) => {
    const own = { ...pool, ...p };
    await claimPod(plain, { ...program, ...g }, { ...host, ...h }, own);
    return own.name;
  };
  const changes = [
    ...[{ image: "j" }, { runtimeClass: "gvisor" }, { claim: "others" }, { volumePath: "beside" }].map((h) => ({
      host: h,
    })),
    ...[{ pool: { size: 3 } }, { program: { files: { "guest/a.py": "y" } } }, { program: { command: ["/bin/bash"] } }],
  ];
  const names = [await nameOf()];
  for (const change of changes) names.push(await nameOf(change));
  assert.equal(new Set(names).size, changes.length + 1);
  assert.equal(await nameOf(), names[0]);
});

test("a sandbox is tried for a way to the cluster itself and to who tells secrets in clouds, and not to itself [X5][Q1]", () => {
  const places = placesToTry("10.0.0.1:443");
  assert.deepEqual([places[0], places.at(-1)], ["10.0.0.1:443", "169.254.169.254:80"]);
  // Whoever tells names on this machine stands between them.
  const tellers = places.slice(1, -1);
  assert.ok(tellers.every((place) => place.endsWith(":53")));
  const without = [...tellers, "169.254.169.254:80"];
  for (const peer of [undefined, "127.0.0.1:6443", "[::1]:6443"]) assert.deepEqual(placesToTry(peer), without);
});

test("a sweep ends what this server left and removes what is over of others; what others run, and what they wrote an hour ago, stays [X3]", async (t) => {
  const stages = mkdtempSync(join(tmpdir(), "agentyard-stages-"));
  t.after(() => rmSync(stages, { recursive: true, force: true }));
  const clock = { ...manualClock(), now: () => 10_000_000 };
  const of = (server: string) => ({ labels: { "agentyard.server": server } });
  const over = { status: { phase: "Succeeded" } };
  const leaving = { metadata: { name: "agentyard-leaving", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const items = [
    ...[podOf("left"), podOf("used"), podOf("used-over", over), podOf("leaving", leaving)],
    ...[podOf("theirs", of("two")), podOf("theirs-over", { ...of("two"), ...over })],
  ];
  let isAway = false;
  const { address, asked } = await playApi(t, {
    answer(_, response) {
      response.writeHead(isAway ? 500 : 200);
      response.end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
    },
  });
  const api = openApi({ address, clock });
  const folders = ["one/left", "one/used", "two/a", "gone/a", "gone/b", "just/a", "pools/a"];
  const make = () => {
    for (const name of folders) mkdirSync(join(stages, name), { recursive: true });
    for (const [name, ms] of [
      ["two", 0],
      ["gone", 6_399_999],
      ["just", 6_400_000],
      ["pools", 0],
    ] as const)
      utimesSync(join(stages, name), ms / 1000, ms / 1000);
  };
  const place = {
    ...{ api, clock, pods: "/pods", installation: "yard", server: "one", stages, folder: join(stages, "one") },
    spared: () => new Set(["used", "used-over"]),
  };
  make();
  assert.deepEqual(await reapLeft(place), { processes: 2, groups: 0, mounts: 3 });
  const removed = (names: readonly string[]) => names.filter((name) => !existsSync(join(stages, name)));
  assert.deepEqual(removed(folders), ["one/left", "gone/a", "gone/b"]);
  assert.equal(existsSync(join(stages, "gone")), false);
  assert.deepEqual(asked, [
    "GET /pods?labelSelector=agentyard.mark%3Dyard",
    "DELETE /pods/agentyard-left?gracePeriodSeconds=1",
    "DELETE /pods/agentyard-theirs-over?gracePeriodSeconds=1",
  ]);
  // Where the cluster does not say who lives, nobody's folder is old.
  make();
  isAway = true;
  assert.deepEqual(await reapLeft(place), { processes: 0, groups: 0, mounts: 1 });
  assert.deepEqual(removed(folders), ["one/left"]);
});
