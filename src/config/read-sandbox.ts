import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { NetworkSettings, SandboxSettings } from "../sandbox/sandbox.ts";
import type { Places } from "./places.ts";
import type { Reader } from "./reader.ts";
import { refuseForeign } from "./refuse-foreign.ts";
import { svcSettings, unitBytes } from "./sandbox-settings.ts";
import { type Setting, settings } from "./settings.ts";

const dayMs = 86_400_000;

/** Where code runs and what it may use. */
export function readSandbox(reader: Reader, uploads: UploadPolicy): SandboxSettings {
  refuseService(reader);
  return {
    limits: {
      memoryBytes: reader.read(settings.guestMemoryBytesMax),
      processesMax: reader.read(settings.guestProcessesMax),
      cpus: reader.read(settings.guestCpus),
      fileBytesMax: reader.read(settings.guestFileBytesMax),
      tmpBytesMax: reader.read(settings.guestTmpBytesMax),
      outputBytesMax: reader.read(settings.guestOutputBytesMax),
    },
    uploads: readTemparea(reader, uploads),
    ttlMs: 1_000 * reader.read(settings.sessionTtlSeconds),
    guestsPerOwnerMax: reader.read(settings.guestsPerUserMax),
    guestsMax: reader.read(settings.guestsMax),
    executionsPerOwnerMax: reader.read(settings.executionsPerUserMax),
    executionsMax: reader.read(settings.executionsMax),
    waitingMax: reader.read(settings.executionsWaitingMax),
    waitMsMax: 1_000 * reader.read(settings.executionWaitSecondsMax),
    kernelIdleMs: 1_000 * reader.read(settings.kernelIdleSeconds),
    guestIdleMs: 1_000 * reader.read(settings.guestIdleSeconds),
    executionTimeoutMsMax: 1_000 * reader.read(settings.executionSecondsMax),
    readyRetriesMax: reader.read(settings.serviceRetriesMax),
    readyRetryMs: reader.read(settings.serviceRetryMs),
    recordsMs: dayMs * reader.read(settings.executionRecordDays),
    modules: reader.read(settings.pythonModules),
  };
}

/** Who starts sandboxes: bubblewrap on this machine, a Docker engine, a Kubernetes cluster, or other machines of AgentYard. */
export type ProviderSettings =
  | { readonly kind: "local" }
  | {
      readonly kind: "docker";
      /** `unix:///var/run/docker.sock`, `tcp://docker.example:2376`. */
      readonly host: string;
      readonly image: string;
      readonly runtime: string | undefined;
      /** The folder with `ca.pem`, `cert.pem` and `key.pem`. */
      readonly tlsDir: string | undefined;
    }
  | {
      readonly kind: "kubernetes";
      /** Where the API server is, what we show it, and a file of certificates to believe. */
      readonly server: string;
      readonly tokenFile: string;
      readonly caFile: string | undefined;
      readonly namespace: string;
      readonly image: string;
      readonly runtimeClass: string | undefined;
      /** A claim of the volume with the files, and where on it they are. */
      readonly claim: string;
      readonly volumePath: string;
      readonly startTimeoutMs: number;
      /** Pods that agent-sandbox keeps waiting; 0: none. */
      readonly poolSize: number;
    }
  | {
      readonly kind: "remote";
      /** `https://one.example:9200`. */
      readonly hosts: readonly string[];
      /** A file of certificates to believe besides those that Node knows. */
      readonly authorities: string | undefined;
      /** What servers and hosts show each other. */
      readonly secret: string | undefined;
    };

/** What a sandbox host shows its servers, and shares with them. `tlsDir`: the folder with `cert.pem` and `key.pem`. */
export type HostingSettings = {
  readonly secret: string | undefined;
  readonly tlsDir: string | undefined;
  readonly files: string;
};

export function readHosting(reader: Reader, given: Pick<HostingSettings, "secret" | "files">): HostingSettings {
  return { ...given, tlsDir: reader.find(settings.sandboxHostTls)?.value };
}

export function readProvider(reader: Reader, places: Places, secret: string | undefined): ProviderSettings {
  const kind = reader.read(settings.sandboxProvider);
  const docker = {
    host: reader.read(settings.dockerHost),
    image: reader.read(settings.dockerImage),
    runtime: reader.read(settings.dockerRuntime) || undefined,
    tlsDir: reader.find(settings.dockerTls)?.value,
  };
  const remote = {
    hosts: reader.read(settings.sandboxHosts),
    authorities: reader.find(settings.sandboxHostsCa)?.value,
    secret,
  };
  if (!places.isTrusted) for (const group of ownGroups) refuseForeign(reader, places, group);
  const kubernetes = readKubernetes(reader);
  switch (kind) {
    case "local":
      return { kind };
    case "docker":
      return { kind, ...docker };
    case "kubernetes":
      return { kind, ...kubernetes };
    case "remote":
      return { kind, ...remote };
  }
}

const ownGroups = ["sandbox.provider", "sandbox.docker_", "sandbox.kubernetes_", "sandbox.host"] as const;

/** Where a cluster puts what a server inside it shows. */
const serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";

function readKubernetes(reader: Reader) {
  const server = reader.read(settings.kubernetesServer);
  const isInside = server === settings.kubernetesServer.default;
  return {
    server,
    tokenFile: reader.find(settings.kubernetesTokenFile)?.value ?? `${serviceAccountDir}/token`,
    caFile: reader.find(settings.kubernetesCaFile)?.value ?? (isInside ? `${serviceAccountDir}/ca.crt` : undefined),
    namespace: reader.read(settings.kubernetesNamespace),
    image: reader.read(settings.kubernetesImage),
    runtimeClass: reader.read(settings.kubernetesRuntimeClass) || undefined,
    claim: reader.read(settings.kubernetesVolumeClaim),
    volumePath: reader.read(settings.kubernetesVolumePath),
    startTimeoutMs: 1_000 * reader.read(settings.kubernetesStartSecondsMax),
    poolSize: reader.read(settings.kubernetesPool),
  };
}

/** Whom programs in the sandbox may reach, and where packages come from; nobody and nowhere unless it was set. */
export function readNetwork(reader: Reader, places: Places): NetworkSettings {
  const network = {
    hosts: reader.read(settings.networkHosts),
    privateHosts: reader.read(settings.networkPrivateHosts),
    packageIndex: reader.read(settings.packageIndex) || undefined,
    npmRegistry: reader.read(settings.npmRegistry) || undefined,
  };
  // Where a command cannot be read, this wall is what holds.
  if (!places.isTrusted) for (const group of networkGroups) refuseForeign(reader, places, group);
  return network;
}

const networkGroups = ["sandbox.network_", "sandbox.package_index", "sandbox.npm_registry"] as const;

/** One word about it is enough, whatever else of it was written. */
function refuseService(reader: Reader): void {
  const given = Object.values(svcSettings).flatMap((setting: Setting<unknown>) => reader.find(setting)?.given ?? []);
  const place = given.find((one) => one.place !== undefined)?.place;
  if (place !== undefined) reader.problems.push({ fault: "service_elsewhere", name: "sandbox_platform.svc", place });
}

/** What `file_upload_config` leaves open follows `uploads`; where both are given, it counts for the temparea. */
function readTemparea(reader: Reader, uploads: UploadPolicy): UploadPolicy {
  const follow = <T>(setting: Setting<T>, value: NoInfer<T>, other: Setting<unknown>) =>
    reader.readOr(setting, value, originOf(reader, other));
  const unit = reader.read(settings.tempareaFileSizeUnit);
  const isUnitGiven = originOf(reader, settings.tempareaFileSizeUnit) !== "default";
  const size = isUnitGiven
    ? reader.read(settings.tempareaFileSize)
    : follow(settings.tempareaFileSize, uploads.fileBytesMax / unitBytes.MB, settings.uploadFileBytesMax);
  return {
    fileBytesMax: Math.floor(size * unitBytes[unit]),
    filesMax: follow(settings.tempareaFilesMax, uploads.filesMax, settings.uploadFilesMax),
    types: follow(settings.tempareaTypes, uploads.types, settings.uploadTypes),
  };
}

function originOf(reader: Reader, wanted: Setting<unknown>): string {
  return reader.readings.find(({ setting }) => setting === wanted)?.origin ?? "default";
}
