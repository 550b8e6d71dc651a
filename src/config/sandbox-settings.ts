import { defaultUploadPolicy } from "../protocol/upload-policy.ts";
import { choice, path } from "./first-kinds.ts";
import {
  anyBaseUrl,
  duration,
  endings,
  engineHost,
  exactAddress,
  hostAddresses,
  hosts,
  imageName,
  modules,
  number,
  objectName,
  placeBelow,
  port,
  runtimeName,
  sealKey,
  text,
  wholeNumber,
} from "./kinds.ts";
import type { Setting } from "./settings.ts";

const kibibyte = 1024;
const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;
const bytesTop = 1024 ** 5;
const daySeconds = 86_400;

/** What the units of `max_file_size_unit` stand for, in bytes. */
export const unitBytes = { KB: kibibyte, MB: mebibyte, GB: gibibyte } as const;

/** The block `sandbox_platform`, by the names that other programs know. */
const platform = {
  sessionTtlSeconds: {
    variables: ["AGENTYARD_SANDBOX_DEFAULT_TTL"],
    key: "sandbox_platform.default_ttl",
    kind: number(1, 365 * daySeconds),
    default: 7_200,
  },
  serviceRetriesMax: {
    variables: ["AGENTYARD_SANDBOX_MAX_RETRIES"],
    key: "sandbox_platform.max_retries",
    kind: wholeNumber(0, 10_000),
    default: 30,
  },
  serviceRetryMs: {
    variables: ["AGENTYARD_SANDBOX_RETRY_INTERVAL"],
    key: "sandbox_platform.retry_interval",
    kind: duration(1, 3_600_000, "500ms"),
    default: 500,
  },
  workspaceDisk: {
    variables: ["AGENTYARD_SANDBOX_DISK"],
    key: "sandbox_platform.disk",
    kind: choice(["folder", "image"]),
    default: "folder",
    isFixed: true,
  },
  tempareaFileSize: {
    variables: ["AGENTYARD_SANDBOX_MAX_FILE_SIZE"],
    key: "sandbox_platform.file_upload_config.max_file_size",
    kind: number(0, 1_048_576),
    default: defaultUploadPolicy.fileBytesMax / mebibyte,
  },
  tempareaFileSizeUnit: {
    variables: ["AGENTYARD_SANDBOX_MAX_FILE_SIZE_UNIT"],
    key: "sandbox_platform.file_upload_config.max_file_size_unit",
    kind: choice(["KB", "MB", "GB"]),
    default: "MB",
  },
  tempareaFilesMax: {
    variables: ["AGENTYARD_SANDBOX_MAX_FILE_COUNT"],
    key: "sandbox_platform.file_upload_config.max_file_count",
    kind: wholeNumber(0, 100_000),
    default: defaultUploadPolicy.filesMax,
  },
  tempareaTypes: {
    variables: ["AGENTYARD_SANDBOX_ALLOWED_FILE_TYPES"],
    key: "sandbox_platform.file_upload_config.allowed_file_types",
    kind: endings,
    default: defaultUploadPolicy.types,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What one sandbox may use, and one program in it. */
const guestLimits = {
  guestMemoryBytesMax: {
    variables: ["AGENTYARD_SANDBOX_MEMORY_BYTES_MAX"],
    key: "sandbox.memory_bytes_max",
    kind: wholeNumber(64 * mebibyte, bytesTop),
    default: gibibyte,
  },
  guestProcessesMax: {
    variables: ["AGENTYARD_SANDBOX_PROCESSES_MAX"],
    key: "sandbox.processes_max",
    kind: wholeNumber(16, 100_000),
    default: 128,
  },
  guestCpus: {
    variables: ["AGENTYARD_SANDBOX_CPUS"],
    key: "sandbox.cpus",
    kind: number(0.01, 1_024),
    default: 1,
  },
  guestTmpBytesMax: {
    variables: ["AGENTYARD_SANDBOX_TMP_BYTES_MAX"],
    key: "sandbox.tmp_bytes_max",
    kind: wholeNumber(mebibyte, bytesTop),
    default: 256 * mebibyte,
  },
  guestFileBytesMax: {
    variables: ["AGENTYARD_SANDBOX_FILE_BYTES_MAX"],
    key: "sandbox.file_bytes_max",
    kind: wholeNumber(mebibyte, bytesTop),
    default: 2 * gibibyte,
  },
  guestOutputBytesMax: {
    variables: ["AGENTYARD_SANDBOX_OUTPUT_BYTES_MAX"],
    key: "sandbox.output_bytes_max",
    kind: wholeNumber(kibibyte, gibibyte),
    default: 16 * mebibyte,
  },
  executionSecondsMax: {
    variables: ["AGENTYARD_SANDBOX_EXECUTION_SECONDS_MAX"],
    key: "sandbox.execution_seconds_max",
    kind: number(1, daySeconds),
    default: 3_600,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** How many there are at the same time, and how long they stay. */
const crowd = {
  guestsMax: {
    variables: ["AGENTYARD_SANDBOX_GUESTS_MAX"],
    key: "sandbox.guests_max",
    kind: wholeNumber(1, 10_000),
    default: 32,
  },
  guestsPerUserMax: {
    variables: ["AGENTYARD_SANDBOX_GUESTS_PER_USER_MAX"],
    key: "sandbox.guests_per_user_max",
    kind: wholeNumber(1, 10_000),
    default: 16,
  },
  executionsMax: {
    variables: ["AGENTYARD_SANDBOX_EXECUTIONS_MAX"],
    key: "sandbox.executions_max",
    kind: wholeNumber(1, 10_000),
    default: 16,
  },
  executionsPerUserMax: {
    variables: ["AGENTYARD_SANDBOX_EXECUTIONS_PER_USER_MAX"],
    key: "sandbox.executions_per_user_max",
    kind: wholeNumber(1, 10_000),
    default: 8,
  },
  executionsWaitingMax: {
    variables: ["AGENTYARD_SANDBOX_WAITING_MAX"],
    key: "sandbox.waiting_max",
    kind: wholeNumber(0, 100_000),
    default: 64,
  },
  executionWaitSecondsMax: {
    variables: ["AGENTYARD_SANDBOX_WAIT_SECONDS_MAX"],
    key: "sandbox.wait_seconds_max",
    kind: number(0, 3_600),
    default: 60,
  },
  kernelIdleSeconds: {
    variables: ["AGENTYARD_SANDBOX_KERNEL_IDLE_SECONDS"],
    key: "sandbox.kernel_idle_seconds",
    kind: number(1, 30 * daySeconds),
    default: 600,
  },
  guestIdleSeconds: {
    variables: ["AGENTYARD_SANDBOX_GUEST_IDLE_SECONDS"],
    key: "sandbox.guest_idle_seconds",
    kind: number(1, 30 * daySeconds),
    default: 900,
  },
  executionRecordDays: {
    variables: ["AGENTYARD_SANDBOX_RECORD_DAYS"],
    key: "sandbox.record_days",
    kind: number(0, 36_500),
    default: 7,
  },
} as const satisfies Record<string, Setting<unknown>>;

/** What programs find inside, and whom they reach. */
const insides = {
  pythonModules: {
    variables: ["AGENTYARD_SANDBOX_MODULES"],
    key: "sandbox.modules",
    kind: modules,
    default: ["numpy", "pandas", "matplotlib.pyplot"],
  },
  networkHosts: {
    variables: ["AGENTYARD_SANDBOX_NETWORK_HOSTS"],
    key: "sandbox.network_hosts",
    kind: hosts,
    default: [],
  },
  networkPrivateHosts: {
    variables: ["AGENTYARD_SANDBOX_NETWORK_PRIVATE_HOSTS"],
    key: "sandbox.network_private_hosts",
    kind: hosts,
    default: [],
  },
  packageIndex: {
    variables: ["AGENTYARD_SANDBOX_PACKAGE_INDEX"],
    key: "sandbox.package_index",
    kind: anyBaseUrl("https://pypi.org/simple"),
    default: "",
  },
  npmRegistry: {
    variables: ["AGENTYARD_SANDBOX_NPM_REGISTRY"],
    key: "sandbox.npm_registry",
    kind: anyBaseUrl("https://npm.example.com"),
    default: "",
  },
} as const satisfies Record<string, Setting<unknown>>;

/** Who starts sandboxes. */
const provider = {
  sandboxProvider: {
    variables: ["AGENTYARD_SANDBOX_PROVIDER"],
    key: "sandbox.provider",
    kind: choice(["local", "docker", "kubernetes", "remote"]),
    default: "local",
    isFixed: true,
  },
  dockerHost: {
    variables: ["AGENTYARD_SANDBOX_DOCKER_HOST"],
    key: "sandbox.docker_host",
    kind: engineHost,
    default: "unix:///var/run/docker.sock",
    isFixed: true,
  },
  dockerImage: {
    variables: ["AGENTYARD_SANDBOX_DOCKER_IMAGE"],
    key: "sandbox.docker_image",
    kind: imageName,
    default: "agentyard-sandbox",
    isFixed: true,
  },
  dockerRuntime: {
    variables: ["AGENTYARD_SANDBOX_DOCKER_RUNTIME"],
    key: "sandbox.docker_runtime",
    kind: runtimeName,
    default: "",
    isFixed: true,
  },
  dockerTls: {
    variables: ["AGENTYARD_SANDBOX_DOCKER_TLS"],
    key: "sandbox.docker_tls",
    kind: path,
    isFixed: true,
  },
  kubernetesServer: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_SERVER"],
    key: "sandbox.kubernetes_server",
    kind: exactAddress("https://kubernetes.default.svc"),
    default: "https://kubernetes.default.svc",
    isFixed: true,
  },
  kubernetesTokenFile: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_TOKEN_FILE"],
    key: "sandbox.kubernetes_token_file",
    kind: path,
    isFixed: true,
  },
  kubernetesCaFile: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_CA_FILE"],
    key: "sandbox.kubernetes_ca_file",
    kind: path,
    isFixed: true,
  },
  kubernetesNamespace: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_NAMESPACE"],
    key: "sandbox.kubernetes_namespace",
    kind: objectName("agentyard-sandboxes"),
    default: "agentyard-sandboxes",
    isFixed: true,
  },
  kubernetesImage: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_IMAGE"],
    key: "sandbox.kubernetes_image",
    kind: imageName,
    default: "agentyard-sandbox:latest",
    isFixed: true,
  },
  kubernetesRuntimeClass: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_RUNTIME_CLASS"],
    key: "sandbox.kubernetes_runtime_class",
    kind: runtimeName,
    default: "",
    isFixed: true,
  },
  kubernetesVolumeClaim: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_VOLUME_CLAIM"],
    key: "sandbox.kubernetes_volume_claim",
    kind: objectName("agentyard-files"),
    default: "agentyard-files",
    isFixed: true,
  },
  kubernetesVolumePath: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_VOLUME_PATH"],
    key: "sandbox.kubernetes_volume_path",
    kind: placeBelow("agentyard/files"),
    default: "",
    isFixed: true,
  },
  kubernetesStartSecondsMax: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_START_SECONDS_MAX"],
    key: "sandbox.kubernetes_start_seconds_max",
    kind: number(1, 3_600),
    default: 60,
    isFixed: true,
  },
  kubernetesPool: {
    variables: ["AGENTYARD_SANDBOX_KUBERNETES_POOL"],
    key: "sandbox.kubernetes_pool",
    kind: wholeNumber(0, 1_000),
    default: 0,
    isFixed: true,
  },
  sandboxHosts: {
    variables: ["AGENTYARD_SANDBOX_HOSTS"],
    key: "sandbox.hosts",
    kind: hostAddresses,
    default: [],
    isFixed: true,
  },
  sandboxHostsCa: {
    variables: ["AGENTYARD_SANDBOX_HOSTS_CA"],
    key: "sandbox.hosts_ca",
    kind: path,
    isFixed: true,
  },
  sandboxHostTls: {
    variables: ["AGENTYARD_SANDBOX_HOST_TLS"],
    key: "sandbox.host_tls",
    kind: path,
    isFixed: true,
  },
  /** What servers and sandbox hosts show each other. Not `AGENTYARD_KEY`: a host has no business with stored secrets. */
  sandboxSecret: { variables: ["AGENTYARD_SANDBOX_SECRET"], kind: sealKey, isSecret: true, isFixed: true },
} as const satisfies Record<string, Setting<unknown>>;

/** Everything about where code runs. */
export const sandboxSettings = { ...platform, ...provider, ...guestLimits, ...crowd, ...insides } as const;

/** A sandbox service elsewhere: read and checked, and refused as long as there is no such thing. In files only. */
export const svcSettings = {
  host: { variables: [], key: "sandbox_platform.svc.host", kind: text },
  port: { variables: [], key: "sandbox_platform.svc.port", kind: port },
  protocol: { variables: [], key: "sandbox_platform.svc.protocol", kind: choice(["http", "https"]) },
} as const satisfies Record<string, Setting<unknown>>;
