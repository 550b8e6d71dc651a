import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { fitsGuest, type GuestWanted } from "../provider.ts";

/** Where a guest without a workspace is at home. */
export const noWorkspace = "/tmp";

/** What every program inside finds, and nothing of the server's; what was asked for comes on top. */
export function guestEnvironment(wanted: Environment): Record<string, string> {
  const { workspace, limits, env } = wanted;
  const home = workspace?.inside ?? noWorkspace;
  // As many threads as there is processor time for: libraries would start one for each processor of the machine.
  const threads = `${Math.max(1, Math.ceil(limits.cpus))}`;
  return {
    PATH: `${programFolder}:/usr/local/bin:/usr/bin:/bin${wanted.packages === undefined ? "" : `:${installed}/python/bin`}`,
    LANG: "C.UTF-8",
    HOME: home,
    AGENT_WORKSPACE_PATH: home,
    OMP_NUM_THREADS: threads,
    OPENBLAS_NUM_THREADS: threads,
    ...caches,
    ...installers,
    ...(wanted.network === undefined ? {} : proxyVariables),
    ...acceptedEnvironment(env),
    ...(wanted.packages === undefined ? {} : packagesVariables(env)),
  };
}

/** Which folders must be where, by their places inside. */
export function marksInside({ workspace }: Pick<GuestWanted, "workspace">): Record<string, string> {
  const marks = Object.entries(workspace?.marks ?? {});
  return Object.fromEntries(marks.map(([name, mark]) => [join(workspace?.inside ?? "/", name), mark]));
}

type Environment = Pick<GuestWanted, "workspace" | "limits" | "env" | "network" | "packages">;

/** As `forward.py` has it. */
const proxy = "http://127.0.0.1:3128";
const notByProxy = "localhost,127.0.0.1,::1";

/** Where there is no network, it is the first try that tells. */
const installers = {
  ...{ PIP_RETRIES: "0", PIP_DISABLE_PIP_VERSION_CHECK: "1" },
  ...{ npm_config_fetch_retries: "0", npm_config_update_notifier: "false" },
};

/** Programs spell it either way. */
const proxyVariables = {
  ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: notByProxy },
  ...{ http_proxy: proxy, https_proxy: proxy, no_proxy: notByProxy },
  NODE_USE_ENV_PROXY: "1",
  // What is refused once is refused again: an answer now, and not after five tries.
  ...{ PIP_RETRIES: "1", PIP_NO_INPUT: "1", npm_config_fetch_retries: "1" },
};

/** Where a guest finds what was installed for it. */
export const packagesFolder = "/run/agentyard/packages";
/** A link that leads to what was installed last. */
const installed = `${packagesFolder}/current`;

/** What somebody chose comes first. */
function packagesVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  const after = (name: string, folder: string) => [env[name], `${installed}/${folder}`].filter(Boolean).join(":");
  return { PYTHONPATH: after("PYTHONPATH", "python"), NODE_PATH: after("NODE_PATH", "node/node_modules") };
}

/** Programs that are handed in by the host. They come first: `node` is the same one in a shell. */
export const programFolder = "/run/agentyard/bin";

export const matplotlibFolder = "/tmp/.cache/matplotlib";

/** A home can be read-only, and what programs keep for themselves is no file of the user's. */
const caches = {
  TMPDIR: "/tmp",
  XDG_CACHE_HOME: "/tmp/.cache",
  XDG_CONFIG_HOME: "/tmp/.config",
  MPLCONFIGDIR: matplotlibFolder,
  // Not another place for it: Python would look nowhere else, and compile the libraries of the machine anew.
  PYTHONDONTWRITEBYTECODE: "1",
  npm_config_cache: "/tmp/.cache/npm",
};

/** They would change what our own programs inside do, before the code that was asked for runs. */
const refused = /^(LD_.*|BASH_ENV|ENV|BASH_FUNC_.*|NODE_OPTIONS|PYTHON(HOME|STARTUP|INSPECT|BREAKPOINT))$/;

/** Variables that somebody else chose, without those that nobody may choose. */
export function acceptedEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  assert(fitsGuest(env), "variables for a guest are within their limit");
  return Object.fromEntries(Object.entries(env).filter(([name]) => !refused.test(name)));
}
