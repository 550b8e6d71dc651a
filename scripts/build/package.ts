// The package as it is published: what of the clone goes into it as it is, what is made of the sources, and its manifest.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bundle } from "./bundle.ts";
import { describeParts } from "./bundled-parts.ts";
import { writeManuals } from "./manuals.ts";

/** What the program and its users read as it is. */
const taken = [
  ...["bin", "config", "dist-web", "skills", "tools", "scripts/setup/own-node.mjs", "scripts/setup/words.mjs"],
  ...["CHANGELOG.md", "LICENSE", "README.md", "README.zh-CN.md"],
];
/** What is made. npm takes its manifest, readme and licence without being told. */
const made = ["dist", "NOTICE"];

/** Writes the whole package into an empty folder. */
export async function writePackage(root: string, folder: string): Promise<void> {
  await writeMade(root, folder);
  for (const path of taken) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  }
  writeFileSync(join(folder, "package.json"), publishedManifest(root));
}

/** What was made before goes: a file that is no longer made must not be published. */
export async function writeMade(root: string, folder: string): Promise<void> {
  for (const path of made) rmSync(join(folder, path), { recursive: true, force: true });
  const dist = join(folder, "dist");
  const { notice, billOfMaterials } = describeParts(root, await bundle(root, dist));
  writeFileSync(join(folder, "NOTICE"), notice);
  writeFileSync(join(dist, "sbom.cdx.json"), billOfMaterials);
  // The browser app is made in the clone, and taken from there.
  const built = spawnSync(process.execPath, [join(root, "scripts", "build-web.mjs")], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`the browser app could not be built: ${built.stderr}`);
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
    ...{ bin, man: ["./dist/man/agentyard.1"], files: [...taken, ...made], optionalDependencies },
  };
  return `${JSON.stringify(published, undefined, 2)}\n`;
}

function readManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}
