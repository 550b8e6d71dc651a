import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Result } from "../../base/result.ts";
import { type ContainedProgram, userOf } from "../guest/contained.ts";
import { namesBelow } from "../guest/names-below.ts";
import { makeStage } from "../guest/stage.ts";
import type { GuestWanted, SandboxFault } from "../provider.ts";
import { labels } from "./follow.ts";
import { begin, type Launched, type LaunchSettings, labelsOf, mountsOfPod, namesOf, podName } from "./launch.ts";
import { makeObject, removeObject } from "./objects.ts";
import { podSpec } from "./pod.ts";

// Pods that wait for a guest, kept by agent-sandbox (sigs.k8s.io/agent-sandbox). What they mount is settled before anybody
// knows for whom, so they are for guests without a workspace only; all others, and these where there is no pool, get pods
// of their own.

const group = "extensions.agents.x-k8s.io/v1beta1";

/** What a provider knows of its pool. */
export type Pool = {
  /** How many wait; 0: there is none. */
  readonly size: number;
  readonly namespace: string;
  /** Where its pods have their small files: not with those of a server, for all servers share it. */
  readonly folder: string;
  /** The one that was made, as far as we know. */
  name: string | undefined;
  /** Where it did not help, nobody waits for it for a while. */
  notBefore: number;
};

/** What a claim may take: pods of the pool run already. */
const claimMsMax = 10_000;
const brokenMs = 60_000;
/** A claim whose server died before it had attached does not stay for ever. */
const claimedMsMax = 2 * 86_400_000;

/** Undefined: the pool is not for this guest, or does not help; it gets a pod of its own. */
export async function claimPod(
  wanted: GuestWanted,
  program: ContainedProgram,
  host: LaunchSettings,
  pool: Pool,
): Promise<Result<Launched, SandboxFault> | undefined> {
  const { clock } = host;
  const isForAnybody = wanted.workspace === undefined && wanted.packages === undefined && wanted.uid === undefined;
  if (pool.size === 0 || !isForAnybody || clock.monotonic() < pool.notBefore) return undefined;
  const spec = specOf(wanted, program, host, pool);
  if (spec === undefined) return undefined;
  if (pool.name !== spec.name) {
    // Whoever comes first does not wait for it to be filled.
    pool.name = spec.name;
    void makePool(spec, host, pool);
    return undefined;
  }
  const launched = await begin(
    { path: pathOf(pool, "sandboxclaims"), name: podName(wanted.id), body: claimBody(wanted.id, spec.name, host) },
    wanted.id,
    (stdio) => program.greet(stdio, { marks: {}, stage: "" }),
    { ...host, startTimeoutMs: Math.min(claimMsMax, host.startTimeoutMs) },
  );
  if (launched.ok) return launched;
  pool.name = undefined;
  pool.notBefore = clock.monotonic() + brokenMs;
  return undefined;
}

function pathOf({ namespace }: Pick<Pool, "namespace">, resource: string): string {
  return `/apis/${group}/namespaces/${namespace}/${resource}`;
}

function claimBody(guest: string, pool: string, host: LaunchSettings) {
  const told = labelsOf(host, guest);
  return {
    ...{ apiVersion: group, kind: "SandboxClaim", metadata: { name: podName(guest), labels: told } },
    spec: {
      warmPoolRef: { name: pool },
      // By these the pod is found that was given to us.
      additionalPodMetadata: { labels: told },
      lifecycle: { shutdownTime: new Date(host.clock.now() + claimedMsMax).toISOString(), shutdownPolicy: "Delete" },
    },
  };
}

type Spec = { readonly name: string; readonly pod: unknown };

/** Named by what is in it: another version, or other limits, have another pool. Undefined: its files cannot be written. */
function specOf(wanted: GuestWanted, program: ContainedProgram, host: LaunchSettings, pool: Pool): Spec | undefined {
  const user = userOf(undefined);
  const make = (id: string) => {
    const root = join(pool.folder, id);
    const stage = existsSync(root)
      ? undefined
      : makeStage({ folder: pool.folder, id, files: program.files, user, workspace: undefined });
    if (stage !== undefined && !stage.ok) return undefined;
    const mounts = Object.entries({ "/run/agentyard": "run", "/workspace": "workspace" });
    const etc = ["passwd", "group"].map((name) => [`/etc/${name}`, `etc/${name}`] as const);
    return Object.fromEntries([...mounts, ...etc].map(([inside, place]) => [inside, join(root, place)]));
  };
  const files = Object.entries(program.files).map(([path, content]) => [path, hashOf(content)]);
  const facts = { files, command: program.command, user, limits: wanted.limits, image: host.image };
  const id = hashOf(JSON.stringify([facts, host.runtimeClass, host.claim, host.volumePath, pool.size])).slice(0, 16);
  const mounts = make(id);
  if (mounts === undefined) return undefined;
  const subPath = (path: string) => [...namesOf(host.volumePath), ...(namesBelow(host.files, path) ?? [])].join("/");
  const { activeDeadlineSeconds: _, ...pod } = podSpec({
    ...{ image: host.image, runtimeClass: host.runtimeClass, architecture: host.architecture, claim: host.claim },
    ...{ command: program.command, user, limits: wanted.limits, folder: "/tmp", mounts: mountsOfPod(mounts), subPath },
    sources: { workspace: undefined, packages: undefined },
  });
  return { name: `agentyard-${host.installation}-${id}`, pod };
}

function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

const named = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/** That one is there already is as good. Pools of other versions go: what they have waiting is of no use any more. */
async function makePool({ name, pod }: Spec, host: LaunchSettings, pool: Pool): Promise<void> {
  const told = { [labels.installation]: host.installation, "app.kubernetes.io/name": "agentyard-sandbox" };
  const metadata = { name, labels: told };
  const template = {
    ...{ apiVersion: group, kind: "SandboxTemplate", metadata },
    // Its own policy would open the internet, and policies add up.
    spec: { networkPolicyManagement: "Unmanaged", podTemplate: { metadata: { labels: told }, spec: pod } },
  };
  const warm = {
    ...{ apiVersion: group, kind: "SandboxWarmPool", metadata },
    spec: { replicas: pool.size, sandboxTemplateRef: { name } },
  };
  for (const [resource, body] of [
    ["sandboxtemplates", template],
    ["sandboxwarmpools", warm],
  ] as const) {
    const made = await makeObject(host, { path: pathOf(pool, resource), name, body });
    if (made.ok || made.failure.status === 409) continue;
    pool.notBefore = host.clock.monotonic() + brokenMs;
    if (pool.name === name) pool.name = undefined;
    return;
  }
  for (const resource of ["sandboxwarmpools", "sandboxtemplates"]) await removeOthers(resource, name, host, pool);
}

async function removeOthers(resource: string, name: string, host: LaunchSettings, pool: Pool): Promise<void> {
  const path = pathOf(pool, resource);
  const listed = await host.api.ask("GET", `${path}?labelSelector=${labels.installation}%3D${host.installation}`);
  const found = listed.ok ? (named.safeParse(listed.value).data?.items ?? []) : [];
  for (const { metadata } of found) if (metadata.name !== name) await removeObject(host, { path, name: metadata.name });
}

/** Claims of this server that nobody uses. How many there were. */
export async function reapClaims(
  host: Pick<LaunchSettings, "api" | "installation" | "server">,
  pool: Pool,
  spared: () => ReadonlySet<string>,
) {
  if (pool.size === 0) return 0;
  const path = pathOf(pool, "sandboxclaims");
  const selector = encodeURIComponent(`${labels.installation}=${host.installation},${labels.server}=${host.server}`);
  const listed = await host.api.ask("GET", `${path}?labelSelector=${selector}`);
  const found = listed.ok ? (named.safeParse(listed.value).data?.items ?? []) : [];
  const used = new Set(Array.from(spared(), podName));
  const left = found.filter(({ metadata }) => !used.has(metadata.name));
  for (const { metadata } of left) await removeObject(host, { path, name: metadata.name });
  return left.length;
}
