// Builds the browser app into dist-web/, where something of it has changed since: `node scripts/build-web.mjs`.
// Set-up and the tests of the browser call it, under AgentYard's own Node.
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { isWebBuilt, root, stampFile, webStamp } from "./setup/web-stamp.mjs";

/** What a browser gets packed; images are packed already. */
const PACKED = /\.(js|css|html|svg|json)$/;

/** Of the finished folder: the packages of which something is in it, for whoever passes it on with their licences. */
const packagesFile = "packages.json";

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildWeb();

/** Does nothing where all is as it was. The finished folder takes the place of the old one at once. */
export async function buildWeb() {
  if (isWebBuilt()) return;
  const stamp = webStamp();
  const made = join(root, `dist-web.${process.pid}`);
  const { build } = await import("vite");
  const { default: react } = await import("@vitejs/plugin-react");
  const packages = new Set();
  await build({
    configFile: false,
    root: join(root, "web"),
    base: "./",
    // Its warnings are about a script that is a file of its own on purpose.
    logLevel: "error",
    clearScreen: false,
    plugins: [react(), namePackages(packages)],
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: made,
      emptyOutDir: true,
      target: "es2023",
      // The polyfill would be a script inside the page, which its policy forbids.
      modulePreload: { polyfill: false },
      // Schemas ask at their making whether they may be compiled: what forbids it runs in one piece with their library.
      rolldownOptions: {
        output: { codeSplitting: { groups: [{ name: "schemas", test: /[\\/]zod[\\/]|before-schemas/ }] } },
      },
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      chunkSizeWarningLimit: 2000,
    },
  });
  for (const file of filesBelow(made)) pack(file);
  writeFileSync(join(made, packagesFile), JSON.stringify([...packages].sort()));
  writeFileSync(join(made, stampFile), stamp);
  const place = join(root, "dist-web");
  const old = join(root, `dist-web.${process.pid}.old`);
  if (existsSync(place)) renameSync(place, old);
  renameSync(made, place);
  rmSync(old, { recursive: true, force: true });
}

function namePackages(packages) {
  return {
    name: "name-packages",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((part) => Object.keys(part.modules ?? {}));
      for (const id of modules) {
        const [, folder] = /\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)/.exec(id) ?? [];
        if (folder !== undefined) packages.add(folder);
      }
    },
  };
}

function pack(file) {
  if (!PACKED.test(file)) return;
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

function filesBelow(folder) {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (lstatSync(path).isDirectory() ? filesBelow(path) : [path]));
}
