import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { until } from "../../../test/world/events.ts";
import { manualClock } from "../../../test/world/manual-clock.ts";
import { playApi } from "../../../test/world/played-api.ts";
import { systemIds } from "../../base/ids.ts";
import type { GuestWanted } from "../provider.ts";
import { openApi } from "./api.ts";
import { followPods } from "./follow.ts";
import { claimPod, type Pool, reapClaims } from "./pool.ts";

const limits = {
  ...{ memoryBytes: 1024, processesMax: 64, cpus: 1, fileBytesMax: 1024, tmpBytesMax: 1024, outputBytesMax: 1024 },
};
const plain: GuestWanted = { id: "g", workspace: undefined, limits, uid: undefined, env: {} };
const program = { command: ["/bin/sh"], files: { "guest/a.py": "x" }, greet: async () => undefined };
const claims = "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/boxes/sandboxclaims";

/** A pool of a cluster that answers with these statuses, by resource, and has these things of each kind. */
async function pooling(t: TestContext, refused: Record<string, number> = {}, names: readonly string[] = []) {
  const files = mkdtempSync(join(tmpdir(), "agentyard-pool-"));
  t.after(() => rmSync(files, { recursive: true, force: true }));
  const clock = manualClock();
  const made: { readonly kind: string; readonly [name: string]: unknown }[] = [];
  const { address, asked } = await playApi(t, {
    answer({ method, url = "" }, response, body) {
      const resource = Object.keys(refused).find((name) => method === "POST" && url.endsWith(`/${name}`));
      if (method === "POST") made.push(JSON.parse(body));
      const all = pool.name === undefined ? names : [...names, pool.name];
      const items = url.startsWith("/pods") ? [] : all.map((name) => ({ metadata: { name } }));
      response.writeHead(refused[resource ?? ""] ?? 200);
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
  const claim = (changes: Partial<GuestWanted> = {}) => claimPod({ ...plain, ...changes }, program, host, pool);
  /** What was asked of pools, in short. */
  const short = () => asked.filter((text) => text.includes("/apis/")).map((text) => text.replace(/ .*boxes/, ""));
  return { pool, host, claim, asked, short, made, clock, files };
}

test("a pool is for guests that are anybody's, is made by the first of them, and takes the place of those of other versions [X2][X3][S5]", async (t) => {
  const { pool, claim, asked, short, made, files } = await pooling(t, { sandboxtemplates: 409 }, [
    "agentyard-yard-old",
  ]);
  const workspace = { folder: files, inside: "/workspace/c1", writable: "all" } as const;
  for (const changes of [{ uid: 5000 }, { packages: files }, { workspace }])
    assert.equal(await claim(changes), undefined);
  assert.deepEqual([asked, pool.name], [[], undefined]);
  assert.equal(await claim(), undefined);
  const selected = "labelSelector=agentyard.mark%3Dyard";
  const wanted = [
    ...["POST/sandboxtemplates", "POST/sandboxwarmpools", `GET/sandboxwarmpools?${selected}`],
    "DELETE/sandboxwarmpools/agentyard-yard-old?gracePeriodSeconds=1",
    `GET/sandboxtemplates?${selected}`,
    "DELETE/sandboxtemplates/agentyard-yard-old?gracePeriodSeconds=1",
  ];
  await until("it is made", () => short().length === wanted.length);
  assert.deepEqual(short(), wanted);
  const { name } = pool;
  assert.match(name ?? "", /^agentyard-yard-[0-9a-f]{16}$/);
  const labels = { "agentyard.mark": "yard", "app.kubernetes.io/name": "agentyard-sandbox" };
  const [template, warm] = made;
  assert.partialDeepStrictEqual(template, {
    ...{ kind: "SandboxTemplate", metadata: { name, labels } },
    spec: { networkPolicyManagement: "Unmanaged", podTemplate: { metadata: { labels } } },
  });
  const text = JSON.stringify(template);
  assert.ok(
    !text.includes("activeDeadlineSeconds") && text.includes(`"subPath":"on/it/pools/${name?.slice(-16)}/run"`),
  );
  assert.partialDeepStrictEqual(warm, {
    metadata: { name, labels },
    spec: { replicas: 2, sandboxTemplateRef: { name } },
  });
  // Other limits are another pool.
  assert.equal(await claim({ limits: { ...limits, cpus: 2 } }), undefined);
  assert.notEqual(pool.name, name);
});

test("a pool that cannot be made, or gives nothing, is left alone for a minute, and a claim does not stay for ever [X3]", async (t) => {
  type Pooling = Awaited<ReturnType<typeof pooling>>;
  const isLeftAlone = async ({ clock, claim, short, pool }: Pooling) => {
    await until("it is known", () => pool.name === undefined);
    const before = short().length;
    clock.move(59_999);
    assert.deepEqual([await claim(), pool.name, short().length], [undefined, undefined, before]);
    clock.move(1);
    await claim();
    await until("it is asked for again", () => short().length > before);
  };
  const broken = await pooling(t, { sandboxwarmpools: 403 });
  await broken.claim();
  await isLeftAlone(broken);
  const empty = await pooling(t, { sandboxclaims: 403 });
  await empty.claim();
  await until("it is made", () => empty.short().length === 4);
  const { name } = empty.pool;
  assert.equal(await empty.claim(), undefined);
  const labels = { "agentyard.mark": "yard", "agentyard.server": "one", "agentyard.guest": "g" };
  assert.partialDeepStrictEqual(empty.made.at(-1), {
    ...{ kind: "SandboxClaim", metadata: { name: "agentyard-g", labels } },
    spec: {
      ...{ warmPoolRef: { name }, additionalPodMetadata: { labels } },
      lifecycle: { shutdownTime: "1970-01-03T00:00:00.000Z", shutdownPolicy: "Delete" },
    },
  });
  await isLeftAlone(empty);
});

test("claims that a server left are given back, and those of its guests and of other servers are not [X3]", async (t) => {
  const { pool, host, asked } = await pooling(t, {}, ["agentyard-left", "agentyard-used"]);
  // It was asked for while they were listed.
  const spared = () => new Set(asked.length > 0 ? ["used"] : []);
  assert.equal(await reapClaims(host, pool, spared), 1);
  const selected = "labelSelector=agentyard.mark%3Dyard%2Cagentyard.server%3Done";
  assert.deepEqual(asked, [`GET ${claims}?${selected}`, `DELETE ${claims}/agentyard-left?gracePeriodSeconds=1`]);
  asked.length = 0;
  assert.equal(await reapClaims(host, { ...pool, size: 0 }, () => new Set()), 0);
  assert.deepEqual(asked, []);
});

test("a pod of a pool is waited for ten seconds, or as long as a guest may take to start where that is less [X3]", async (t) => {
  for (const [startTimeoutMs, waitedMs] of [
    [60_000, 10_000],
    [4000, 4000],
  ] as const) {
    const { pool, host, short, clock, asked } = await pooling(t);
    const claim = () => claimPod(plain, program, { ...host, startTimeoutMs }, pool);
    assert.equal(await claim(), undefined);
    await until("it is made", () => short().length === 4);
    const claimed = claim();
    await until("it is claimed", () => asked.includes(`POST ${claims}`));
    let isOver = false;
    void claimed.then(() => (isOver = true));
    clock.move(waitedMs - 1);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isOver, false);
    clock.move(1);
    assert.deepEqual([await claimed, pool.notBefore], [undefined, waitedMs + 60_000]);
  }
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
