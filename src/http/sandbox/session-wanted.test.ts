import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import { routes } from "../../protocol/routes.ts";
import { firstPackages, packagesWanted } from "./session-packages.ts";
import { sessionWanted } from "./session-wanted.ts";

type Body = z.input<typeof routes.createSession.body>;

function wanted(body: Body, headers: Readonly<Record<string, string>> = {}) {
  const made = sessionWanted({ body: routes.createSession.body.parse(body), header: (name) => headers[name] });
  return made.ok ? made.value : made.failure.code;
}

/** What is wanted where nothing is. */
const usual = {
  ...{ id: undefined, dialect: "seed", agentId: undefined, businessDomain: "bd_public", templateId: undefined },
  ...{ uploads: undefined, limits: {}, env: {}, executionTimeoutMs: undefined },
};

test("a session is wanted in either dialect: its name, its limits and its time as they were meant [S1][F4]", () => {
  assert.deepEqual(wanted({}), usual);
  const limits = { cpus: 0.5, memoryBytes: 512 * 1024 ** 2, fileBytesMax: 2 * 1024 ** 3 };
  const asked = { id: "my-box", template_id: "multi-language", cpu: "0.5", memory: "512Mi", disk: "2Gi", timeout: 120 };
  assert.deepEqual(wanted({ ...asked, env_vars: { A: "1" } }), {
    ...usual,
    ...{ id: "my-box", dialect: "public", templateId: "multi-language", limits, env: { A: "1" } },
    executionTimeoutMs: 120_000,
  });
  assert.deepEqual(wanted({ template_id: "python-basic" }), {
    ...{ ...usual, dialect: "public", templateId: "python-basic" },
  });
  assert.deepEqual(wanted({ config: { session_id: "mine" } }), { ...usual, id: "mine" });
  assert.deepEqual(wanted({ config: { session_id: "sb-session-ann" } }), usual, "another name of one's own is no name");
  assert.deepEqual([wanted({ template_id: "nope" })], ["template_not_found"]);
});

test("a session is kept under the domain of its body, else of its header, and that is not longer than a name [S1]", () => {
  const domain = (body: Body, header: string) => Object(wanted(body, { "x-business-domain": header })).businessDomain;
  assert.equal(domain({ business_domain_id: "bd-7" }, "bd-8"), "bd-7");
  assert.equal(domain({}, "bd-8"), "bd-8");
  assert.equal(domain({}, "x".repeat(201)), "x".repeat(200));
});

test("what may be uploaded is wanted in any unit, under config or event, and endings in any spelling [F4][S1]", () => {
  const uploads = (policy: object) => Object(wanted({ config: { file_upload_config: policy } })).uploads;
  const sizes = { B: 1.5, KB: 1.5, MB: 2, GB: 1 };
  assert.deepEqual(
    Object.entries(sizes).map(([unit, size]) => uploads({ max_file_size: size, max_file_size_unit: unit })),
    [1, 1536, 2 * 1024 ** 2, 1024 ** 3].map((fileBytesMax) => ({ fileBytesMax })),
  );
  assert.deepEqual(uploads({ max_file_count: 3, allowed_file_types: [" .CSV ", "json"] }), {
    ...{ filesMax: 3, types: ["csv", "json"] },
  });
  const event = { file_upload_config: { max_file_count: 4 } };
  assert.deepEqual(Object(wanted({ event })).uploads, { filesMax: 4 });
});

test("what is to be installed is wanted with its versions, its index and its time; a session that wants nothing gets nothing [X6][S1]", () => {
  const dependencies = [{ name: "numpy", version: "==2.0.0" }, { name: "pandas" }];
  const index = "https://index.example/simple";
  const more = { python_package_index_url: index, install_timeout: 60, allow_version_conflicts: true };
  const packages = [
    { manager: "pip", name: "numpy", version: "==2.0.0" },
    { manager: "pip", name: "pandas", version: undefined },
  ];
  const expected = { packages, index, timeoutMs: 60_000, allowsConflicts: true };
  const { createSession, installDependencies } = routes;
  assert.deepEqual(packagesWanted(installDependencies.body.parse({ dependencies, ...more })), expected);
  assert.deepEqual(firstPackages(createSession.body.parse({ dependencies, ...more })), expected);
  assert.equal(firstPackages(createSession.body.parse({ dependencies: [] })), undefined);
  const npm = installDependencies.body.parse({ package_manager: "npm", dependencies: [{ name: "left-pad" }] });
  assert.deepEqual(packagesWanted(npm), {
    ...{ packages: [{ manager: "npm", name: "left-pad", version: undefined }], index: undefined },
    ...{ timeoutMs: 300_000, allowsConflicts: false },
  });
});
