import { ok } from "../../base/result.ts";
import type { SandboxTemplate } from "../../protocol/sandbox-resources.ts";
import type { Handlers, Parts } from "../handler.ts";
import { isoTime } from "../sandbox/session-answer.ts";
import { templateNames, templateNotFound } from "../sandbox/templates.ts";

const bothMadeAt = Date.UTC(2025, 0, 1);

export function templateHandlers({ sandboxSettings }: Parts): Pick<Handlers, "listTemplates" | "getTemplate"> {
  const list = () => Object.entries(templateNames).map(([id, name]) => templateOf(id, name, sandboxSettings()));
  return {
    async listTemplates() {
      return ok(list());
    },
    async getTemplate({ params }) {
      const found = list().find(({ id }) => id === params.id);
      return found === undefined ? templateNotFound(params.id) : ok(found);
    },
  };
}

function templateOf(
  id: string,
  name: string,
  { limits, executionTimeoutMsMax }: ReturnType<Parts["sandboxSettings"]>,
): SandboxTemplate {
  return {
    id,
    name,
    image_url: "",
    runtime_type: "python3",
    default_cpu_cores: limits.cpus,
    default_memory_mb: limits.memoryBytes / 1024 ** 2,
    default_disk_mb: limits.fileBytesMax / 1024 ** 2,
    default_timeout_sec: executionTimeoutMsMax / 1000,
    default_env_vars: {},
    is_active: true,
    created_at: isoTime(bothMadeAt),
    updated_at: isoTime(bothMadeAt),
  };
}
