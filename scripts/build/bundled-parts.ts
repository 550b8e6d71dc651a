// What of others is in the package: NOTICE for people, a bill of materials (CycloneDX) for machines.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

type Lock = { readonly packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>> };
type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};
type Part = Manifest & {
  readonly integrity: string | undefined;
  /** Licences and notices as the package brings them. */
  readonly texts: readonly string[];
};

/** `folders`: the packages that were bundled, some of them perhaps twice. */
export function describeParts(root: string, folders: readonly string[]): { notice: string; billOfMaterials: string } {
  const own: Manifest = readJson(join(root, "package.json"));
  const lock: Lock = readJson(join(root, "package-lock.json"));
  const read = folders.map((folder) => readPart(folder, lock));
  const parts = [...new Map(read.map((part) => [purl(part), part])).values()].sort((a, b) =>
    purl(a) < purl(b) ? -1 : 1,
  );
  return {
    notice: noticeOf(own, parts),
    billOfMaterials: `${JSON.stringify(billOf(own, parts, lock), undefined, 2)}\n`,
  };
}

function readPart(folder: string, { packages }: Lock): Part {
  const manifest: Manifest = readJson(join(folder, "package.json"));
  const texts = readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").trim());
  // Where the packages lie does not matter: their place below the nearest folder of packages is the lock file's name.
  const locked = packages[folder.slice(folder.indexOf("node_modules/"))];
  return { ...manifest, integrity: locked?.integrity, texts };
}

function noticeOf({ name, version }: Manifest, parts: readonly Part[]): string {
  const head = `${name} ${version}\n\nThis package holds parts of the following packages, under their own licences.\n`;
  const rule = "-".repeat(80);
  const chapters = parts.map(({ name, version, license, texts }) =>
    [`${name} ${version} (${license})`, ...texts].join("\n\n"),
  );
  return `${head}\n${chapters.map((chapter) => `${rule}\n${chapter}\n`).join("\n")}`;
}

/** The same sources give the same bill: it has neither a time nor a number of its own. */
function billOf(own: Manifest, parts: readonly Part[], { packages }: Lock): object {
  const nodes = Object.keys(own.optionalDependencies ?? {}).map((name) => ({
    ...{ name, version: own.optionalDependencies?.[name] ?? "", license: "MIT" },
    integrity: packages[`node_modules/${name}`]?.integrity,
  }));
  const refs = new Map([...parts, ...nodes].map((part) => [part.name, purl(part)]));
  const dependsOn = (names: readonly string[]) => names.flatMap((name) => refs.get(name) ?? []).sort();
  return {
    ...{ bomFormat: "CycloneDX", specVersion: "1.6", version: 1 },
    metadata: { component: { ...component(own, "application"), "bom-ref": purl(own) } },
    components: [
      ...parts.map((part) => component(part, "library")),
      ...nodes.map((node) => ({ ...component(node, "platform"), scope: "optional" })),
    ],
    dependencies: [
      {
        ref: purl(own),
        dependsOn: dependsOn([...Object.keys(own.dependencies ?? {}), ...nodes.map(({ name }) => name)]),
      },
      ...parts.map((part) => ({ ref: purl(part), dependsOn: dependsOn(Object.keys(part.dependencies ?? {})) })),
    ],
  };
}

type Named = Pick<Manifest, "name" | "version" | "license"> & { readonly integrity?: string | undefined };

function component(part: Named, type: "application" | "library" | "platform"): object {
  const { name, version, license, integrity } = part;
  const [algorithm, digest] = integrity?.split("-") ?? [];
  return {
    ...{ type, "bom-ref": purl(part), name, version, purl: purl(part) },
    licenses: [/ (OR|AND) /.test(license) ? { expression: license } : { license: { id: license } }],
    ...(algorithm === "sha512" &&
      digest && { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] }),
  };
}

/** The package's name for all tools. */
function purl({ name, version }: Pick<Named, "name" | "version">): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8"));
}
