// `npm run docker-suite`: the sandbox contract and the attacks against a real Docker engine, which is started for them with
// folders and a socket of its own and stopped again; an engine that this machine runs otherwise is left alone. It gets what
// it needs by itself (root, Debian, some 300 MB at the first time), and is therefore no part of `npm test`.
// `npm run docker-suite -- image` only builds the image into that engine; `-- word…` runs the files whose path has one of the
// words; `--runtime runsc` has containers started by gVisor, where it is installed.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeSandboxImage, socketPath, startEngine } from "./docker-engine.ts";

const root = join(import.meta.dirname, "..");
/** They try the host's own side of a guest, and are the same for every provider. */
const notOfProvider = /protocol|web-addresses/;

const { positionals, values } = parseArgs({ allowPositionals: true, options: { runtime: { type: "string" } } });

const engine = await startEngine(values.runtime);
try {
  makeSandboxImage();
  if (!positionals.includes("image")) process.exitCode = runTests();
} finally {
  await engine.stop();
}

function runTests(): number {
  const all = globSync(["test/docker/*.test.ts", "test/attacks/*.test.ts"], { cwd: root });
  const words = positionals.filter((word) => word !== "image");
  const wanted = words.length === 0 ? all.filter((path) => !notOfProvider.test(path)) : all;
  const files = wanted.filter((path) => words.length === 0 || words.some((word) => path.includes(word)));
  const { PATH, HOME } = process.env;
  const runtime = values.runtime === undefined ? {} : { AGENTYARD_TEST_DOCKER_RUNTIME: values.runtime };
  const env = { PATH, HOME, LANG: "C.UTF-8", AGENTYARD_TEST_DOCKER: socketPath, ...runtime };
  const ran = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...files.sort()], {
    ...{ cwd: root, env, stdio: "inherit" },
  });
  return ran.status ?? 1;
}
