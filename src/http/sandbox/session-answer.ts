import type { SandboxSession } from "../../protocol/sandbox-resources.ts";
import type { UploadPolicy } from "../../protocol/upload-policy.ts";
import type { Session } from "../../sandbox/sandbox.ts";
import type { Language } from "../../words/words.ts";
import { toLack } from "./lack-answer.ts";

export const defaultTemplate = "python-basic";

/** A session as its dialect has it, with the other dialect's fields beside; what is secret stays here. */
export function toSession(session: Session, language: Language): SandboxSession {
  const { id, createdAt, limits, owner } = session;
  const isPublic = session.dialect === "public";
  return {
    id,
    session_id: id,
    status: isPublic ? publicStatus[session.status] : session.status,
    created_at: isPublic ? isoTime(createdAt) : Math.floor(createdAt / 1000),
    ttl: Math.round(session.ttlMs / 1000),
    info: {
      user_id: owner,
      agent_id: session.agentId ?? null,
      business_domain_id: session.businessDomain ?? null,
      generation: session.generation,
      error: session.error ?? null,
      isolation: {
        level: session.degraded.length === 0 ? "full" : "degraded",
        degraded: session.degraded.map((lack) => toLack(lack, language)),
      },
      file_upload_config: uploadConfig(session.uploads),
    },
    template_id: session.templateId ?? defaultTemplate,
    resource_limit: {
      cpu: String(limits.cpus),
      memory: amountOf(limits.memoryBytes),
      disk: amountOf(limits.fileBytesMax),
      max_processes: limits.processesMax,
    },
    workspace_path: "/workspace",
    language_runtime: "python",
    runtime_type: "python3",
    runtime_node: "local",
    container_id: null,
    pod_name: null,
    env_vars: Object.fromEntries(Object.keys(session.env).map((name) => [name, "***" as const])),
    timeout: session.executionTimeoutMs / 1000,
    ...dependenciesOf(session.packages),
    updated_at: isoTime(session.updatedAt),
    completed_at: session.endedAt === undefined ? null : isoTime(session.endedAt),
    last_activity_at: isoTime(session.usedAt),
  };
}

const publicStatus = { pending: "creating", running: "running", stopped: "terminated", error: "failed" } as const;

const noDependencies = {
  python_package_index_url: null,
  requested_dependencies: [],
  installed_dependencies: [],
  dependency_install_status: "completed",
  dependency_install_error: null,
  dependency_install_started_at: null,
  dependency_install_completed_at: null,
} satisfies Partial<SandboxSession>;

/** The index is the operator's and may hold a password: it is not told. */
function dependenciesOf(packages: Session["packages"]) {
  if (packages === undefined) return noDependencies;
  const { requested, installed, status, error, startedAt, endedAt } = packages;
  const ended = endedAt === undefined ? null : isoTime(endedAt);
  return {
    python_package_index_url: null,
    requested_dependencies: requested.map(({ manager, name, version }) => ({
      ...{ name, ...(version !== undefined && { version }) },
      ...(manager === "npm" && { package_manager: manager }),
    })),
    installed_dependencies: installed.map(({ manager, name, version }) => ({
      ...{ name, version, ...(manager === "npm" && { package_manager: manager }) },
      install_location: `/run/agentyard/packages/current/${manager === "npm" ? "node/node_modules" : "python"}`,
      install_time: ended ?? isoTime(startedAt),
      is_from_template: false as const,
    })),
    dependency_install_status: status,
    dependency_install_error: error ?? null,
    dependency_install_started_at: isoTime(startedAt),
    dependency_install_completed_at: ended,
  };
}

const mebibyte = 1024 ** 2;
const gibibyte = 1024 ** 3;

/** `512Mi`, `1Gi`: as the public service spells it, whole numbers only. */
function amountOf(bytes: number): string {
  return bytes % gibibyte === 0 ? `${bytes / gibibyte}Gi` : `${Math.floor(bytes / mebibyte)}Mi`;
}

function uploadConfig({ fileBytesMax, filesMax, types }: UploadPolicy): SandboxSession["info"]["file_upload_config"] {
  const units = ["GB", "MB", "KB", "B"] as const;
  const power = [3, 2, 1, 0].find((candidate) => fileBytesMax % 1024 ** candidate === 0) ?? 0;
  return {
    max_file_size: fileBytesMax / 1024 ** power,
    max_file_size_unit: units[3 - power] ?? "B",
    max_file_count: filesMax,
    allowed_file_types: [...types],
  };
}

/** Always UTC, and it says so. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}
