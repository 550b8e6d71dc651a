import { execFile } from "node:child_process";
import { lstatSync, readlinkSync } from "node:fs";
import { packagesFolder } from "../guest/environment.ts";

/** The bubblewrap of this machine and what it can do. */
export type Bwrap = {
  readonly path: string;
  readonly version: string;
  /** Binds a folder that is open, whatever its name is by then. */
  readonly hasBindFd: boolean;
  readonly hasDisableUserns: boolean;
  /** What we cannot do without and it does not know. */
  readonly lacking: readonly string[];
};

/**
 * The descriptors of a guest's first process, in the order of `spawn`'s stdio; what is handed in comes after them. Of a
 * guest with a network the first one is the socket that leads there.
 */
export const descriptors = { control: 3, seccomp: 4, status: 5, block: 6, args: 7, first: 8 };

/** Something of the host that is mounted: by an open descriptor of the child, or by its path. */
export type Source = { readonly fd: number } | { readonly path: string };

export type Plan = {
  /** Found again by `reap` in the arguments of bwrap and in the environment of the guest's first process. */
  readonly name: string;
  readonly workspace: PlannedWorkspace | undefined;
  /** Small files by their content, which bwrap reads from a descriptor. */
  readonly files: readonly { readonly fd: number; readonly inside: string }[];
  /** Programs that are not below `/usr`. */
  readonly programs: readonly { readonly source: Source; readonly inside: string }[];
  /** By their place inside, where they lead. */
  readonly links: Readonly<Record<string, string>>;
  readonly packages: Source | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly tmpBytesMax: number;
  readonly hasNetwork: boolean;
  readonly hasDisableUserns: boolean;
};

export type PlannedWorkspace = {
  readonly inside: string;
  readonly root: Source;
  /** Folders of a read-only root that can be written; a root without any can be written as a whole. */
  readonly writable: readonly { readonly name: string; readonly source: Source }[] | "all";
  readonly skills: Source | undefined;
  /** What the links in `skills` lead to. */
  readonly skillCopies: Source | undefined;
};

export const nameVariable = "AGENTYARD_GUEST";
/** What a guest's programs are, whoever runs them on the host. */
const guestUser = "1000";
const sharedMemoryBytesMax = 64 * 1024 * 1024;

/** What stands on bwrap's command line, where everybody on the host can read it: nothing but the name. */
export function visibleArguments(plan: Plan, command: readonly string[]): string[] {
  return ["--args", `${descriptors.args}`, "--setenv", nameVariable, plan.name, "--", ...command];
}

/** All other arguments, for `--args`. The order of the mounts matters: a later one lies on top of an earlier one. */
export function hiddenArguments(plan: Plan): string[] {
  return [
    ...isolation(plan),
    ...Object.entries(plan.env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...systemFolders(plan),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--perms", "1777", "--size", `${sharedMemoryBytesMax}`, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"],
    ...["--perms", "1777", "--size", `${plan.tmpBytesMax}`, "--tmpfs", "/tmp"],
    ...plan.files.flatMap(({ fd, inside }) => ["--perms", "0444", "--file", `${fd}`, inside]),
    ...plan.programs.flatMap(({ source, inside }) => bind("ro-bind", source, inside)),
    ...Object.entries(plan.links).flatMap(([inside, target]) => ["--symlink", target, inside]),
    ...(plan.packages === undefined ? [] : bind("ro-bind", plan.packages, packagesFolder)),
    ...(plan.workspace === undefined ? ["--dir", "/workspace"] : workspaceMounts(plan.workspace)),
    ...["--chdir", plan.workspace?.inside ?? "/tmp"],
    // Last: until here bwrap itself writes there.
    ...["--remount-ro", "/"],
  ];
}

function isolation({ hasDisableUserns }: Plan): string[] {
  const namespaces = ["user", "pid", "net", "ipc", "uts", "cgroup"].map((name) => `--unshare-${name}`);
  return [
    ...namespaces,
    ...(hasDisableUserns ? ["--disable-userns"] : []),
    // Started by root, bwrap would leave everything in.
    ...["--cap-drop", "ALL"],
    ...["--uid", guestUser, "--gid", guestUser, "--hostname", "sandbox"],
    ...["--clearenv", "--new-session", "--die-with-parent"],
    // bwrap's own first process could be looked into by those inside; ours closes itself.
    "--as-pid-1",
    ...["--seccomp", `${descriptors.seccomp}`],
    ...["--json-status-fd", `${descriptors.status}`, "--block-fd", `${descriptors.block}`],
  ];
}

/** `/usr`, the short names beside it as this machine has them, and the few files of `/etc` that programs look for. */
function systemFolders({ hasNetwork }: Plan): string[] {
  const short = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"].flatMap((name) => {
    const stat = lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (stat === undefined) return [];
    return stat.isSymbolicLink()
      ? ["--symlink", readlinkSync(`/${name}`), `/${name}`]
      : ["--ro-bind", `/${name}`, `/${name}`];
  });
  // numpy finds its BLAS by alternatives, matplotlib its settings by matplotlibrc.
  const settings = [
    "alternatives",
    "ld.so.cache",
    "fonts",
    "matplotlibrc",
    "localtime",
    ...(hasNetwork ? certificates : []),
  ];
  return [
    ...["--ro-bind", "/usr", "/usr"],
    ...short,
    ...settings.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
  ];
}

/** Whom this machine trusts, and no key. */
const certificates = ["ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/tls/certs", "pki/ca-trust/extracted"];

function workspaceMounts({ inside, root, writable, skills, skillCopies }: PlannedWorkspace): string[] {
  const folders = writable === "all" ? bind("bind", root, inside) : writableFolders(inside, root, writable);
  return [
    ...folders,
    ...(skills === undefined ? [] : bind("ro-bind", skills, `${inside}/skills`)),
    ...(skillCopies === undefined ? [] : bind("ro-bind", skillCopies, skillsFolder)),
  ];
}

/** Where the links in a conversation's `skills/` lead. */
const skillsFolder = "/skills";

function writableFolders(
  inside: string,
  root: Source,
  writable: readonly { readonly name: string; readonly source: Source }[],
): string[] {
  return [
    ...bind("ro-bind", root, inside),
    ...writable.flatMap(({ name, source }) => bind("bind", source, `${inside}/${name}`)),
    // Links and not mounts: a file can be moved from one name of a folder to the other.
    ...writable
      .filter(({ name }) => `/workspace/${name}` !== inside)
      .flatMap(({ name }) => ["--symlink", `${inside}/${name}`, `/workspace/${name}`]),
  ];
}

function bind(how: "bind" | "ro-bind", source: Source, inside: string): string[] {
  return "fd" in source ? [`--${how}-fd`, `${source.fd}`, inside] : [`--${how}`, source.path, inside];
}

/** Undefined: there is none at this path, or it does not run. */
export async function readBwrap(path: string): Promise<Bwrap | undefined> {
  const [version, help] = await Promise.all([output(path, "--version"), output(path, "--help")]);
  if (version === undefined || help === undefined) return undefined;
  const known = new Set(help.match(/--[a-z0-9-]+/g));
  return {
    path,
    version: version.replace(/^\D*/, "").trim(),
    hasBindFd: known.has("--bind-fd") && known.has("--ro-bind-fd"),
    hasDisableUserns: known.has("--disable-userns"),
    lacking: needed.filter((option) => !known.has(option)),
  };
}

const needed = [
  "--args",
  "--as-pid-1",
  "--block-fd",
  "--clearenv",
  "--json-status-fd",
  "--perms",
  "--seccomp",
  "--size",
];

function output(path: string, option: string): Promise<string | undefined> {
  const limits = { env: {}, timeout: 10_000, maxBuffer: 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(path, [option], limits, (error, stdout) => resolve(error === null ? stdout : undefined));
  });
}
