// `npm run kubernetes-suite -- --server https://… --token-file … --ca-file … --files /mnt/files`: the sandbox contract and the
// attacks against a real cluster, into which deploy/kubernetes was put. It runs where the shared volume is mounted (`--files`),
// in a pod of the servers' or on any machine; what it makes there and in the cluster it removes again. Without a word about the
// cluster it is that of the pod in which this runs. Words after the options choose files by their path. The token comes from
// `kubectl -n agentyard create token agentyard`.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";

const root = join(import.meta.dirname, "..");
const account = "/var/run/secrets/kubernetes.io/serviceaccount";
/** They try the host's own side of a guest, and are the same for every provider. */
const notOfProvider = /protocol|web-addresses/;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    server: { type: "string", default: "https://kubernetes.default.svc" },
    "token-file": { type: "string", default: `${account}/token` },
    "ca-file": { type: "string" },
    namespace: { type: "string", default: "agentyard-sandboxes" },
    image: { type: "string", default: "agentyard-sandbox:latest" },
    "runtime-class": { type: "string" },
    "volume-claim": { type: "string", default: "agentyard-files" },
    "volume-path": { type: "string", default: "" },
    files: { type: "string", default: "/files" },
    "start-seconds": { type: "string", default: "120" },
  },
});

const { files } = values;
for (const path of [files, values["token-file"]])
  if (!existsSync(path)) {
    console.error(`${path} is not there. --files is where the shared volume is mounted, --token-file has a token.`);
    process.exit(1);
  }
// All that tests make has to be on the volume.
const temporary = mkdtempSync(join(files, "kubernetes-suite-"));
chmodSync(temporary, 0o711);
try {
  process.exitCode = runTests();
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function runTests(): number {
  const isInside = values.server === "https://kubernetes.default.svc";
  const cluster = {
    address: {
      ...{ server: values.server, tokenFile: values["token-file"] },
      caFile: values["ca-file"] ?? (isInside ? `${account}/ca.crt` : undefined),
    },
    ...{ namespace: values.namespace, image: values.image, runtimeClass: values["runtime-class"] },
    ...{ claim: values["volume-claim"], files: temporary },
    volumePath: [values["volume-path"], relative(files, temporary)].filter(Boolean).join("/"),
    startTimeoutMs: 1000 * Number(values["start-seconds"]),
  };
  const all = globSync(["test/kubernetes/*.test.ts", "test/attacks/*.test.ts"], { cwd: root });
  const wanted = positionals.length === 0 ? all.filter((path) => !notOfProvider.test(path)) : all;
  const chosen = wanted.filter((path) => positionals.length === 0 || positionals.some((word) => path.includes(word)));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, LANG: "C.UTF-8", TMPDIR: temporary, AGENTYARD_TEST_KUBERNETES: JSON.stringify(cluster) };
  const ran = spawnSync(process.execPath, ["--test", "--test-concurrency=1", ...chosen.sort()], {
    ...{ cwd: root, env, stdio: "inherit" },
  });
  return ran.status ?? 1;
}
