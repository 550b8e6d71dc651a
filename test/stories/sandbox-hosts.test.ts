import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { wordsFor } from "../../src/words/words.ts";
import { type Home, makeHome, type Program } from "../world/program.ts";
import { saidOf } from "../world/said.ts";
import { cannotRunCode } from "../world/sandbox.ts";

// docs/run/sandbox-hosts.md, as an operator follows it: two programs, one secret, one folder.

const secret = "a secret that servers and their hosts have";
const skip = cannotRunCode;

test("by the page of sandbox hosts, programs of a server run on a host, with the files of their conversation; doctor names another secret, and a host that ended is named [X1][X3][N1][P2]", {
  skip,
}, async (t) => {
  const files = join(makeHome(t).folder, "volume");
  mkdirSync(files);
  const host = makeHome(t, { env: { AGENTYARD_SANDBOX_SECRET: secret, AGENTYARD_FILES_DIR: files } });
  const { address, program } = await startHost(host, files);
  const yard = makeHome(t, { env: remoteEnv(files, address) });
  const write = "import os; open('outputs/a.txt', 'w').write('x' * 2000); print(sorted(os.listdir('/workspace/talk')))";
  assert.deepEqual(await yard.start("exec", "--conversation", "talk", write).ended, {
    ...{
      code: 0,
      output: "['.metadata.json', 'outputs', 'skills', 'temp', 'uploads']\n",
      errors: "+ outputs/a.txt (2.0 KB)\n",
    },
  });
  assert.equal(readFileSync(join(files, "workspace", "talk", "outputs", "a.txt"), "utf8").length, 2000);
  const other = { ...remoteEnv(files, address), AGENTYARD_SANDBOX_SECRET: "another secret, which is as long as that" };
  assert.deepEqual(await lacksOf(makeHome(t, { env: other })), ["host_secret"]);

  program.child.kill("SIGTERM");
  assert.equal((await program.ended).code, 0);
  const lost = await yard.start("exec", "print(1)").ended;
  assert.notEqual(lost.code, 0);
  assert.ok(lost.errors.includes(`A sandbox host does not answer (${address}`), lost.errors);
});

test("a host without a secret, with a provider that is no work of its own, or with certificates that are none, does not start and says why [X3][P4]", async (t) => {
  const started = async (env: Record<string, string>, ...words: string[]) => {
    const { code, errors } = await makeHome(t, { env }).start("sandbox-host", "--port", "0", ...words).ended;
    assert.equal(code, 2, errors);
    return errors;
  };
  assert.match(await started({}), /^✗ AGENTYARD_SANDBOX_SECRET is not set.*openssl rand -hex 32/);
  const errors = await started({ AGENTYARD_SANDBOX_SECRET: secret, AGENTYARD_SANDBOX_PROVIDER: "remote" });
  assert.ok(errors.includes("sandbox.provider is remote here: a sandbox host starts sandboxes on its own"), errors);
  const env = { AGENTYARD_SANDBOX_SECRET: secret };
  const notHere = { host: "192.0.2.1", port: 9201, why: "not_here" } as const;
  const words = ["sandbox-host", "--host", notHere.host, "--port", "9201"];
  const unusable = await makeHome(t, { env }).start(...words).ended;
  assert.equal(unusable.code, 1);
  assert.ok(unusable.errors.startsWith(`✗ ${saidOf("address_unusable", notHere)}`), unusable.errors);
  const folder = makeHome(t).folder;
  for (const name of ["cert.pem", "key.pem"]) writeFileSync(join(folder, name), "none");
  const tls = { AGENTYARD_SANDBOX_SECRET: secret, AGENTYARD_SANDBOX_HOST_TLS: folder };
  assert.match(await started(tls), /sandbox\.host_tls names .*, whose cert\.pem and key\.pem cannot be used/);
});

test("the page of sandbox hosts names settings, variables and lacks that there are [P4][N1]", async (t) => {
  const rowsOf = (page: string) =>
    [...page.matchAll(/^\| (?:`([a-z_.]+)`)? ?\| `(AGENTYARD_\w+)` \|/gm)].map(([, name = "", variable = ""]) => ({
      name: name === "" ? variable : name,
      source: variable,
    }));
  const lacksIn = (page: string) =>
    [...page.matchAll(/^\| `(\w+)` \| (?!`AGENTYARD_)/gm)].map(([, name = ""]) => name).sort();
  const english = readPage("sandbox-hosts.md");
  const rows = rowsOf(english);
  const env = {
    ...{ AGENTYARD_SANDBOX_SECRET: secret, AGENTYARD_FILES_DIR: "/volume", AGENTYARD_SANDBOX_PROVIDER: "remote" },
    ...{ AGENTYARD_SANDBOX_HOSTS: "http://one:9200", AGENTYARD_SANDBOX_HOSTS_CA: "/ca.pem" },
    ...{ AGENTYARD_SANDBOX_HOST_TLS: "/tls", AGENTYARD_SANDBOX_GUESTS_MAX: "5" },
  };
  const { output } = await makeHome(t, { env }).start("config", "--json").ended;
  const known: { settings: { name: string; source: string }[] } = JSON.parse(output);
  const set = known.settings.map(({ name, source }) => ({ name, source })).filter(({ source }) => source in env);
  const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name, "en");
  assert.deepEqual(rows.toSorted(byName), set.toSorted(byName));
  const ofHosts = Object.keys(wordsFor("en").sandbox.lacks).filter((name) => /^host_|^no_hosts$/.test(name));
  assert.deepEqual(lacksIn(english), ofHosts.toSorted());
});

function readPage(name: string): string {
  return readFileSync(join(import.meta.dirname, "..", "..", "docs", "run", name), "utf8");
}

async function startHost(home: Home, files: string): Promise<{ readonly address: string; readonly program: Program }> {
  const program = home.start("sandbox-host", "--port", "0", "--data", join(home.folder, "data"));
  const started = await program.until(
    "output",
    /started at (http:\/\/127\.0\.0\.1:\d+), \d+ at most \(shared files: (.*)\)[\s\S]*Ctrl\+C/,
  );
  assert.equal(started[2], files);
  return { address: started[1] ?? "", program };
}

/** A server with SQLite has its files in its data directory: that is what it shares. */
function remoteEnv(files: string, address: string): Record<string, string> {
  return {
    ...{ AGENTYARD_DATA: files, AGENTYARD_SANDBOX_PROVIDER: "remote" },
    ...{ AGENTYARD_SANDBOX_HOSTS: address, AGENTYARD_SANDBOX_SECRET: secret },
  };
}

/** What doctor says that sandboxes lack: what keeps them from starting, here. */
async function lacksOf(home: Home): Promise<string[]> {
  const { output } = await home.start("doctor", "--json").ended;
  const { checks }: { checks: { name: string; status: string }[] } = JSON.parse(output);
  return checks.flatMap(({ name, status }) => (status === "ok" || !/^host_|^no_hosts$/.test(name) ? [] : [name]));
}
