import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { allOf, type Manifest, readManifests, readRules } from "../world/manifests.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { openPlayed } from "./sandbox-on-kubernetes.ts";
import { done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

const all = readManifests();

function find(kind: string, name: string, namespace?: string): Manifest {
  const found = all.filter(
    (one) => one.kind === kind && one.metadata.name === name && one.metadata.namespace === namespace,
  );
  assert.equal(found.length, 1, `${kind} ${namespace}/${name}`);
  const [one] = found;
  assert.ok(one);
  return one;
}

const named = z.object({ name: z.string() });

test("every name that the manifests of a cluster use is that of something in them [N1]", () => {
  for (const { metadata } of all) if (metadata.namespace !== undefined) find("Namespace", metadata.namespace);
  const server = find("Deployment", "agentyard", "agentyard");
  const refs = (key: string) => allOf(server, key).map((ref) => named.parse(ref).name);
  for (const name of refs("configMapRef")) find("ConfigMap", name, "agentyard");
  for (const name of refs("secretRef")) find("Secret", name, "agentyard");
  for (const name of allOf(server, "claimName")) find("PersistentVolumeClaim", z.string().parse(name), "agentyard");
  for (const name of allOf(server, "serviceAccountName")) find("ServiceAccount", z.string().parse(name), "agentyard");
  for (const claim of all.filter(({ kind }) => kind === "PersistentVolumeClaim")) {
    const [volume] = allOf(claim, "volumeName").map((name) => find("PersistentVolume", z.string().parse(name)));
    assert.deepEqual(allOf(volume, "claimRef"), [{ namespace: claim.metadata.namespace, name: claim.metadata.name }]);
  }
  const binding = find("RoleBinding", "agentyard-sandboxes", "agentyard-sandboxes");
  find("Role", named.parse(binding.roleRef).name, "agentyard-sandboxes");
  assert.deepEqual(binding.subjects, [{ kind: "ServiceAccount", name: "agentyard", namespace: "agentyard" }]);
  const labels = { "app.kubernetes.io/name": "agentyard" };
  const chosen = [...allOf(all, "matchLabels"), allOf(find("Service", "agentyard", "agentyard"), "selector")[0]];
  assert.deepEqual(new Set(chosen.map((one) => JSON.stringify(one))), new Set([JSON.stringify(labels)]));
  assert.deepEqual(
    allOf(server, "template").map((template) => allOf(template, "labels")[0]),
    [labels],
  );
  const ports = allOf(server, "ports").flatMap((list) =>
    z.array(z.object({ name: z.string(), containerPort: z.number() })).parse(list),
  );
  assert.deepEqual(ports, [
    { name: "http", containerPort: 7420 },
    { name: "peers", containerPort: 7421 },
  ]);
});

test("servers and sandboxes agree about the namespace, the claim and the image [N1][X3]", () => {
  const { data } = z
    .object({ data: z.record(z.string(), z.string()) })
    .parse(find("ConfigMap", "agentyard", "agentyard"));
  const namespace = data.AGENTYARD_SANDBOX_KUBERNETES_NAMESPACE;
  find("Namespace", namespace ?? "");
  find("PersistentVolumeClaim", data.AGENTYARD_SANDBOX_KUBERNETES_VOLUME_CLAIM ?? "", namespace);
  assert.ok(existsSync(join(import.meta.dirname, "../../deploy/sandbox/Dockerfile")));
  // Both volumes lead to the same place, whoever mounts it.
  const places = all.filter(({ kind }) => kind === "PersistentVolume").map((one) => allOf(one, "nfs")[0]);
  assert.deepEqual(places, [places[0], places[0]]);
  assert.equal(
    allOf(all, "persistentVolumeReclaimPolicy").every((policy) => policy === "Retain"),
    true,
  );
});

test("in the namespace of the sandboxes nobody reaches anybody, and only closed pods are let in [X3][X5]", () => {
  const { metadata } = find("Namespace", "agentyard-sandboxes");
  assert.deepEqual(metadata.labels, { "pod-security.kubernetes.io/enforce": "restricted" });
  const policies = all.filter(
    ({ kind, metadata: { namespace } }) => kind === "NetworkPolicy" && namespace === "agentyard-sandboxes",
  );
  assert.deepEqual(
    policies.map(({ spec }) => spec),
    [{ podSelector: {}, policyTypes: ["Ingress", "Egress"] }],
  );
});

test("the rights in the manifests are those that sandboxes need, and no other [X3][N1]", {
  skip: cannotStart,
}, async (t) => {
  const rules = readRules();
  const { cluster, provider } = await openPlayed(t, { files: hostFolder(t), cluster: { rules } });
  assert.deepEqual((await provider.probe()).missing, []);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok, JSON.stringify(opened));
  assert.deepEqual(await triedGuest(opened.value).run("bash", "echo on"), done({ stdout: "on\n" }));
  await opened.value.close("idle");
  assert.deepEqual(await provider.reap(), { processes: 0, groups: 0, mounts: 0 });
  const given = rules.flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  // A stream is opened with GET, and needs the right to create as well.
  assert.deepEqual([...cluster.asked(), "create pods/attach"].sort(), given.sort());
});

test("without one of its rights no code runs, and that is said [X3]", { skip: cannotStart }, async (t) => {
  const tried = readRules()
    .flatMap(({ resources, verbs }) => verbs.map((verb) => [verb, resources[0] ?? ""] as const))
    // Who may not delete is told by the leftovers; who may not watch, by a guest that is never seen to run.
    .filter(([verb]) => verb !== "delete" && verb !== "watch")
    .map(async ([verb, resource]) => {
      const rules = readRules().map((rule) => ({
        ...rule,
        verbs: rule.resources.includes(resource) ? rule.verbs.filter((one) => one !== verb) : rule.verbs,
      }));
      const { provider } = await openPlayed(t, { files: hostFolder(t), cluster: { rules } });
      const { missing } = await provider.probe();
      assert.deepEqual([verb, resource, ...missing.map(({ name }) => name)], [verb, resource, "cluster_rights"]);
    });
  await Promise.all(tried);
});

// What containers are like. `npm run deploy-suite` builds and starts all of compose.yaml in a real engine.
const root = join(import.meta.dirname, "..", "..");

const read = (path: string) => readFileSync(join(root, path), "utf8");

const Service = z.object({
  image: z.string(),
  restart: z.string(),
  mem_limit: z.string(),
  logging: z.object({ options: z.object({ "max-size": z.string() }) }),
  environment: z.record(z.string(), z.string().nullable()).optional(),
  volumes: z.array(z.string()).optional(),
});

const Compose = z.object({ services: z.record(z.string(), Service) });

test("every container of compose.yaml has limits, ends up in no full disk, and finds its files and neighbours where the image has them [N1]", () => {
  const { services } = Compose.parse(parse(read("compose.yaml"), { merge: true }));
  assert.deepEqual(Object.keys(services).sort(), ["balancer", "one", "postgres", "sandbox-host", "two"]);
  const dockerfile = read("deploy/Dockerfile");
  assert.match(dockerfile, /^USER 10001:10001$/m);
  for (const folder of ["/data", "/files"]) assert.ok(new RegExp(`=${folder}\\b`).test(dockerfile), folder);
  for (const name of ["one", "two"]) {
    const { environment = {}, volumes = [] } = services[name] ?? {};
    assert.equal(environment.AGENTYARD_PEER_ADDRESS, "0.0.0.0:7421");
    assert.deepEqual(
      volumes.map((volume) => volume.slice(volume.lastIndexOf(":") + 1)),
      ["/data", "/files"],
    );
  }
  // The engine mounts by path: inside as outside, or sandboxes would see other folders.
  const [, ...folders] = services["sandbox-host"]?.volumes ?? [];
  for (const volume of folders) {
    const place = /^(\$\{\w+:-([^}]+)\}):\1$/.exec(volume);
    assert.ok(place !== null, volume);
  }
});

test("in compose.yaml only the balancer says from where somebody calls, and it says nothing of what callers say [C6][N1]", () => {
  const { services, networks } = Networked.parse(parse(read("compose.yaml"), { merge: true }));
  const plain = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, "$1");
  const balancer = plain(services.balancer?.networks?.default.ipv4_address ?? "");
  for (const name of ["one", "two"])
    assert.equal(plain(services[name]?.environment?.AGENTYARD_TRUSTED_PROXIES ?? ""), `${balancer},127.0.0.1`, name);
  // Nobody else is given it: containers that start get addresses of the lower half.
  const [{ subnet, ip_range: given } = { subnet: "", ip_range: "" }] = networks.default.ipam.config;
  const three = balancer.replace(/\.250$/, "");
  assert.deepEqual([plain(subnet), plain(given)], [`${three}.0/24`, `${three}.0/25`]);
  const settings = read("deploy/balancer/haproxy.cfg");
  for (const line of [
    'acl is-proxy src "${PROXY_BEFORE}"',
    "http-request del-header X-Forwarded- -m beg unless is-proxy",
    "http-request del-header Forwarded unless is-proxy",
    "option forwardfor",
  ])
    assert.ok(settings.includes(`\n  ${line}\n`), line);
  assert.equal(services.balancer?.environment?.PROXY_BEFORE, "${AGENTYARD_PROXY_BEFORE:-127.0.0.1}");
});

const Networked = z.object({
  services: z.record(
    z.string(),
    z.object({
      environment: z.record(z.string(), z.string().nullable()).optional(),
      networks: z.object({ default: z.object({ ipv4_address: z.string() }) }).optional(),
    }),
  ),
  networks: z.object({
    default: z.object({ ipam: z.object({ config: z.array(z.object({ subnet: z.string(), ip_range: z.string() })) }) }),
  }),
});
