import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { until } from "./events.ts";

const root = join(import.meta.dirname, "..", "..");

/** A set-up that had nothing to do. */
export const quiet = { code: 0, signal: null, text: "" };

/** The packages of the system that the set-up looks for, each by the file that shows it. */
export const packages = {
  bubblewrap: "/usr/bin/bwrap",
  python3: "/usr/bin/python3",
  "python3-numpy": "/usr/lib/python3/dist-packages/numpy/__init__.py",
  "python3-pandas": "/usr/lib/python3/dist-packages/pandas/__init__.py",
  "python3-matplotlib": "/usr/lib/python3/dist-packages/matplotlib/__init__.py",
  "fonts-wqy-microhei": "/usr/share/fonts/truetype/wqy",
  "python3-openpyxl": "/usr/lib/python3/dist-packages/openpyxl/__init__.py",
  "python3-pypdf": "/usr/lib/python3/dist-packages/pypdf/__init__.py",
  "python3-reportlab": "/usr/lib/python3/dist-packages/reportlab/__init__.py",
  "poppler-utils": "/usr/bin/pdftotext",
  "poppler-data": "/usr/share/poppler/cMap",
  ripgrep: "/usr/bin/rg",
  tmux: "/usr/bin/tmux",
  "python3-pip": "/usr/lib/python3/dist-packages/pip/__init__.py",
  "developers-reference": "/usr/share/developers-reference/developers-reference.pdf",
  "debian-reference-zh-cn": "/usr/share/debian-reference/debian-reference.zh-cn.pdf",
  "chromium-headless-shell": "/usr/bin/chromium-headless-shell",
  postgresql: "/usr/lib/postgresql",
} as const;
export type PackageName = keyof typeof packages;
export const packageNames: readonly PackageName[] = Object.keys(packages).filter(isPackage);

function isPackage(name: string): name is PackageName {
  return Object.hasOwn(packages, name);
}

/** A module that makes the process believe it runs on another machine. */
export function fake(property: string, value: string): string {
  return `Object.defineProperty(process, "${property}", { value: ${value} });`;
}

/** What is below `/usr` is looked for in a folder of the test, so that no test sees or changes this machine. */
const otherSystem = `
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const { existsSync } = fs;
fs.existsSync = (path) => existsSync(String(path).startsWith("/usr/") ? process.env.FAKE_SYSTEM + path : path);
syncBuiltinESMExports();`;

/** A folder as git would clone it, with a double of npm that obeys FAKE_NPM, on a machine with all packages. */
export function makeClone(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "clone-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const path of ["scripts/setup.mjs", "scripts/setup", "bin", "package.json"])
    cpSync(join(root, path), join(folder, path), { recursive: true });
  writeFileSync(join(folder, "package-lock.json"), "{}");
  writeFileSync(join(folder, "npm-double.mjs"), npmDouble);
  const complete = makeSystem(join(folder, "complete"), packageNames);

  const start = (
    env: Record<string, string>,
    preloads: string[] = [],
    script = "scripts/setup.mjs",
    args: string[] = [],
  ) => {
    const imports = [otherSystem, ...preloads].flatMap((module) => [
      "--import",
      `data:text/javascript,${encodeURIComponent(module)}`,
    ]);
    const child = spawn(process.execPath, [...imports, join(folder, script), ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH, npm_execpath: join(folder, "npm-double.mjs"), FAKE_SYSTEM: complete, ...env },
    });
    return watch(child);
  };
  return {
    folder,
    start,
    setUp: (env: Record<string, string> = {}, preloads: string[] = []) => start(env, preloads).ended,
    run: (script: string, args: string[] = [], env = {}, preloads: string[] = []) =>
      start(env, preloads, script, args).ended,
    npmCalls: () => linesOf(join(folder, "npm-calls")),
    /** A machine with these packages only, whose `apt-get`, if it has one, does what it is told to do here. */
    makeMachine: (has: readonly PackageName[], apt?: AptBehaviour) => {
      const place = mkdtempSync(join(folder, "machine-"));
      const system = makeSystem(place, has);
      if (apt !== undefined) writeFileSync(join(place, "apt-get"), aptDouble(place, apt), { mode: 0o755 });
      return {
        env: { PATH: `${place}:/usr/bin`, FAKE_SYSTEM: system },
        aptCalls: () => linesOf(join(place, "apt-calls")),
        aptMayEnd: () => writeFileSync(join(place, "apt-may-end"), ""),
      };
    },
    leftovers: () => readdirSync(folder).filter((name) => name.startsWith(".setup-lock")),
    untilFile: (name: string) =>
      until(
        `${name} is written`,
        () => existsSync(join(folder, name)) && readFileSync(join(folder, name), "utf8") !== "",
      ),
  };
}

function makeSystem(place: string, has: readonly PackageName[]): string {
  for (const file of Object.values(packages)) mkdirSync(dirname(`${place}${file}`), { recursive: true });
  for (const name of has) writeFileSync(`${place}${packages[name]}`, "");
  return place;
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

function watch(child: ChildProcessWithoutNullStreams) {
  let text = "";
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      for (const listener of listeners) listener();
    });
  return {
    child,
    ended: new Promise<{ code: number | null; signal: NodeJS.Signals | null; text: string }>((resolve) =>
      child.on("close", (code, signal) => resolve({ code, signal, text })),
    ),
    says: (words: string) =>
      new Promise<void>((resolve) => {
        const look = () => text.includes(words) && resolve();
        listeners.add(look);
        look();
      }),
  };
}

type AptBehaviour = "installs" | "fails" | "has no lists" | "waits";

function aptDouble(place: string, behaviour: AptBehaviour): string {
  const cases = packageNames.map((name) => `${name}) : > ${place}${packages[name]};;`);
  const install = `for name in "$@"; do case "$name" in ${cases.join(" ")} esac; done`;
  const act = {
    installs: install,
    fails: 'echo "E: no network" >&2; exit 100',
    "has no lists": `case "$*" in *update) : > ${place}/lists;; *) test -e ${place}/lists || exit 100; ${install};; esac`,
    waits: `echo "Get:1 bubblewrap"; while test ! -e ${place}/apt-may-end; do /bin/sleep 0.02; done; ${install}`,
  }[behaviour];
  return `#!/bin/sh\necho "$@" >> ${place}/apt-calls\n${act}\n`;
}

const npmDouble = `
import { appendFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
appendFileSync("npm-calls", ["npm", ...process.argv.slice(2)].join(" ") + "\\n");
mkdirSync("node_modules/.bin", { recursive: true });
const order = process.env.FAKE_NPM ?? "installs";
if (order === "stumbles" && !existsSync("stumbled")) {
  writeFileSync("stumbled", "");
  console.error("npm error code ENOTEMPTY");
  process.exit(1);
}
if (order.startsWith("npm error")) {
  console.error(order);
  process.exit(1);
}
writeFileSync("npm-started", String(process.pid));
while (order === "hangs" || (order === "waits" && !existsSync("npm-may-end"))) await new Promise((go) => setTimeout(go, 10));
if (order === "cuts its Node off") {
  rmSync("node_modules/.bin/node", { force: true });
  writeFileSync("node_modules/.bin/node", "#!/bin/sh\\nkill -SEGV $$\\n", { mode: 0o755 });
}
if (!existsSync("node_modules/.bin/node")) symlinkSync(process.execPath, "node_modules/.bin/node");
writeFileSync("node_modules/.package-lock.json", "{}");
`;
