// src/ → one folder of JavaScript for Node: an entry for the command, one for what operators import, one for each thread,
// and chunks that are read when they are needed. All of them lie side by side, so that `import.meta` is the same place in
// every one; files that the code reads beside itself keep their path below it.
import { cpSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { basename, dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Metafile, type Plugin } from "esbuild";

/** The oldest Node that runs it, as bin/agentyard.mjs has it. */
const target = "node24";

const thread = /new Worker\(\s*new URL\("(\.\/[^"]+)\.ts", import\.meta\.url\)/g;
const latePackage = /createRequire\(import\.meta\.url\)\("([^"]+)"\)/g;
const packagedFile = /import\.meta\.resolve\("([^"]+)"\)/g;
const fileBeside = /new URL\(("[^"]+(?<!\.ts)"|`[^`]+`), import\.meta\.url\)/g;
const folderBeside = /import\.meta\.dirname/g;
/** Of a package that only who wants it installs: looked for from wherever we lie. */
const optionalPackage = /createRequire\(import\.meta\.url\);/g;

/** Node gives the names of an older package's exports beside its `default`; a chunk has the `default` alone. */
const importedLater = /\bawait import\("([^."][^"]*)"\)/g;
/** As a namespace it is cut down to what is used; the package's own `z` holds all of it, with forty languages. */
const schemas = 'import { z } from "zod";';

type Source = { readonly path: string; readonly text: string };

/** Writes it into `folder`; answers the folders of all packages of which something is in it. */
export async function bundle(root: string, folder: string): Promise<string[]> {
  const sources = readSources(root);
  const entries = ["src/main.ts", "src/extend.ts", ...sources.flatMap(threadsOf)];
  const shape = {
    ...({ absWorkingDir: root, bundle: true, outdir: folder, platform: "node", target, metafile: true } as const),
    // Their licences stand in NOTICE.
    ...({ legalComments: "none", logLevel: "warning" } as const),
    // Where packages really lie would be in the names of the chunks: whoever builds it again would get others.
    preserveSymlinks: true,
  };
  const main = await build({
    ...shape,
    entryPoints: Object.fromEntries(entries.map((path) => [outputName(path), path])),
    format: "esm",
    splitting: true,
    chunkNames: "chunk-[hash]",
    // Packages of the older kind ask for libraries of Node by a name that modules do not have.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module";const require = requireFrom(import.meta.url);',
    },
    plugins: [placesOf(root)],
  });
  const late = await build({
    ...shape,
    entryPoints: Object.fromEntries(sources.flatMap(latePackagesOf).map((name) => [fileOfPackage(name), name])),
    format: "cjs",
    outExtension: { ".js": ".cjs" },
  });
  // Python leaves `.pyc` beside what somebody has run.
  for (const file of globSync("src/**/*", { cwd: root, withFileTypes: true }))
    if (file.isFile() && !/\.(ts|pyc)$/.test(file.name)) copyBeside(join(file.parentPath, file.name), root, folder);
  const packaged = sources.flatMap(packagedFilesOf).map((specifier) => fileURLToPath(import.meta.resolve(specifier)));
  for (const file of packaged) cpSync(file, join(folder, basename(file)));
  const used = [main.metafile, late.metafile].flatMap(inputsOf).map((path) => resolve(root, path));
  return [
    ...new Set([...used, ...packaged].flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])),
  ].sort();
}

function inputsOf({ outputs }: Metafile): string[] {
  return Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
}

function readSources(root: string): Source[] {
  return globSync("src/**/*.ts", { cwd: root })
    .filter((path) => !/\.(?:test|testing)\.ts$/.test(path))
    .sort()
    .map((path) => ({ path: path.split(sep).join("/"), text: readFileSync(join(root, path), "utf8") }));
}

function threadsOf({ path, text }: Source): string[] {
  return [...text.matchAll(thread)].map(([, name = ""]) => threadAt(path, name));
}

function threadAt(path: string, name: string): string {
  return `${posix.join(posix.dirname(path), name)}.ts`;
}

function latePackagesOf({ text }: Source): string[] {
  return [...text.matchAll(latePackage)].map(([, name = ""]) => name);
}

function packagedFilesOf({ text }: Source): string[] {
  return [...text.matchAll(packagedFile)].map(([, specifier = ""]) => specifier);
}

/** `src/search/worker.ts` → `search-worker`. */
function outputName(path: string): string {
  return path
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .replaceAll("/", "-");
}

function fileOfPackage(name: string): string {
  return name.replace(/^@/, "").replaceAll("/", "-");
}

function copyBeside(file: string, root: string, folder: string): void {
  const to = join(folder, relative(join(root, "src"), file));
  mkdirSync(dirname(to), { recursive: true });
  cpSync(file, to);
}

/** Source files say where something lies by where they lie themselves; their code then lies elsewhere. */
function placesOf(root: string): Plugin {
  return {
    name: "places",
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const own = relative(root, path).split(sep).join("/");
        if (!own.startsWith("src/")) return undefined;
        return { contents: moved({ path: own, text: readFileSync(path, "utf8") }), loader: "ts" };
      });
    },
  };
}

/** A source file as it reads where its code will lie. */
export function moved({ path, text }: Source): string {
  const known = [thread, latePackage, packagedFile, fileBeside, folderBeside, optionalPackage];
  if (known.reduce((rest, form) => rest.replaceAll(form, ""), text).includes("import.meta"))
    throw new Error(`${path} says where something lies in a way that scripts/build/bundle.ts does not know`);
  const own = path.replace(/^src\//, "");
  return text
    .replaceAll(fileBeside, (_, name) => `new URL(${name}, new URL("${own}", import.meta.url))`)
    .replaceAll(folderBeside, `(import.meta.dirname + "/${posix.dirname(own)}")`)
    .replaceAll(packagedFile, (_, name) => `new URL("${posix.basename(name)}", import.meta.url).href`)
    .replaceAll(latePackage, (_, name) => `createRequire(import.meta.url)("./${fileOfPackage(name)}.cjs")`)
    .replaceAll(thread, (_, name) => `new Worker(new URL("${outputName(threadAt(path, name))}.js", import.meta.url)`)
    .replaceAll(importedLater, (all, name) => (isOfOlderKind(name) ? `(${all}).default` : all))
    .replace(schemas, 'import * as z from "zod";');
}

function isOfOlderKind(name: string): boolean {
  const file = fileURLToPath(import.meta.resolve(name));
  if (/\.[cm]js$/.test(file)) return file.endsWith(".cjs");
  const manifest = findPackageJSON(pathToFileURL(file)) ?? "";
  return JSON.parse(readFileSync(manifest, "utf8")).type !== "module";
}
