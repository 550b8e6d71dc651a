import assert from "node:assert/strict";
import { test } from "node:test";
import { packageProgram } from "./package-programs.ts";

const url = "https://mirror.test/simple";
const pip = (name: string, version?: string) => ({ manager: "pip", name, version }) as const;
const npm = (name: string, version?: string) => ({ manager: "npm", name, version }) as const;
const order = { packages: [], url, allowsConflicts: false };

test("a version without an operator is exactly that one, and one with an operator is as it is said [X5]", () => {
  const packages = [pip("a"), pip("b", "1.0"), ...["=1", "<2", ">=1,<2", "!=3", "~=4"].map((one) => pip("c", one))];
  assert.equal(
    packageProgram("pip", { ...order, packages }).wanted,
    ["a", "b==1.0", "c=1", "c<2", "c>=1,<2", "c!=3", "c~=4", ""].join("\n"),
  );
  const { wanted } = packageProgram("npm", { ...order, packages: [npm("@a/b"), npm("c", "^1.0.0")] });
  assert.equal(wanted, "@a/b\nc@^1.0.0\n");
});

test("packages come from the index that is set, without TLS only where it is set so, and the system's own stay as they are [X5]", () => {
  const envOf = (index: string) => packageProgram("pip", { ...order, url: index }).env;
  assert.deepEqual(
    [envOf(url), envOf("http://mirror.test:8080/simple")],
    [
      { PIP_INDEX_URL: url, PIP_IGNORE_INSTALLED: "1" },
      {
        ...{ PIP_INDEX_URL: "http://mirror.test:8080/simple", PIP_TRUSTED_HOST: "mirror.test:8080" },
        PIP_IGNORE_INSTALLED: "1",
      },
    ],
  );
  assert.deepEqual(packageProgram("npm", order).env, { npm_config_registry: url });
});

test("packages of npm that do not fit together are forced only where that is allowed [X5]", () => {
  const installs = [false, true].map((allowsConflicts) => packageProgram("npm", { ...order, allowsConflicts }).install);
  assert.deepEqual(
    installs.map((install) => install.includes("--force")),
    [false, true],
  );
});

test("who installs stops at the first package that cannot be had, and leaves what every program may read and none may change [X5]", () => {
  const linesOf = (manager: "pip" | "npm", allowsConflicts: boolean) =>
    packageProgram(manager, { ...order, allowsConflicts }).install.split("\n");
  const pipInstall = "/usr/bin/python3 -m pip install --target python --upgrade --no-cache-dir --progress-bar off -q";
  const [scratch, tidy] = ['mkdir -p .tmp && export TMPDIR="$PWD/.tmp"', "rm -rf .tmp && chmod -R a+rX,go-w ."];
  const pipLines = (install: string) => [
    ...["/usr/bin/python3 -m pip --version > /dev/null 2>&1 || exit 97", scratch, "mkdir -p python", install, tidy],
  ];
  assert.deepEqual(
    [linesOf("pip", false), linesOf("pip", true)],
    [
      pipLines(`${pipInstall} -r /dev/stdin || exit 1`),
      pipLines(`while IFS= read -r line; do ${pipInstall} "$line" || exit 1; done`),
    ],
  );
  const npmInstall = "npm install --prefix node --no-audit --no-fund --loglevel error";
  assert.deepEqual(linesOf("npm", false), [
    ...["command -v npm > /dev/null || exit 97", scratch, 'export npm_config_cache="$TMPDIR"', "mapfile -t wanted"],
    ...["mkdir -p node", `${npmInstall} -- "\${wanted[@]}" || exit 1`, tidy],
  ]);
});

test("what was installed is told by name and version, at most two thousand of them, and what makes no sense is nothing [X5][X4]", () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `p${index}`, version: "1" }));
  const parsedBy = (manager: "pip" | "npm", said: unknown) =>
    packageProgram(manager, order).parse(typeof said === "string" ? said : JSON.stringify(said));
  assert.deepEqual(parsedBy("pip", many(1)), [{ manager: "pip", name: "p0", version: "1" }]);
  assert.equal(parsedBy("pip", many(2000))?.length, 2000);
  for (const wrong of [many(2001), [{ name: "p" }], [{ name: "x".repeat(257), version: "1" }], {}, "{"])
    assert.equal(parsedBy("pip", wrong), undefined);
  const dependencies = (count: number) =>
    Object.fromEntries(many(count).map(({ name, version }) => [name, { version, resolved: "https://x" }]));
  assert.deepEqual(parsedBy("npm", { dependencies: dependencies(1) }), [{ manager: "npm", name: "p0", version: "1" }]);
  assert.equal(parsedBy("npm", { dependencies: dependencies(2001) })?.length, 2000);
  assert.deepEqual(
    [parsedBy("npm", {}), parsedBy("npm", "{"), parsedBy("npm", { dependencies: [] })],
    [[], undefined, undefined],
  );
});
