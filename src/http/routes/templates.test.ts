import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../base/result.ts";
import { failure } from "../../protocol/failure.ts";
import { asked, partsWith } from "./handling.testing.ts";
import { templateHandlers } from "./templates.ts";

test("a template is told with the limits that the settings have now, each in the unit that clients know [S1]", async () => {
  let executionTimeoutMsMax = 90_000;
  const limits = { cpus: 2, memoryBytes: 512 * 1024 ** 2, fileBytesMax: 3 * 1024 ** 2 };
  const { listTemplates, getTemplate } = templateHandlers(
    partsWith({ sandboxSettings: () => ({ limits, executionTimeoutMsMax }) }),
  );
  const at = "2025-01-01T00:00:00.000Z";
  const template = {
    ...{ image_url: "", runtime_type: "python3", default_cpu_cores: 2, default_memory_mb: 512, default_disk_mb: 3 },
    ...{ default_env_vars: {}, is_active: true, created_at: at, updated_at: at },
  };
  const python = { id: "python-basic", name: "Python", default_timeout_sec: 90, ...template };
  const several = { ...python, id: "multi-language", name: "Python, JavaScript, Bash" };
  assert.deepEqual(await listTemplates(asked("listTemplates", {})), ok([python, several]));
  executionTimeoutMsMax = 60_000;
  const one = (id: string) => getTemplate(asked("getTemplate", { params: { id } }));
  assert.deepEqual(await one("multi-language"), ok({ ...several, default_timeout_sec: 60 }));
  const known = "python-basic, multi-language";
  assert.deepEqual(await one("none"), failure("template_not_found", { id: "none", known }));
});
