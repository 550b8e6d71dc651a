import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { NetworkSettings, SandboxSettings } from "../sandbox/sandbox.ts";
import type { Places } from "./places.ts";
import { refuseForeign } from "./read-server.ts";
import type { Reader } from "./reader.ts";
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

/** Who starts sandboxes: bubblewrap on this machine, or a Docker engine. */
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
    };

export function readProvider(reader: Reader, places: Places): ProviderSettings {
  const kind = reader.read(settings.sandboxProvider);
  const docker = {
    host: reader.read(settings.dockerHost),
    image: reader.read(settings.dockerImage),
    runtime: reader.read(settings.dockerRuntime) || undefined,
    tlsDir: reader.find(settings.dockerTls)?.value,
  };
  if (!places.isTrusted)
    for (const group of ["sandbox.provider", "sandbox.docker_"] as const) refuseForeign(reader, places, group);
  return kind === "local" ? { kind } : { kind, ...docker };
}

/** Whom programs in the sandbox may reach, and where packages come from; nobody and nowhere unless it was set. */
export function readNetwork(reader: Reader): NetworkSettings {
  return {
    hosts: reader.read(settings.networkHosts),
    privateHosts: reader.read(settings.networkPrivateHosts),
    packageIndex: reader.read(settings.packageIndex) || undefined,
    npmRegistry: reader.read(settings.npmRegistry) || undefined,
  };
}

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
