import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { createBytecode } from "./bytecode.ts";

const python = "/usr/bin/python3";
const modules = { "/run/x/supervisor.py": Buffer.from("import part"), "/run/x/part.py": Buffer.from("value = 1") };

test("modules are compiled once for all guests; the one that is started is left as it is [X1]", {
  skip: !existsSync(python) && `${python} is not here`,
}, async () => {
  const bytecode = createBytecode({ python });
  const files = await bytecode.files(modules);
  const names = Object.keys(files).map((path) => path.replace(/\.[a-z]+-\d+\.pyc$/, ""));
  assert.deepEqual(names, ["/run/x/__pycache__/part"]);
  assert.equal(await bytecode.files({}), files);
});

test("where nothing can be compiled, guests have their modules as they are [X1]", async () => {
  for (const missing of ["/nowhere/python3", "/bin/false"])
    assert.deepEqual(await createBytecode({ python: missing }).files(modules), {});
});
