// `npm run build`: what is published beside the files of the clone, into `dist/`, and NOTICE. `npm run build FOLDER` writes
// the whole package there. `npm pack` builds as well: in between its two steps the clone has the manifest of the package.
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { publishedManifest, writeMade, writePackage } from "./build/package.ts";
import { writeTypings } from "./build/typings.ts";

const root = join(import.meta.dirname, "..");
const manifest = join(root, "package.json");
/** Neither packed nor in the repository. */
const keptManifest = join(root, ".package-of-the-clone.json");

const [what] = process.argv.slice(2);
switch (what) {
  case undefined:
    await build();
    break;
  case "--prepack": {
    await build();
    const published = publishedManifest(root);
    renameSync(manifest, keptManifest);
    writeFileSync(manifest, published);
    break;
  }
  case "--postpack":
    if (existsSync(keptManifest)) renameSync(keptManifest, manifest);
    break;
  default: {
    const folder = resolve(what);
    rmSync(join(folder, "dist"), { recursive: true, force: true });
    await writePackage(root, folder);
    await writeTypings(root, folder);
  }
}

async function build(): Promise<void> {
  await writeMade(root, root);
  await writeTypings(root, root);
}
