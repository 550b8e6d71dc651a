import { z } from "zod";
import { ClosingFrame, PartFrame } from "./stream.ts";

// What the routes of the sandbox answer with. Names are those of the public sandbox service, so that its clients find
// what they look for; the chat platform's fields stand beside them.

const Lack = z.object({ name: z.string(), reason: z.string(), fix: z.string() });
const time = z.string();

const FileUploadConfig = z.object({
  max_file_size: z.number(),
  max_file_size_unit: z.enum(["B", "KB", "MB", "GB"]),
  max_file_count: z.number().int(),
  allowed_file_types: z.array(z.string()),
});

const Dependency = z.object({
  name: z.string(),
  version: z.string().optional(),
  /** Python's unless it says otherwise. */
  package_manager: z.literal("npm").optional(),
});

const InstalledDependency = z.object({
  ...Dependency.shape,
  version: z.string(),
  /** As programs in the sandbox see it. */
  install_location: z.string(),
  install_time: time,
  is_from_template: z.literal(false),
});

const SessionStatus = z.enum([
  "pending",
  "running",
  "stopped",
  "error",
  "creating",
  "completed",
  "failed",
  "timeout",
  "terminated",
]);

/** A sandbox session in both spellings at once; of `status` and `created_at` the one of its dialect. */
export const SandboxSession = z.object({
  id: z.string(),
  session_id: z.string(),
  status: SessionStatus,
  /** Seconds since 1970, or ISO 8601 in UTC. */
  created_at: z.union([z.number().int(), time]),
  /** Seconds after the last use. */
  ttl: z.number().int(),
  info: z.object({
    user_id: z.string(),
    agent_id: z.string().nullable(),
    business_domain_id: z.string().nullable(),
    /** How often it was revived, and 1. */
    generation: z.number().int(),
    /** The code of the failure it is in error for. */
    error: z.string().nullable(),
    /** `full`, or what this machine cannot give. */
    isolation: z.object({ level: z.enum(["full", "degraded"]), degraded: z.array(Lack) }),
    file_upload_config: FileUploadConfig,
  }),
  template_id: z.string(),
  resource_limit: z.object({ cpu: z.string(), memory: z.string(), disk: z.string(), max_processes: z.number().int() }),
  workspace_path: z.string(),
  language_runtime: z.string(),
  runtime_type: z.string(),
  runtime_node: z.string(),
  container_id: z.string().nullable(),
  pod_name: z.string().nullable(),
  /** The values are never told. */
  env_vars: z.record(z.string(), z.literal("***")),
  timeout: z.number(),
  python_package_index_url: z.string().nullable(),
  requested_dependencies: z.array(Dependency),
  installed_dependencies: z.array(InstalledDependency),
  dependency_install_status: z.enum(["pending", "installing", "completed", "failed"]),
  dependency_install_error: z.string().nullable(),
  dependency_install_started_at: time.nullable(),
  dependency_install_completed_at: time.nullable(),
  updated_at: time,
  completed_at: time.nullable(),
  last_activity_at: time,
});
export type SandboxSession = z.infer<typeof SandboxSession>;

const page = { total: z.number().int(), limit: z.number().int(), offset: z.number().int(), has_more: z.boolean() };
export const SandboxSessionPage = z.object({ items: z.array(SandboxSession), ...page });

const ExecutionStatus = z.enum(["pending", "running", "completed", "failed", "timeout", "crashed", "cancelled"]);

export const SandboxExecution = z.object({
  id: z.string(),
  execution_id: z.string(),
  session_id: z.string(),
  conversation_id: z.string().nullable(),
  status: ExecutionStatus,
  /** How it ended: `done` is by itself, whatever its exit code. Null until then, and where no program ran. */
  how: z.enum(["done", "timeout", "cancelled", "killed", "out_of_memory", "disk_full", "lost"]).nullable(),
  code: z.string(),
  /** It was long: of its middle nothing is kept. Lists show less of it, and of what it said. */
  code_truncated: z.boolean(),
  language: z.enum(["python", "javascript", "shell"]),
  timeout: z.number(),
  /** −1 when it ended without one. */
  exit_code: z.number().int().nullable(),
  /** The one that ended it, as `SIGTERM`. */
  signal: z.string().nullable(),
  error_message: z.string().nullable(),
  /** Why no program ran; error_message has it in words. */
  failure: z.object({ code: z.string(), params: z.record(z.string(), z.unknown()), retryable: z.boolean() }).nullable(),
  /** Seconds. */
  execution_time: z.number().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  /** The middle was taken out; all that was kept is in the file at this path of the workspace. */
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
  stdout_path: z.string().nullable(),
  stderr_path: z.string().nullable(),
  /** The value of the last expression, as text. */
  value: z.string().nullable(),
  /** What `handler(event)` returned. */
  return_value: z.unknown(),
  figures: z.array(z.string()),
  artifacts: z.array(
    z.object({
      path: z.string(),
      container_path: z.string(),
      size: z.number().int(),
      mime_type: z.string(),
      type: z.string(),
      created_at: time,
      checksum: z.string().nullable(),
      sha256: z.string().nullable(),
    }),
  ),
  /** Those that were there before and are otherwise now, and those that are gone: of the first 500 changes. */
  changed_files: z.array(z.string()),
  removed_files: z.array(z.string()),
  /** It left more in the workspace than may be there. */
  is_over_limit: z.boolean(),
  metrics: z
    .object({
      duration_ms: z.number(),
      cpu_time_ms: z.number(),
      peak_memory_mb: z.number(),
      io_read_bytes: z.number(),
      io_write_bytes: z.number(),
    })
    .nullable(),
  retry_count: z.number().int(),
  created_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
});
export type SandboxExecution = z.infer<typeof SandboxExecution>;

export const SandboxExecutionPage = z.object({ items: z.array(SandboxExecution), ...page });

export const SubmittedExecution = z.object({
  execution_id: z.string(),
  session_id: z.string(),
  status: ExecutionStatus,
  created_at: time,
});

/** Bytes of each stream up to here; as `STDOUT-STDERR` it is the id to go on from. */
const OutputPlace = z.object({ stdout: z.number().int(), stderr: z.number().int() });

/** Frames of an execution's stream. `result` is the last one. */
export const ExecutionFrame = z.discriminatedUnion("frame", [
  z.object({
    frame: z.literal("output"),
    stream: z.enum(["stdout", "stderr"]),
    text: z.string(),
    at: OutputPlace,
  }),
  /** So many bytes of the stream are missing here: more came than is kept. */
  z.object({ frame: z.literal("cut"), stream: z.enum(["stdout", "stderr"]), bytes: z.number().int(), at: OutputPlace }),
  z.object({ frame: z.literal("result"), execution: SandboxExecution }),
  ClosingFrame,
  PartFrame,
  z.object({ frame: z.literal("ping") }),
]);
export type ExecutionFrame = z.infer<typeof ExecutionFrame>;

export const SandboxTemplate = z.object({
  id: z.string(),
  name: z.string(),
  image_url: z.string(),
  runtime_type: z.string(),
  default_cpu_cores: z.number(),
  default_memory_mb: z.number(),
  default_disk_mb: z.number(),
  default_timeout_sec: z.number(),
  default_env_vars: z.record(z.string(), z.string()),
  is_active: z.boolean(),
  created_at: time,
  updated_at: time,
});
export type SandboxTemplate = z.infer<typeof SandboxTemplate>;

const Dependable = { status: z.enum(["healthy", "degraded", "unhealthy"]), error: z.string().nullable() };

/** How everything is that the server depends on, each looked at for this answer. */
export const DetailedHealth = z.object({
  status: z.enum(["healthy", "degraded", "unhealthy"]),
  version: z.string(),
  /** Seconds. */
  uptime: z.number(),
  dependencies: z.object({
    database: z.object(Dependable),
    storage: z.object(Dependable),
    sandbox: z.object({
      ...Dependable,
      missing: z.array(Lack),
      degraded: z.array(Lack),
      guests: z.number().int(),
      running: z.number().int(),
      waiting: z.number().int(),
    }),
  }),
});
export type DetailedHealth = z.infer<typeof DetailedHealth>;
