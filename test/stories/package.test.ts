import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { moved } from "../../scripts/build/bundle.ts";
import { writePackage } from "../../scripts/build/package.ts";
import { findForbiddenLicences } from "../../scripts/licences.ts";
import { fake } from "../world/clone.ts";

// What is published, as a stranger gets it: packed by npm in a clone, installed in an empty folder, started under an old Node.

const root = join(import.meta.dirname, "..", "..");
const version = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).version;
const packedBytesMax = 8_000_000;
const unpackedBytesMax = 24_000_000;

type Packed = {
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
};

const place = mkdtempSync(join(tmpdir(), "package-"));
const [clone, project] = [join(place, "clone"), join(place, "project")];
const installed = join(project, "node_modules", "agentyard");
const { PATH = "" } = process.env;
const env = { PATH, HOME: place, TMPDIR: place, LANG: "C.UTF-8", AGENTYARD_SETUP: "none" };
let packed: Packed;

before(() => {
  const folders = ["bin", "config", "skills", "tools", "scripts", "src", "web", "dist-web"];
  const files = "package.json package-lock.json .npmrc CHANGELOG.md LICENSE README.md README.zh-CN.md".split(" ");
  // With its times the browser app is known to be that of its sources, and is not built again.
  for (const part of [...folders, ...files])
    cpSync(join(root, part), join(clone, part), { recursive: true, preserveTimestamps: true });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  const done = run(clone, "npm", "pack", "--json", "--silent", "--pack-destination", place);
  assert.equal(done.status, 0, done.stderr + done.stdout);
  [packed] = JSON.parse(done.stdout.slice(done.stdout.indexOf("[\n")));
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), "{}");
  const offline = ["--offline", "--omit=optional", "--no-audit", "--no-fund"];
  const install = run(project, "npm", "install", ...offline, join(place, packed.filename));
  assert.equal(install.status, 0, install.stderr);
});
after(() => rmSync(place, { recursive: true, force: true }));

function run(cwd: string, program: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(program, args, { cwd, env, encoding: "utf8", timeout: 600_000 });
}

const oldNode = `data:text/javascript,${encodeURIComponent(fake("versions", '{ ...process.versions, node: "20.1.0" }'))}`;
/** The command as npm links it, begun by a Node that is too old. */
const command = ["--import", oldNode, join(project, "node_modules", ".bin", "agentyard")];

function agentyard(...words: string[]): SpawnSyncReturns<string> {
  return run(project, process.execPath, ...command, ...words);
}

test("packed in another place and at another time it is the same to the byte [P1]", async () => {
  const elsewhere = process.env.AGENTYARD_TESTED_PACKAGE ?? join(place, "elsewhere");
  if (!existsSync(elsewhere)) await writePackage(root, elsewhere);
  // Types are made for publishing alone.
  const files = packed.files.filter(({ path }) => !path.startsWith("dist/types/"));
  const differing = files.filter(
    ({ path }) => !readFileSync(join(installed, path)).equals(readFileSync(join(elsewhere, path))),
  );
  assert.deepEqual(differing, []);
  assert.ok(files.length > 50);
});

test("npm packs the bundle with what belongs to it, and nothing of the clone besides [P1][P2]", () => {
  const known = [
    /^(CHANGELOG\.md|LICENSE|NOTICE|README\.md|README\.zh-CN\.md|package\.json)$/,
    /^bin\/agentyard\.mjs$/,
    /^config\/\w+\.yaml$/,
    /^dist\/([\w-]+\.js|jschardet\.cjs|pdfium\.wasm|sbom\.cdx\.json)$/,
    /^dist\/completion\/(_agentyard|agentyard\.(bash|fish))$/,
    /^dist\/http\/docs\/page\.(css|mjs)$/,
    /^dist\/man\/(zh_CN\/man1\/)?agentyard\.1$/,
    /^dist\/sandbox\/(guest|local)\/\w+\.py$/,
    /^dist\/types\/(extend|approvals\/checker-definition|tools\/custom-tool)\.d\.ts$/,
    /^dist-web\/(index\.html|favicon\.svg|theme\.js)(\.br|\.gz)?$/,
    /^dist-web\/assets\/[\w.-]+\.(js|css|svg|csv|json|txt|woff2)(\.br|\.gz)?$/,
    /^scripts\/setup\/(own-node|words)\.mjs$/,
    /^skills\/[\w-]+\/(SKILL\.md|(scripts|references|assets)\/[\w.-]+|[\w.-]+)$/,
    /^tools\/examples\/count-words\.ts$/,
  ];
  const paths = packed.files.map(({ path }) => path);
  assert.deepEqual(
    paths.filter((path) => !known.some((form) => form.test(path))),
    [],
  );
  assert.deepEqual(
    known.filter((form) => !paths.some((path) => form.test(path))),
    [],
  );
  const threads = ["config-yaml", "documents-scan", "extract-threads-extract", "search", "storage-sqlite-copy"];
  for (const name of [...threads.map((thread) => `${thread}-worker`), "main", "extend"])
    assert.ok(paths.includes(`dist/${name}.js`), name);
  assert.ok(packed.size < packedBytesMax && packed.unpackedSize < unpackedBytesMax, JSON.stringify(packed.size));
  assert.deepEqual([packed.filename, 0o111], [`agentyard-${version}.tgz`, modeOf("bin/agentyard.mjs") & 0o111]);
});

function modeOf(path: string): number {
  return packed.files.find((file) => file.path === path)?.mode ?? 0;
}

test("the clone has its own manifest again, and the package one that installs a Node and nothing else [P1]", () => {
  const read = (folder: string) => readFileSync(join(folder, "package.json"), "utf8");
  assert.equal(read(clone), read(root));
  const { dependencies, devDependencies, scripts, optionalDependencies, ...manifest } = JSON.parse(read(installed));
  assert.deepEqual([dependencies, devDependencies, scripts], [undefined, undefined, undefined]);
  assert.deepEqual(optionalDependencies, JSON.parse(read(root)).optionalDependencies);
  assert.deepEqual([manifest.name, manifest.version, manifest.license], ["agentyard", version, "Apache-2.0"]);
});

test("under Node 20 the package goes on with the Node that it brings along: version, a turn, a server [P1][P2]", async () => {
  const missing = agentyard("doctor");
  assert.equal(missing.status, 1);
  assert.match(
    missing.stderr,
    /^AgentYard needs Node 24 or newer; this is v\d.*was not installed\.\nInstall the package again/,
  );
  bringNode();
  assert.equal(agentyard("--version").stdout, `agentyard ${version}\n`);
  const turn = agentyard("run", "--json", "hello");
  const { finish, answer, exit } = JSON.parse(turn.stdout || "{}");
  assert.deepEqual([finish, exit], ["done", { code: 0, reason: "done" }], turn.stderr);
  assert.match(answer, /^I am AgentYard's demo model/);

  const server = spawn(process.execPath, [...command, "serve", "--port", "0"], { cwd: project, env });
  try {
    const address = await new Promise<string>((resolve, reject) => {
      let said = "";
      for (const stream of [server.stdout, server.stderr])
        stream.setEncoding("utf8").on("data", (text: string) => {
          said += text;
          const [, found] = /listens on (http:\S+)/.exec(said) ?? [];
          if (found !== undefined) resolve(found);
        });
      server.on("close", () => reject(new Error(said)));
    });
    assert.equal((await fetch(`${address}/api/v1/health`)).status, 200);
    assert.match(await (await fetch(`${address}/docs/page.css`)).text(), /\{/);
    const [, script = ""] = /src="([^"]*assets[^"]+)"/.exec(await (await fetch(address)).text()) ?? [];
    assert.equal(
      (await fetch(new URL(script, `${address}/`))).headers.get("content-type"),
      "text/javascript; charset=utf-8",
    );
  } finally {
    const ended = new Promise((resolve) => server.once("close", resolve));
    server.kill("SIGTERM");
    await ended;
  }
});

/** As npm does where optional packages are not left out: into the folder beside the package. */
function bringNode(): void {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  for (const name of Object.keys(optionalDependencies)) {
    const path = join("node_modules", name);
    if (existsSync(join(root, path))) symlinkSync(join(root, path), join(project, path));
  }
}

test("tools of the project's own import agentyard/extend, with its types [P2][T1]", () => {
  cpSync(join(installed, "tools", "examples"), join(project, "tools"), { recursive: true });
  const listed = spawnSync(process.execPath, [join(installed, "bin", "agentyard.mjs"), "doctor", "--json"], {
    ...{ cwd: project, env: { ...env, AGENTYARD_CONFIG: project }, encoding: "utf8" },
  });
  assert.match(listed.stdout, /count_words/, listed.stderr);
  writeFileSync(
    join(project, "wrong.ts"),
    'import { defineTool } from "agentyard/extend";\nexport default defineTool({ name: 7, description: "", run: () => "" });\n',
  );
  const like = ["--ignoreConfig", "--noEmit", "--strict", "--module", "nodenext", "--types", "node"];
  const roots = ["--typeRoots", join(root, "node_modules", "@types")];
  const checked = run(
    project,
    join(root, "node_modules", ".bin", "tsc"),
    ...like,
    ...roots,
    "tools/count-words.ts",
    "wrong.ts",
  );
  assert.deepEqual(
    checked.stdout.split("\n").filter((line) => line.includes("error")),
    ["wrong.ts(2,29): error TS2322: Type 'number' is not assignable to type 'string'."],
  );
});

test("NOTICE and the bill of materials name every bundled package, each with a licence that is on the list [P1]", () => {
  const bill = JSON.parse(readFileSync(join(installed, "dist", "sbom.cdx.json"), "utf8"));
  assert.deepEqual([bill.bomFormat, bill.specVersion], ["CycloneDX", "1.6"]);
  assert.equal(bill.metadata.component.purl, `pkg:npm/agentyard@${version}`);
  type Component = {
    type: string;
    name: string;
    version: string;
    licenses: [{ license?: { id: string }; expression?: string }];
  };
  const components: Component[] = bill.components;
  const libraries = components.filter(({ type }) => type === "library");
  const licenceOf = ({ licenses: [{ license, expression }] }: Component) => license?.id ?? expression ?? "";
  const licences = components.map((part) => [part.name, { license: licenceOf(part) }]);
  assert.deepEqual(findForbiddenLicences(Object.fromEntries(licences)), []);
  const notice = readFileSync(join(installed, "NOTICE"), "utf8");
  const chapters = [...notice.matchAll(/^-{80}\n(.+)\n\n/gm)].map(([, title]) => title);
  assert.deepEqual(
    chapters,
    libraries.map((part) => `${part.name} ${part.version} (${licenceOf(part)})`),
  );
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const names = libraries.map(({ name }) => name);
  assert.deepEqual(
    [...Object.keys(dependencies), "react", "react-dom"].filter((name) => !names.includes(name)),
    [],
  );
});

test("a source file that finds something beside itself in a new way stops the build [P1]", () => {
  const text = 'const worker = new URL("./other.ts", import.meta.url);\n';
  assert.throws(
    () => moved({ path: "src/loop/loop.ts", text }),
    /^Error: src\/loop\/loop\.ts says where something lies/,
  );
});
