import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptedEnvironment, guestEnvironment, marksInside } from "./environment.ts";

const limits = {
  ...{ memoryBytes: 1024, processesMax: 64, cpus: 1.5, fileBytesMax: 1024, tmpBytesMax: 1024, outputBytesMax: 1024 },
};
const plain = { workspace: undefined, limits, env: {}, network: undefined, packages: undefined };
const workspace = { folder: "/f", inside: "/workspace/c1", writable: "all" } as const;

test("variables that would change what runs before the code that was asked for are nobody's to choose [Q1][X3]", () => {
  const refused = [
    ...["LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "BASH_FUNC_ls%%", "NODE_OPTIONS"],
    ...["PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"],
  ];
  const taken = ["PYTHONPATH", "NODE_PATH", "MY_ENV", "ENVIRONMENT", "OLD_LD", "BASH_ENVS", "HOME"];
  const chosen = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, "x"]));
  assert.deepEqual(acceptedEnvironment(chosen([...refused, ...taken])), chosen(taken));
  const { LD_PRELOAD: gone, MY: own } = guestEnvironment({ ...plain, env: { LD_PRELOAD: "x", MY: "own" } });
  assert.deepEqual([gone, own], [undefined, "own"]);
});

test("programs find their home, as many threads as they have processors, a proxy where there is a network, and what was installed for them [T6][X5]", () => {
  const { HOME, AGENT_WORKSPACE_PATH, PATH, OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, HTTPS_PROXY, ...rest } =
    guestEnvironment({ ...plain, workspace });
  assert.deepEqual(
    [HOME, AGENT_WORKSPACE_PATH, PATH, OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, HTTPS_PROXY, rest.PIP_RETRIES],
    ["/workspace/c1", "/workspace/c1", "/run/agentyard/bin:/usr/local/bin:/usr/bin:/bin", "2", "2", undefined, "0"],
  );
  assert.deepEqual([rest.PYTHONPATH, rest.NODE_PATH, rest.TMPDIR], [undefined, undefined, "/tmp"]);
  const env = { PYTHONPATH: "/own", HTTPS_PROXY: "chosen" };
  const little = { ...limits, cpus: 0.2 };
  const full = guestEnvironment({ ...plain, limits: little, env, network: () => {}, packages: "/p" });
  assert.partialDeepStrictEqual(full, {
    ...{ HOME: "/tmp", OMP_NUM_THREADS: "1", PIP_RETRIES: "1", npm_config_fetch_retries: "1", PIP_NO_INPUT: "1" },
    ...{ HTTP_PROXY: "http://127.0.0.1:3128", http_proxy: "http://127.0.0.1:3128", HTTPS_PROXY: "chosen" },
    ...{
      https_proxy: "http://127.0.0.1:3128",
      NO_PROXY: "localhost,127.0.0.1,::1",
      no_proxy: "localhost,127.0.0.1,::1",
    },
    ...{ NODE_USE_ENV_PROXY: "1", NODE_PATH: "/run/agentyard/packages/current/node/node_modules" },
    PYTHONPATH: "/own:/run/agentyard/packages/current/python",
    PATH: "/run/agentyard/bin:/usr/local/bin:/usr/bin:/bin:/run/agentyard/packages/current/python/bin",
  });
});

test("folders are compared at the places where programs see them [S4]", () => {
  const marks = { ".": "1:2", outputs: "1:3", "../../skills": "1:4" };
  assert.deepEqual(marksInside({ workspace: { ...workspace, marks } }), {
    ...{ "/workspace/c1": "1:2", "/workspace/c1/outputs": "1:3", "/skills": "1:4" },
  });
  assert.deepEqual(marksInside({ workspace: undefined }), {});
});
