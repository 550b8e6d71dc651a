import assert from "node:assert/strict";
import { test } from "node:test";
import { must, startYard, type TestYard } from "../../../test/world/yard.ts";

test("a template is told with the limits that the settings have now, each in the unit that clients know [S1]", async () => {
  let changed: TestYard["config"] | undefined;
  await using yard = await startYard({ reload: async () => changed });
  const { config, client } = yard;
  /** The settings file is written, and somebody looks at what there is. */
  const settle = async (executionTimeoutMsMax: number) => {
    const limits = { ...config.sandbox.limits, cpus: 2, memoryBytes: 512 * 1024 ** 2, fileBytesMax: 3 * 1024 ** 2 };
    changed = { ...config, sandbox: { ...config.sandbox, limits, executionTimeoutMsMax } };
    await must(client.call("listTools"));
  };
  await settle(90_000);
  const at = "2025-01-01T00:00:00.000Z";
  const template = {
    ...{ image_url: "", runtime_type: "python3", default_cpu_cores: 2, default_memory_mb: 512, default_disk_mb: 3 },
    ...{ default_env_vars: {}, is_active: true, created_at: at, updated_at: at },
  };
  const python = { id: "python-basic", name: "Python", default_timeout_sec: 90, ...template };
  const several = { ...python, id: "multi-language", name: "Python, JavaScript, Bash" };
  assert.deepEqual(await must(client.call("listTemplates")), [python, several]);
  await settle(60_000);
  const one = (id: string) => client.call("getTemplate", { params: { id } });
  assert.deepEqual(await must(one("multi-language")), { ...several, default_timeout_sec: 60 });
  const none = await one("none");
  const known = "python-basic, multi-language";
  assert.deepEqual(none.ok ? none : [none.failure.code, none.failure.params], [
    "template_not_found",
    { id: "none", known },
  ]);
});
