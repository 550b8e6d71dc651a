import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeHome, typedHere } from "../world/program.ts";
import { agentyard } from "../world/pty.ts";
import { saidOf } from "../world/said.ts";

// What a first user mistypes, and what the program says then.

test("a mistyped --data is refused by whoever only looks, and nothing is made there [Q3][P2]", async (t) => {
  const home = makeHome(t);
  const typo = join(home.folder, "typo");
  const errors = `✗ There is no data of AgentYard in ${typo}. Check --data; nothing was made there. \`${typedHere} --data ${typo} serve\` or a chat begins a new one.\n`;
  const looks = [
    ["backup", join(home.folder, "b.tar")],
    ["user", "list"],
    ["user", "link", "ada"],
    ["log", "c"],
  ];
  for (const words of [...looks, ["approvals"], ["model"]])
    assert.deepEqual(await home.start(...words, "--data", typo).ended, { code: 3, output: "", errors });
  assert.deepEqual(readdirSync(home.folder), []);
  const zh = await home.start("backup", "b.tar", "--lang", "zh").ended;
  const missing = saidOf("data_missing", { path: join(home.folder, "data") }, "zh");
  assert.ok(zh.errors.startsWith(`✗ ${missing}`), "a backup also without --data");
});

test("a data directory that cannot be made is refused at once, also below /proc [P2]", async (t) => {
  const home = makeHome(t);
  const errors =
    "✗ The folder /proc/x/y cannot be made or used. Choose another with --data, or let this user write there.\n";
  for (const words of [
    ["serve", "--port", "0"],
    ["run", "hello"],
    ["restore", join(home.folder, "b.tar")],
  ])
    assert.deepEqual(await home.start(...words, "--data", "/proc/x/y").ended, { code: 3, output: "", errors });
  const zh = await home.start("serve", "--data", "/proc/x/y", "--lang", "zh").ended;
  const unusable = saidOf("data_unusable", { path: "/proc/x/y" }, "zh");
  assert.equal(zh.errors, `✗ ${unusable}请用 --data 指定其他目录，或为当前用户加上写权限。\n`);
});

test("the commands that are suggested run as they stand and act on the same data [P2]", async (t) => {
  const home = makeHome(t);
  const data = join(home.folder, "my data");
  const refused = await home.start("serve", "--host", "0.0.0.0", "--port", "0", "--data", data).ended;
  const [, suggested = ""] = /Add one first: (.*) NAME\. /.exec(refused.errors) ?? [];
  assert.equal(suggested, `${typedHere} --data '${data}' user add`);
  const shell = spawnSync("sh", ["-c", `${suggested} ada </dev/null`], { encoding: "utf8", cwd: home.folder });
  assert.match(shell.stdout, /^✓ User ada added\./, shell.stderr);
  const server = home.start("serve", "--host", "0.0.0.0", "--port", "0", "--data", data);
  const [, address = ""] = await server.until("output", /listens on (\S+) and all other addresses[\s\S]*Ctrl\+C/);
  assert.match(server.written.output, /^Terminal: node .* --data '.*my data' \(/m);
  assert.doesNotMatch(server.written.output, /0\.0\.0\.0/);
  const link = await home.start("user", "link", "ada", "--data", data).ended;
  assert.ok(link.output.startsWith(`${address}/sign-in?`), link.output);
  assert.equal((await fetch(`${address}/api/v1/health`)).status, 200);
});

test("an address that cannot be listened on is said to be that, not a port that is taken [P2][P4]", async (t) => {
  const home = makeHome(t);
  assert.equal((await home.start("user", "add", "ada").ended).code, 0);
  const tried = async (host: string) => (await home.start("serve", "--host", host, "--port", "7420").ended).errors;
  assert.equal(
    await tried("192.0.2.99"),
    "✗ 192.0.2.99:7420 cannot be listened on: this machine has no such address. Use --host 127.0.0.1 for this machine alone, or --host 0.0.0.0 for all its addresses.\n",
  );
  assert.equal(
    await tried("nowhere.invalid"),
    "✗ nowhere.invalid:7420 cannot be listened on: this name is not known. Check --host: it takes an address or a name of this machine.\n",
  );
  if (!existsSync("/proc/net/if_inet6")) return;
  // Such an address is one of a card of the network, which it does not name.
  const [host, port] = ["fe80::1", 7420];
  const said = "listen EINVAL: invalid argument fe80::1:7420";
  const other = await tried(host);
  assert.ok(other.startsWith(`✗ ${saidOf("address_unusable", { host, port, why: "other", said })} `), other);
});

test("a backup whose folder is missing or closed ends with one line, and what is no backup is said to be none [Q3][P2]", async (t) => {
  const home = makeHome(t);
  await home.start("run", "hello").ended;
  const missing = await home.start("backup", join(home.folder, "no", "dir", "x.tar")).ended;
  assert.deepEqual(
    [missing.code, missing.errors],
    [
      1,
      "✗ The backup was not made: the folder does not exist. Nothing was left behind. Make it, or name another folder. Then try again.\n",
    ],
  );
  const restored = async (file: string) => (await home.start("restore", file, "--data", "new").ended).errors;
  assert.match(await restored("nope.tar"), /^✗ This backup cannot be used: there is no such file\./);
  const readme = join(import.meta.dirname, "..", "..", "README.md");
  assert.match(await restored(readme), /^✗ This backup cannot be used: it is no backup of AgentYard\./);
  assert.equal(existsSync(join(home.folder, "new")), false);
});

test("without the rights for it, a closed folder and a low port are told in one line each [Q3][P2]", async (t) => {
  const home = makeHome(t);
  await home.start("run", "hello").ended;
  const closed = join(home.folder, "closed");
  mkdirSync(closed, { mode: 0o000 });
  assert.deepEqual(weakly(home.folder, "backup", join(closed, "b.tar")), {
    code: 1,
    errors:
      "✗ The backup was not made: the place may not be written to. Nothing was left behind. Let this user write there, or choose another place. Then try again.\n",
  });
  if (readFileSync("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8").trim() !== "1024") return;
  const low = saidOf("address_unusable", { host: "127.0.0.1", port: 80, why: "needs_root" });
  assert.deepEqual(weakly(home.folder, "serve", "--port", "80"), {
    code: 1,
    errors: `✗ ${low} Choose a higher port with --port, and let a proxy pass the low one on.\n`,
  });
});

/** Root without what makes it so: it may not go everywhere, nor take low ports. */
function weakly(folder: string, ...words: string[]): { code: number | null; errors: string } {
  const caps = "-dac_override,-dac_read_search,-net_bind_service";
  const under = process.getuid?.() === 0 ? ["setpriv", `--bounding-set=${caps}`, `--inh-caps=${caps}`, "--"] : [];
  const [command = "", ...args] = [...under, process.execPath, agentyard, ...words];
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: folder, TMPDIR: folder, AGENTYARD_DATA: join(folder, "data"), LANG: "C.UTF-8" };
  const { status: code, stderr: errors } = spawnSync(command, args, {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: 120_000,
  });
  return { code, errors };
}
