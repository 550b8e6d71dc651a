import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemIds } from "../../src/base/ids.ts";
import { SandboxSession } from "../../src/protocol/sandbox-resources.ts";
import { openSandbox } from "../../src/sandbox/sandbox.ts";
import { wordsFor } from "../../src/words/words.ts";
import { servePackages, serveRegistry } from "../world/package-index.ts";
import { cannotStart, openProvider } from "./sandbox-guests.ts";
import { type Door, openDoor, type Reply } from "./sandbox-http.ts";

// Packages for the programs of a session, from an index that the test serves, through the real door into real guests.

const hasPip = existsSync("/usr/lib/python3/dist-packages/pip");
const options = { skip: cannotStart || (!hasPip && "pip is not here") };
const index = await servePackages({ after }, [
  { name: "greeter", version: "1.0", code: "def hi(): return 'hi 1'" },
  { name: "greeter", version: "2.0", code: "def hi(): return 'hi 2'" },
  { name: "polite", version: "1.0", code: "import greeter\ndef hi(): return greeter.hi() + '!'", needs: ["greeter<2"] },
]);
const host = `mirror.test:${index.port}`;
const url = `http://${host}/simple`;

async function doorWith(network: {
  packageIndex?: string;
  npmRegistry?: string;
  privateHosts?: string[];
}): Promise<Door> {
  const base = mkdtempSync(join(tmpdir(), "agentyard-packages-"));
  after(() => rmSync(base, { recursive: true, force: true }));
  const provider = openProvider();
  after(() => provider.close());
  return openDoor({
    openSandbox: ({ config, storage, clock, logger }) =>
      openSandbox({
        ...{ provider, storage, clock, logger, ids: systemIds, words: wordsFor("en"), settings: config.sandbox },
        network: { hosts: [], privateHosts: [host], packageIndex: undefined, npmRegistry: undefined, ...network },
        packagesDir: base,
        lookup: async (name) => (name.endsWith(".test") ? ["127.0.0.1"] : []),
      }),
  });
}

const door = cannotStart ? undefined : await doorWith({ packageIndex: url });
after(() => door?.[Symbol.asyncDispose]());

function theDoor(): Door {
  assert.ok(door);
  return door;
}

function session({ status, body }: Reply): SandboxSession {
  assert.ok(status === 200 || status === 201, JSON.stringify(body));
  return SandboxSession.parse(body);
}

const install = (id: string, body: object) => theDoor().post(`/sessions/${id}/dependencies/install`, body);

test(
  "a package is there for the next program, also in a Python that was running before, and so is what it needs [X5][X2]",
  options,
  async () => {
    await theDoor().post("/sessions", { id: "sess-one", user_id: "one", template_id: "python-basic" });
    const before = await theDoor().run("x = 41\nimport greeter", { user_id: "one" }, "sess-one");
    assert.match(before.stderr, /ModuleNotFoundError: No module named 'greeter'/);
    const made = session(
      await install("sess-one", { dependencies: [{ name: "polite" }], python_package_index_url: `${url}/` }),
    );
    const { requested_dependencies: asked, installed_dependencies: there, dependency_install_status: how } = made;
    assert.deepEqual(
      [how, asked, there.map(({ name, version }) => `${name} ${version}`), made.dependency_install_error],
      ["completed", [{ name: "polite" }], ["greeter 1.0", "polite 1.0"], null],
    );
    const ran = await theDoor().run("import polite\nprint(polite.hi(), x + 1)", { user_id: "one" }, "sess-one");
    assert.deepEqual([ran.stdout, ran.stderr], ["hi 1! 42\n", ""]);
    const bash = await theDoor().run(
      'python3 -c "import greeter; print(greeter.hi())"',
      { user_id: "one", language: "shell" },
      "sess-one",
    );
    assert.equal(bash.stdout, "hi 1\n");
    // Its programs run as another user of this machine.
    const conversation = await theDoor().post("/conversations", {}, { headers: { "x-account-id": "one" } });
    const wherever = { user_id: "one", conversation_id: conversation.body.id };
    assert.equal((await theDoor().run("import polite\nprint(polite.hi())", wherever, "sess-one")).stdout, "hi 1!\n");
    // Programs only read it, and the index is not theirs to reach.
    const wanted = `
import os, urllib.request
try:
    open(os.environ["PYTHONPATH"] + "/evil.py", "w")
except OSError as error:
    print(error.strerror)
print("HTTP_PROXY" in os.environ)
`;
    assert.equal(
      (await theDoor().run(wanted, { user_id: "one" }, "sess-one")).stdout,
      "Read-only file system\nFalse\n",
    );
    assert.deepEqual(session(await theDoor().get("/sessions/sess-one")).installed_dependencies, there);
  },
);

test(
  "what does not fit together is refused and changes nothing; whoever allows it gets the last one [X5][X2]",
  options,
  async () => {
    // On top of what the test before has installed.
    const clash = { dependencies: [{ name: "greeter", version: ">=2" }] };
    const refused = await install("sess-one", clash);
    assert.deepEqual([refused.status, refused.body.code], [400, "packages_failed"]);
    assert.match(String(refused.body.detail), /conflict/i);
    const shown = session(await theDoor().get("/sessions/sess-one"));
    assert.deepEqual(
      [shown.dependency_install_status, shown.installed_dependencies.map(({ version }) => version)],
      ["failed", ["1.0", "1.0"]],
    );
    assert.match(shown.dependency_install_error ?? "", /conflict/i);
    const run = () => theDoor().run("import polite\nprint(polite.hi())", { user_id: "one" }, "sess-one");
    assert.equal((await run()).stdout, "hi 1!\n");
    const allowed = session(await install("sess-one", { ...clash, allow_version_conflicts: true }));
    assert.deepEqual(
      allowed.installed_dependencies.map(({ name, version }) => `${name} ${version}`),
      ["greeter 2.0", "polite 1.0"],
    );
  },
);

test(
  "packages of one user are not there for another, and not for a session that is made anew [X5][S7]",
  options,
  async () => {
    const wanted = { id: "sess-three", user_id: "three", dependencies: [{ name: "greeter", version: "2.0" }] };
    const made = await theDoor().post("/sessions", wanted);
    assert.deepEqual([made.status, session(made).dependency_install_status], [201, "completed"]);
    const code = "import greeter\nprint(greeter.hi())";
    assert.equal((await theDoor().run(code, { user_id: "three" }, "sess-three")).stdout, "hi 2\n");
    assert.match((await theDoor().run(code, { user_id: "four" }, "sess-four")).stderr, /No module named 'greeter'/);
    await theDoor().remove("/sessions/sess-three");
    const again = session(await theDoor().post("/sessions", { id: "sess-three", user_id: "three" }));
    assert.deepEqual([again.requested_dependencies, again.installed_dependencies], [[], []]);
    assert.match((await theDoor().run(code, { user_id: "three" }, "sess-three")).stderr, /No module named 'greeter'/);
  },
);

test("names are names: no address, no path, no option, no version glued to them [X5][X2]", options, async () => {
  await theDoor().post("/sessions", { id: "sess-seven", user_id: "seven", template_id: "python-basic" });
  const names = [
    "../x",
    "a..b",
    "https://evil.test/x.whl",
    "greeter==1",
    "-r",
    "git+ssh://x",
    "a b",
    "",
    "greeter[x]",
    "/etc",
  ];
  const versions = ["1 --index-url", "1.0\n-r x", "1;os", "@ http://x", "-e .", "--pre"];
  const asked = [...names.map((name) => ({ name })), ...versions.map((version) => ({ name: "greeter", version }))];
  const before = index.asked.length;
  for (const one of asked) {
    const { status, body } = await install("sess-seven", { dependencies: [one] });
    assert.deepEqual([one, status, body.code], [one, 400, "bad_request"]);
  }
  const many = Array.from({ length: 51 }, (_, count) => ({ name: `a${count}` }));
  for (const body of [
    { dependencies: many },
    { dependencies: [] },
    { dependencies: [{ name: "greeter" }], install_timeout: 29 },
  ])
    assert.equal((await install("sess-seven", body)).status, 400);
  const other = await install("sess-seven", {
    dependencies: [{ name: "greeter" }],
    python_package_index_url: "https://evil.test/simple",
  });
  assert.deepEqual([other.status, other.body.code], [422, "package_index_refused"]);
  const npm = await install("sess-seven", { dependencies: [{ name: "@scope/left" }], package_manager: "npm" });
  assert.deepEqual([npm.status, npm.body.code], [403, "packages_not_configured"]);
  assert.match(String(npm.body.detail), /sandbox\.npm_registry/);
  assert.equal(index.asked.length, before);
});

test(
  "an index at a private address that nobody allowed is not reached, and the answer names the setting [X5]",
  options,
  async () => {
    await using other = await doorWith({ packageIndex: url, privateHosts: [] });
    await other.post("/sessions", { id: "sess-one", user_id: "one", template_id: "python-basic" });
    const before = index.asked.length;
    const refused = await other.post("/sessions/sess-one/dependencies/install", {
      dependencies: [{ name: "greeter" }],
    });
    assert.deepEqual([refused.status, refused.body.code, index.asked.length], [400, "packages_failed", before]);
    assert.match(String(refused.body.detail), /sandbox\.network_private_hosts/);
  },
);

test(
  "packages of npm are there for scripts that require them, or the answer says that npm is missing [X5]",
  options,
  async () => {
    const port = await serveRegistry({ after }, { name: "@yard/left", version: "1.2.3", code: "exports.left = 42;" });
    const registry = `registry.test:${port}`;
    await using other = await doorWith({ npmRegistry: `http://${registry}`, privateHosts: [registry] });
    await other.post("/sessions", { id: "sess-npm", user_id: "npm", template_id: "python-basic" });
    const wanted = { dependencies: [{ name: "@yard/left", version: "^1.0.0" }], package_manager: "npm" };
    const installed = await other.post("/sessions/sess-npm/dependencies/install", wanted);
    if (!existsSync("/usr/bin/npm")) {
      assert.deepEqual([installed.status, installed.body.code], [503, "installer_missing"]);
      return;
    }
    const [there] = session(installed).installed_dependencies;
    assert.deepEqual([there?.name, there?.version, there?.package_manager], ["@yard/left", "1.2.3", "npm"]);
    const ran = await other.run(
      'console.log(require("@yard/left").left)',
      { user_id: "npm", language: "javascript" },
      "sess-npm",
    );
    assert.deepEqual([ran.stdout, ran.stderr], ["42\n", ""]);
  },
);

test("a program that looks for a network in vain is told at once how one can be had [X5]", options, async () => {
  const ran = await theDoor().run(
    "import urllib.request\nurllib.request.urlopen('https://pypi.org/')",
    { user_id: "off" },
    "sess-off",
  );
  assert.equal(ran.status, "failed");
  assert.match(ran.error_message ?? "", /Name or service not known.*sandbox\.network_hosts/);
});
