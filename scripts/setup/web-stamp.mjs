import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));
/** Of the finished folder: what it was built from. */
export const stampFile = "stamp.txt";

/** What the browser app is made of. */
const SOURCES = [
  "web",
  ...["src/client", "src/protocol", "src/words", "src/base"],
  ...["package-lock.json", "scripts/build-web.mjs"],
];

/** Size and time of each file: to read them all would take longer than a start may. */
export function webStamp() {
  return SOURCES.flatMap((source) => linesOf(source)).join("\n");
}

export function isWebBuilt() {
  const file = join(root, "dist-web", stampFile);
  return existsSync(file) && readFileSync(file, "utf8") === webStamp();
}

function linesOf(path) {
  const found = lstatSync(join(root, path), { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [`${path} ${found.size} ${Math.round(found.mtimeMs)}`];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => linesOf(`${path}/${name}`));
}
