import assert from "node:assert/strict";
import { test } from "node:test";
import type { z } from "zod";
import { OwnerId } from "../../protocol/ids.ts";
import { routes } from "../../protocol/routes.ts";
import type { Session } from "../../sandbox/sandbox.ts";
import { toSession } from "./session-answer.ts";
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

const mib = 1024 ** 2;
const session: Session = {
  ...{ id: "s-1", owner: OwnerId.parse("ann"), status: "error", error: "sandbox_full", dialect: "public" },
  ...{ createdAt: 1_500, updatedAt: 2_500, usedAt: 3_500, endedAt: 4_500, ttlMs: 7_200_400, generation: 3 },
  ...{ agentId: "a-1", businessDomain: "bd-7", templateId: undefined, executionTimeoutMs: 1_500, degraded: [] },
  uploads: { fileBytesMax: 3 * mib, filesMax: 5, types: ["csv"] },
  limits: {
    ...{ memoryBytes: 1_536 * mib, processesMax: 64, cpus: 2, fileBytesMax: 2 * 1024 * mib },
    ...{ tmpBytesMax: 1, outputBytesMax: 1 },
  },
  env: { TOKEN: "secret" },
  packages: undefined,
};

test("a session is told with all that it is, in the words of its dialect, and what is secret is not told [S1][Q1]", () => {
  const told = toSession(session, "en");
  assert.deepEqual(told, {
    ...{ id: "s-1", session_id: "s-1", status: "failed", created_at: "1970-01-01T00:00:01.500Z", ttl: 7_200 },
    info: {
      ...{ user_id: "ann", agent_id: "a-1", business_domain_id: "bd-7", generation: 3, error: "sandbox_full" },
      isolation: { level: "full", degraded: [] },
      file_upload_config: {
        ...{ max_file_size: 3, max_file_size_unit: "MB", max_file_count: 5, allowed_file_types: ["csv"] },
      },
    },
    template_id: "python-basic",
    resource_limit: { cpu: "2", memory: "1536Mi", disk: "2Gi", max_processes: 64 },
    ...{ workspace_path: "/workspace", language_runtime: "python", runtime_type: "python3", runtime_node: "local" },
    ...{ container_id: null, pod_name: null, env_vars: { TOKEN: "***" }, timeout: 1.5 },
    ...{ python_package_index_url: null, requested_dependencies: [], installed_dependencies: [] },
    ...{ dependency_install_status: "completed", dependency_install_error: null },
    ...{ dependency_install_started_at: null, dependency_install_completed_at: null },
    ...{ updated_at: "1970-01-01T00:00:02.500Z", completed_at: "1970-01-01T00:00:04.500Z" },
    last_activity_at: "1970-01-01T00:00:03.500Z",
  });
  const states = (["pending", "running", "stopped", "error"] as const).map((status) => [
    toSession({ ...session, status }, "en").status,
    toSession({ ...session, status, dialect: "seed" }, "en").status,
  ]);
  assert.deepEqual(states, [
    ["creating", "pending"],
    ["running", "running"],
    ["terminated", "stopped"],
    ["failed", "error"],
  ]);
  assert.equal(toSession({ ...session, dialect: "seed" }, "en").created_at, 1);
  const size = (fileBytesMax: number) => {
    const { max_file_size: amount, max_file_size_unit: unit } = toSession(
      { ...session, uploads: { ...session.uploads, fileBytesMax } },
      "en",
    ).info.file_upload_config;
    return `${amount} ${unit}`;
  };
  assert.deepEqual([size(1_000), size(2_048), size(1024 ** 3)], ["1000 B", "2 KB", "1 GB"]);
});

test("packages of a session are told with their versions and where they are, those of Python and of Node [X6][S1]", () => {
  const packages = {
    ...{ status: "failed", error: "no such version", startedAt: 1_000, endedAt: 2_000, current: [] },
    requested: [
      { manager: "pip", name: "numpy", version: "==2.0.0" },
      { manager: "npm", name: "left-pad", version: undefined },
    ],
    installed: [
      { manager: "pip", name: "numpy", version: "2.0.0" },
      { manager: "npm", name: "left-pad", version: "1.3.0" },
    ],
  } satisfies Session["packages"];
  const told = toSession({ ...session, packages }, "en");
  const at = { install_time: "1970-01-01T00:00:02.000Z", is_from_template: false };
  const place = "/run/agentyard/packages/current";
  assert.deepEqual(told.requested_dependencies, [
    { name: "numpy", version: "==2.0.0" },
    { name: "left-pad", package_manager: "npm" },
  ]);
  assert.deepEqual(told.installed_dependencies, [
    { name: "numpy", version: "2.0.0", install_location: `${place}/python`, ...at },
    {
      ...{ name: "left-pad", version: "1.3.0", package_manager: "npm" },
      ...{ install_location: `${place}/node/node_modules`, ...at },
    },
  ]);
  assert.deepEqual(
    [told.dependency_install_status, told.dependency_install_error, told.dependency_install_started_at],
    ["failed", "no such version", "1970-01-01T00:00:01.000Z"],
  );
  assert.equal(told.dependency_install_completed_at, at.install_time);
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
