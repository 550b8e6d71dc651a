import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import { failureWords, type Language, wordsFor } from "../words/words.ts";
import { type Config, explainConfig, loadConfig, reloadConfig } from "./config.ts";

const mebibyte = 1024 ** 2;

test("sandboxes are those of this machine unless a Docker engine is named, until the next start [P5][X3][N1]", async (t) => {
  assert.deepEqual((await load(t, "")).provider, { kind: "local" });
  const { folder, request } = place(t);
  const docker = { AGENTYARD_SANDBOX_PROVIDER: "docker" };
  const first = await loadConfig(request(docker));
  assert.ok(first.ok);
  const usual = { kind: "docker", host: "unix:///var/run/docker.sock", image: "agentyard-sandbox" };
  assert.deepEqual(first.value.provider, { ...usual, runtime: undefined, tlsDir: undefined });
  const all = {
    ...{ AGENTYARD_SANDBOX_DOCKER_HOST: "tcp://docker.example:2376", AGENTYARD_SANDBOX_DOCKER_IMAGE: "own:1" },
    ...{ AGENTYARD_SANDBOX_DOCKER_RUNTIME: "runsc", AGENTYARD_SANDBOX_DOCKER_TLS: "certificates" },
  };
  const other = await loadConfig(request({ ...docker, ...all }));
  assert.deepEqual(other.ok && other.value.provider, {
    ...{ kind: "docker", host: "tcp://docker.example:2376", image: "own:1", runtime: "runsc" },
    tlsDir: join(folder, "certificates"),
  });
  const changed = await reloadConfig(first.value, request({}));
  assert.ok(changed.ok);
  assert.deepEqual(
    [changed.value.config.provider, changed.value.waiting],
    [first.value.provider, ["sandbox.provider"]],
  );
});

test("sandboxes of other machines need their addresses and a secret, which no file of a project can have [P5][X3][N1]", async (t) => {
  const { folder, request: asked } = place(t);
  const secret = "a secret of servers and their hosts";
  const request = asked({
    ...{ AGENTYARD_SANDBOX_PROVIDER: "remote", AGENTYARD_SANDBOX_SECRET: secret, AGENTYARD_FILES_DIR: "volume" },
    ...{ AGENTYARD_SANDBOX_HOSTS: "https://one.example:9200/, http://[::1]:9200" },
    ...{ AGENTYARD_SANDBOX_HOSTS_CA: "own.pem", AGENTYARD_SANDBOX_HOST_TLS: "shown" },
  });
  const loaded = await loadConfig(request);
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const { provider, hosting } = loaded.value;
  assert.deepEqual(
    { provider, hosting },
    {
      provider: {
        ...{ kind: "remote", secret, authorities: join(folder, "own.pem") },
        hosts: ["https://one.example:9200", "http://[::1]:9200"],
      },
      hosting: { secret, files: join(folder, "volume"), tlsDir: join(folder, "shown") },
    },
  );
  const shown = JSON.stringify(explainConfig(loaded.value));
  assert.ok(shown.includes("AGENTYARD_SANDBOX_SECRET") && !shown.includes(secret));
  const again = await reloadConfig(loaded.value, request);
  assert.deepEqual(again.ok && again.value.waiting, []);
  const changed = await reloadConfig(loaded.value, {
    ...request,
    env: { ...request.env, AGENTYARD_SANDBOX_HOSTS: "https://two.example:9200" },
  });
  assert.deepEqual(changed.ok && [changed.value.waiting, changed.value.config.provider], [["sandbox.hosts"], provider]);
  assert.deepEqual(await mistakes(t, "sandbox:\n  hosts: [one.example, https://user@two.example]\n"), [
    "config/agentyard.yaml:2: sandbox.hosts is one.example,https://user@two.example. Write sites with commas between them, such as https://one.example:9200, https://two.example:9200.",
  ]);
});

test("a cluster, its namespace, image and volume are settings, with those of a server inside it as defaults [P5][X3][N1]", async (t) => {
  const { folder, request } = place(t);
  const cluster = { AGENTYARD_SANDBOX_PROVIDER: "kubernetes" };
  const inside = await loadConfig(request(cluster));
  const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
  assert.deepEqual(inside.ok && inside.value.provider, {
    ...{ kind: "kubernetes", server: "https://kubernetes.default.svc", tokenFile: `${serviceAccount}/token` },
    ...{ caFile: `${serviceAccount}/ca.crt`, namespace: "agentyard-sandboxes", image: "agentyard-sandbox:latest" },
    ...{ runtimeClass: undefined, claim: "agentyard-files", volumePath: "", startTimeoutMs: 60_000, poolSize: 0 },
  });
  const prefix = "AGENTYARD_SANDBOX_KUBERNETES_";
  const outside = await loadConfig(
    request({
      ...cluster,
      ...{ [`${prefix}SERVER`]: "https://cluster.example:6443", [`${prefix}TOKEN_FILE`]: "token" },
      ...{ [`${prefix}NAMESPACE`]: "boxes", [`${prefix}IMAGE`]: "registry.example/box:1" },
      ...{ [`${prefix}RUNTIME_CLASS`]: "gvisor", [`${prefix}VOLUME_CLAIM`]: "files", [`${prefix}VOLUME_PATH`]: "a/b" },
      ...{ [`${prefix}START_SECONDS_MAX`]: "120", [`${prefix}POOL`]: "3" },
    }),
  );
  assert.deepEqual(outside.ok && outside.value.provider, {
    ...{ kind: "kubernetes", server: "https://cluster.example:6443", tokenFile: join(folder, "token") },
    ...{ caFile: undefined, namespace: "boxes", image: "registry.example/box:1", runtimeClass: "gvisor" },
    ...{ claim: "files", volumePath: "a/b", startTimeoutMs: 120_000, poolSize: 3 },
  });
  const wrong = "sandbox:\n  kubernetes_namespace: My_Space\n  kubernetes_volume_path: a/../b\n";
  assert.deepEqual(
    (await mistakes(t, wrong)).map((mistake) => mistake.replace("config/agentyard.yaml:", "")),
    [
      "2: sandbox.kubernetes_namespace is My_Space. Write a name of letters, digits and . _ - such as agentyard-sandboxes.",
      "3: sandbox.kubernetes_volume_path is a/../b. Write a name of letters, digits and . _ - such as agentyard/files.",
    ],
  );
});

test("the block of the sandbox platform is read by the names that other programs know [P5][S1][F4]", async (t) => {
  const config = await load(
    t,
    `sandbox_platform: { default_ttl: 60, max_retries: 3, retry_interval: "2s", file_upload_config: {
  max_file_size: 1.5, max_file_size_unit: kb, max_file_count: 2, allowed_file_types: [CSV, .png] } }`,
  );
  const { sandbox, uploads } = config;
  const shown = explainConfig(config).filter(({ name }) => /max_retries$|retry_interval$/.test(name));
  assert.deepEqual(
    { ttlMs: sandbox.ttlMs, temparea: sandbox.uploads, uploads, service: shown.map(({ value }) => value) },
    {
      ttlMs: 60_000,
      temparea: { fileBytesMax: 1536, filesMax: 2, types: ["csv", "png"] },
      uploads: defaultUploadPolicy,
      service: ["3", "2000ms"],
    },
  );
});

test("our own names for the sandbox are read in their units [P5][X4][X5]", async (t) => {
  const { sandbox, network } = await load(
    t,
    `sandbox: {
  memory_bytes_max: 134217728, processes_max: 64, cpus: 0.5, tmp_bytes_max: 1048576,
  file_bytes_max: 2097152, output_bytes_max: 4096, execution_seconds_max: 20, guests_max: 2,
  guests_per_user_max: 1, executions_max: 4, executions_per_user_max: 3, waiting_max: 0,
  wait_seconds_max: 1.5, kernel_idle_seconds: 6, guest_idle_seconds: 7, record_days: 0.5, modules: [],
  network_hosts: [PyPI.org, "*.example.com", "mirror.local:8080"],
  network_private_hosts: mirror.local:8080, package_index: https://pypi.org/simple/,
  npm_registry: http://mirror.local:8080,
}`,
  );
  const { uploads: _, ...rest } = sandbox;
  assert.deepEqual(
    { ...rest, network },
    {
      limits: {
        ...{ memoryBytes: 128 * mebibyte, processesMax: 64, cpus: 0.5 },
        ...{ fileBytesMax: 2 * mebibyte, tmpBytesMax: mebibyte, outputBytesMax: 4096 },
      },
      ttlMs: 7_200_000,
      ...{ guestsPerOwnerMax: 1, guestsMax: 2, executionsPerOwnerMax: 3, executionsMax: 4 },
      ...{ waitingMax: 0, waitMsMax: 1_500, kernelIdleMs: 6_000, guestIdleMs: 7_000 },
      ...{ executionTimeoutMsMax: 20_000, recordsMs: 43_200_000, readyRetriesMax: 30, readyRetryMs: 500 },
      modules: [],
      network: {
        hosts: ["pypi.org", "*.example.com", "mirror.local:8080"],
        privateHosts: ["mirror.local:8080"],
        packageIndex: "https://pypi.org/simple",
        npmRegistry: "http://mirror.local:8080",
      },
    },
  );
});

test("the temparea follows the uploads, unless it has its own word; a unit alone is a hundred of it [P5][F4]", async (t) => {
  const uploads = "uploads: { file_bytes_max: 10, files_max: 3, types: [csv] }";
  const own = (text: string) => `${uploads}\nsandbox_platform: { file_upload_config: { ${text} } }`;
  const types = ["csv"];
  for (const [yaml, expected] of [
    [uploads, { fileBytesMax: 10, filesMax: 3, types }],
    [
      own("max_file_size: 2, max_file_count: 4, allowed_file_types: [png]"),
      { fileBytesMax: 2 * mebibyte, filesMax: 4, types: ["png"] },
    ],
    [own("max_file_size_unit: KB"), { fileBytesMax: 102_400, filesMax: 3, types }],
  ] as const)
    assert.deepEqual((await load(t, yaml)).sandbox.uploads, expected);
});

function place(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-provider-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const request = (env: Record<string, string>) => ({
    ...{ cwd: folder, homeDir: folder, programDir: folder, flags: {} },
    env: { AGENTYARD_DATA: folder, ...env },
  });
  return { folder, request };
}

async function load(t: TestContext, yaml: string): Promise<Config> {
  const loaded = await loadConfig(requestWith(t, yaml));
  assert.ok(loaded.ok, JSON.stringify(loaded));
  return loaded.value;
}

/** What a person reads. */
async function mistakes(t: TestContext, yaml: string, language: Language = "en"): Promise<string[]> {
  const loaded = await loadConfig({ ...requestWith(t, yaml), env: { AGENTYARD_LANG: language } });
  return loaded.ok ? [] : loaded.failure.map((failure) => failureWords(wordsFor(language), failure).join(" "));
}

function requestWith(t: TestContext, yaml: string) {
  const dir = mkdtempSync(join(tmpdir(), "agentyard-config-"));
  t.after(() => rmSync(dir, { recursive: true }));
  mkdirSync(join(dir, "config"));
  writeFileSync(join(dir, "package.json"), '{ "name": "agentyard" }');
  writeFileSync(join(dir, "config/agentyard.yaml"), yaml);
  return { flags: {}, env: {}, cwd: dir, homeDir: join(dir, "home"), programDir: dir };
}
