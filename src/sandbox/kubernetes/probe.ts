import { readFileSync } from "node:fs";
import { systemCode } from "../../base/fault.ts";
import { hostInAddress } from "../../base/host.ts";
import type { Words } from "../../words/words.ts";
import { brokenWalls, sayLack } from "../guest/canary.ts";
import { canaryCommand, containedWalls, missingIn, sendCanary } from "../guest/contained-canary.ts";
import { architectureOf, seccompProgram } from "../guest/seccomp.ts";
import type { Likeness } from "../guest/supervised.ts";
import type { Lack, LackName, Probe, SandboxFault } from "../provider.ts";
import { detailOf } from "./faults.ts";
import { labels, listPods } from "./follow.ts";
import { type LaunchSettings, launchPod } from "./launch.ts";

/** What is known about a cluster, as the next guest needs it. No host: no code runs there. */
export type Looked = { readonly probe: Probe; readonly host: ProbedSettings | undefined };

export type ProbedSettings = LaunchSettings & {
  /** The filter of calls, for the kind of machine that pods are asked for. */
  readonly calls: Uint8Array;
  readonly hasNode: boolean;
  readonly likeness: Likeness;
};

type Settings = Omit<LaunchSettings, "architecture"> & {
  readonly words: Words["sandbox"];
  /** `https://kubernetes.default.svc`, for people. */
  readonly address: string;
  /** Has the ids of guests that look around, while they do. */
  readonly canaries: Set<string>;
  readonly isImaged?: boolean | undefined;
};

/** Waits until it is told to begin, see `launch.ts`: what is said before anybody is attached is lost. */
export const waitScript = "IFS= read -r _";

/** Asks the cluster, and then starts a pod that looks around from inside: what is written in a manifest is not enough. */
export async function probeCluster(settings: Settings): Promise<Looked> {
  const say = (name: LackName, detail = "") => sayLack(settings.words, name, { detail, sudo: "", install: "" });
  const lacking = (...lacks: Lack[]): Looked => ({ probe: { missing: lacks, degraded: [] }, host: undefined });
  if (settings.isImaged) return lacking(say("host_images"));
  const architecture = architectureOf(process.arch);
  const kubernetesName = kubernetesNames[process.arch];
  if (architecture === undefined || kubernetesName === undefined) return lacking(say("no_seccomp", process.arch));
  const listed = await listPods(settings, { [labels.server]: settings.server });
  if (!listed.ok) {
    const isOfRights = listed.failure.status === 401 || listed.failure.status === 403;
    return lacking(
      say(isOfRights ? "cluster_rights" : "no_cluster", `${settings.address}: ${detailOf(listed.failure)}`),
    );
  }
  const host: LaunchSettings = { ...settings, architecture: kubernetesName };
  const calls = seccompProgram(architecture);
  const look = [...canaryCommand, ...placesToTry(host.api.peer()), "$(NODE_ADDRESS):10250"];
  const seen = await sendCanary({
    ...{ ids: settings.ids, canaries: settings.canaries, calls },
    command: ["/bin/sh", "-c", `${waitScript}\nexec "$@"`, "sandbox", ...look],
    // The one place that no policy is sure to close: the node on which it runs.
    env: [{ name: "NODE_ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.hostIP" } } }],
    launch: (wanted, program) => launchPod(wanted, program, host),
  });
  if ("why" in seen) return lacking(say(lackIn(seen), seen.said || seen.why));
  const { facts, likeness } = seen;
  // A pod always has a network; that it leads nowhere is seen by trying.
  const broken = brokenWalls(facts, containedWalls(), "pod_walls", ["interfaces", "routes"]);
  const open: [LackName, string][] = facts.reached.length === 0 ? [] : [["pod_network", facts.reached.join(", ")]];
  const missing = [...broken, ...open].map(([name, detail]) => say(name, detail));
  if (missing.length > 0) return lacking(...missing);
  const uncounted = missingIn(facts, [
    [true, "pod_memory"],
    [true, "pod_processes"],
  ]);
  const degraded = uncounted.map(([name, detail]) => say(name, detail));
  return { probe: { missing: [], degraded }, host: { ...host, calls, hasNode: facts.hasNode, likeness } };
}

const kubernetesNames: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };

function lackIn({ why, said }: SandboxFault): LackName {
  if (/\b403 |\b401 /.test(said) && !/quota|PodSecurity|RuntimeClass/i.test(said)) return "cluster_rights";
  if (/image/i.test(said) && why === "unavailable") return "pod_image";
  // A folder that is not on the volume is made there, and is empty.
  if (/persistentvolumeclaim|canary\.py|subPath/i.test(said)) return "pod_files";
  return "pod_start";
}

/** Where somebody listens, as we know: the API server, who tells names in this cluster, and who tells secrets in clouds. */
export function placesToTry(peer: string | undefined, resolvers = "/etc/resolv.conf"): string[] {
  const tellers = Array.from(
    readIfThere(resolvers).matchAll(/^nameserver\s+(\S+)/gm),
    ([, found = ""]) => `${hostInAddress(found)}:53`,
  );
  const places = [...(peer === undefined ? [] : [peer]), ...tellers, "169.254.169.254:80"];
  // Of a machine itself, which inside is another one.
  return places.filter((place) => !/^(127\.|\[::1\])/.test(place));
}

/** One that is there and cannot be read is thrown on: whoever passes over it takes a wall for whole that nobody has tried. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return "";
  }
}
