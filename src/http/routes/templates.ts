import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import type { SandboxTemplate } from "../../protocol/sandbox-resources.ts";
import type { Handlers, Parts } from "../handler.ts";
import { defaultTemplate, isoTime } from "../session-answer.ts";

const names = { [defaultTemplate]: "Python", "multi-language": "Python, JavaScript, Bash" } as const;
/** Both stand for the same sandbox, which has all three languages; the public service's clients ask for one of them. */
const bothMadeAt = Date.UTC(2025, 0, 1);
const idCharactersShown = 80;

export function templateHandlers({ sandboxSettings }: Parts): Pick<Handlers, "listTemplates" | "getTemplate"> {
  const list = () => Object.entries(names).map(([id, name]) => templateOf(id, name, sandboxSettings()));
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

export function isTemplate(id: string): boolean {
  return Object.hasOwn(names, id);
}

export function templateNotFound(id: string) {
  return failure("template_not_found", { id: id.slice(0, idCharactersShown), known: Object.keys(names).join(", ") });
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
