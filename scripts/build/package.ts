// The package as it is published: what of the clone goes into it as it is, what is made of the sources, and its manifest.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bundle } from "./bundle.ts";
import { describeParts } from "./bundled-parts.ts";
import { writeManuals } from "./manuals.ts";

/** What the program and its users read as it is. */
const taken = [
  ...["bin", "config", "skills", "tools", "scripts/setup/own-node.mjs", "scripts/setup/words.mjs"],
  ...["CHANGELOG.md", "LICENSE", "README.md", "README.zh-CN.md"],
];
/** The browser app, as set-up has built it, without what only builders read. */
const web = ["dist-web", "!dist-web/packages.json", "!dist-web/stamp.txt"];
/** What is made. npm takes its manifest, readme and licence without being told. */
const made = ["dist", "NOTICE"];

/** Writes the whole package into an empty folder. */
export async function writePackage(root: string, folder: string): Promise<void> {
  await writeMade(root, folder);
  const without = web.filter((path) => path.startsWith("!")).map((path) => join(root, path.slice(1)));
  for (const path of [...taken, "dist-web"]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true, filter: (file) => !without.includes(file) });
  }
  writeFileSync(join(folder, "package.json"), publishedManifest(root));
}

/** What was made before goes: a file that is no longer made must not be published. */
export async function writeMade(root: string, folder: string): Promise<void> {
  for (const path of made) rmSync(join(folder, path), { recursive: true, force: true });
  const dist = join(folder, "dist");
  // The browser app is made in the clone, and taken from there.
  await promisify(execFile)(process.execPath, [join(root, "scripts", "build-web.mjs")]);
  const ofWeb: string[] = JSON.parse(readFileSync(join(root, "dist-web", "packages.json"), "utf8"));
  const packages = [...(await bundle(root, dist)), ...ofWeb.map((path) => join(root, path))];
  const { notice, billOfMaterials } = describeParts(root, packages);
  writeFileSync(join(folder, "NOTICE"), notice);
  writeFileSync(join(dist, "sbom.cdx.json"), billOfMaterials);
  writeManuals(dist, readManifest(root).version);
}

type Manifest = { readonly name: string; readonly version: string; readonly [key: string]: unknown };

/**
 * Of ours, without what only a clone needs. All libraries are bundled: the one thing that is installed with the package is a
 * Node of its own. Whoever publishes names the file that was packed; the clone itself stays private.
 */
export function publishedManifest(root: string): string {
  const { name, version, description, license, type, engines, bin, optionalDependencies } = readManifest(root);
  const published = {
    ...{ name, version, description, license, type, engines },
    exports: { "./extend": { types: "./dist/types/extend.d.ts", default: "./dist/extend.js" } },
    ...{ bin, man: ["./dist/man/agentyard.1"], files: [...taken, ...web, ...made], optionalDependencies },
  };
  return `${JSON.stringify(published, undefined, 2)}\n`;
}

function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}
