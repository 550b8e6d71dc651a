import { z } from "zod";
import { parsedJson } from "../base/json.ts";

/** A package as it is asked for; `version`: `1.2`, or with operators `>=1,<2`. */
export type Package = {
  readonly manager: PackageManager;
  readonly name: string;
  readonly version: string | undefined;
};
export type PackageManager = "pip" | "npm";
export type InstalledPackage = { readonly manager: PackageManager; readonly name: string; readonly version: string };

/** A program that installs for one manager into the folder it runs in, and one that tells what is there then. */
export type PackageProgram = {
  readonly install: string;
  /** One package a line, for its input. */
  readonly wanted: string;
  readonly list: string;
  readonly env: Readonly<Record<string, string>>;
  /** What `list` said; undefined when it makes no sense. */
  parse(said: string): readonly InstalledPackage[] | undefined;
};

/** How the programs say that there is nothing to install with. */
export const noInstaller = 97;

type Order = {
  readonly packages: readonly Package[];
  /** The index or registry. */
  readonly url: string;
  /** Each for itself, so that one may want what another does not. */
  readonly allowsConflicts: boolean;
};

export function packageProgram(manager: PackageManager, order: Order): PackageProgram {
  return manager === "pip" ? pipProgram(order) : npmProgram(order);
}

const scratch = 'mkdir -p .tmp && export TMPDIR="$PWD/.tmp"';
/** Other guests run as other users, who are to read and run all of it. */
const tidy = "rm -rf .tmp && chmod -R a+rX,go-w .";

function pipProgram({ packages, url, allowsConflicts }: Order): PackageProgram {
  const { protocol, host } = new URL(url);
  const pip = "/usr/bin/python3 -m pip install --target python --upgrade --no-cache-dir --progress-bar off -q";
  const each = `while IFS= read -r line; do ${pip} "$line" || exit 1; done`;
  return {
    install: `/usr/bin/python3 -m pip --version > /dev/null 2>&1 || exit ${noInstaller}
${scratch}
mkdir -p python
${allowsConflicts ? each : `${pip} -r /dev/stdin || exit 1`}
${tidy}`,
    wanted: lines(packages.map(({ name, version }) => `${name}${version === undefined ? "" : specifier(version)}`)),
    list: "/usr/bin/python3 -m pip list --path python --format json",
    env: {
      PIP_INDEX_URL: url,
      // Whoever configures an index without TLS has decided so.
      ...(protocol === "http:" ? { PIP_TRUSTED_HOST: host } : {}),
      // The system's own packages are not touched: those of the folder come first.
      PIP_IGNORE_INSTALLED: "1",
    },
    parse(said) {
      const parsed = z
        .array(z.object({ name: shortText, version: shortText }))
        .max(listedMax)
        .safeParse(parsedJson(said));
      return parsed.success ? parsed.data.map((found) => ({ manager: "pip", ...found })) : undefined;
    },
  };
}

/** Without an operator exactly this one is meant. */
function specifier(version: string): string {
  return /^[=<>!~]/.test(version) ? version : `==${version}`;
}

function npmProgram({ packages, url, allowsConflicts }: Order): PackageProgram {
  return {
    install: `command -v npm > /dev/null || exit ${noInstaller}
${scratch}
export npm_config_cache="$TMPDIR"
mapfile -t wanted
mkdir -p node
npm install --prefix node --no-audit --no-fund --loglevel error${allowsConflicts ? " --force" : ""} -- "\${wanted[@]}" || exit 1
${tidy}`,
    wanted: lines(packages.map(({ name, version }) => `${name}${version === undefined ? "" : `@${version}`}`)),
    list: "npm ls --prefix node --depth 0 --json",
    env: { npm_config_registry: url },
    parse(said) {
      const parsed = z
        .object({ dependencies: z.record(shortText, z.object({ version: shortText })).default({}) })
        .safeParse(parsedJson(said));
      if (!parsed.success) return undefined;
      const found = Object.entries(parsed.data.dependencies).slice(0, listedMax);
      return found.map(([name, { version }]) => ({ manager: "npm", name, version }));
    },
  };
}

const shortText = z.string().max(256);
const listedMax = 2000;

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}
