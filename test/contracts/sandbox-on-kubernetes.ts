import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { systemClock } from "../../src/base/clock.ts";
import { systemIds } from "../../src/base/ids.ts";
import { openApi } from "../../src/sandbox/kubernetes/api.ts";
import { type KubernetesSandboxOptions, openKubernetesSandbox } from "../../src/sandbox/kubernetes/kubernetes.ts";
import type { SandboxProvider } from "../../src/sandbox/provider.ts";
import { wordsFor } from "../../src/words/words.ts";
import { type ClusterOptions, type PlayedCluster, playCluster } from "./played-cluster.ts";
import { isOnDocker } from "./sandbox-on-docker.ts";

/** A real cluster, which `npm run kubernetes-suite` is told and names here. */
const realCluster = z
  .object({
    address: z.object({ server: z.string(), tokenFile: z.string(), caFile: z.string().optional() }),
    ...{ namespace: z.string(), image: z.string(), runtimeClass: z.string().optional(), claim: z.string() },
    ...{ files: z.string(), volumePath: z.string(), startTimeoutMs: z.number() },
  })
  .optional()
  .parse(JSON.parse(process.env.AGENTYARD_TEST_KUBERNETES ?? "null") ?? undefined);
/** Whether the suites that run against any provider are to run against that one. */
export const isOnKubernetes = realCluster !== undefined;
/** Programs are in containers, of whatever kind. */
export const isContained = isOnDocker || isOnKubernetes;
/** Why a test cannot run here; false where it can. */
export const cannotUseKubernetes = !isOnKubernetes && "no cluster is named; npm run kubernetes-suite is told one";

/** A provider of that cluster, with an installation of its own. */
export function openReal(changes: Partial<KubernetesSandboxOptions> = {}): SandboxProvider {
  assert.ok(realCluster !== undefined);
  const { address, runtimeClass, ...wanted } = realCluster;
  return openKubernetes({ ...address, caFile: address.caFile }, { ...wanted, runtimeClass, ...changes });
}

/** The same cluster as its API has it, and where its pods are. */
export function realApi() {
  const { address = { server: "http://127.0.0.1:9", tokenFile: "/nowhere" }, namespace: name = "" } = realCluster ?? {};
  const api = openApi({ address: { ...address, caFile: address.caFile }, clock: systemClock });
  return { api, pods: `/api/v1/namespaces/${name}/pods` };
}

const namespace = "boxes";
const claim = "files";

/** A whole provider, with an installation of its own; all of the folder for temporary files is on the shared volume. */
export function openKubernetes(
  address: KubernetesSandboxOptions["address"],
  changes: Partial<KubernetesSandboxOptions> = {},
): SandboxProvider {
  return openKubernetesSandbox({
    ...{
      installation: `test${systemIds.hex(12)}`,
      server: `test${systemIds.hex(12)}`,
      clock: systemClock,
      ids: systemIds,
    },
    ...{ words: wordsFor("en").sandbox, address, namespace, image: "agentyard-sandbox:latest" },
    ...{ runtimeClass: undefined, claim, files: tmpdir(), volumePath: "", startTimeoutMs: 60_000, poolSize: 0 },
    ...changes,
  });
}

/** The same with a cluster of its own, which plays. */
export async function openPlayed(
  t: { after(action: () => unknown): void },
  changes: Partial<KubernetesSandboxOptions> & { readonly cluster?: Partial<ClusterOptions> } = {},
): Promise<{ readonly cluster: PlayedCluster; readonly provider: SandboxProvider; readonly files: string }> {
  const { cluster: wanted, ...options } = changes;
  const files = options.files ?? tmpdir();
  const ends: (() => unknown)[] = [];
  const cluster = await playCluster(
    { after: (end) => void ends.push(end) },
    { namespace, volumes: { [claim]: files }, ...wanted },
  );
  const own = mkdtempSync(join(tmpdir(), "agentyard-account-"));
  const tokenFile = join(own, "token");
  writeFileSync(tokenFile, `${cluster.token}\n`);
  const provider = openKubernetes({ server: cluster.address, tokenFile, caFile: undefined }, options);
  t.after(async () => {
    await provider.close();
    for (const end of ends) end();
    rmSync(own, { recursive: true, force: true });
  });
  return { cluster, provider, files };
}
