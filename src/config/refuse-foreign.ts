import type { Places } from "./places.ts";
import type { Found, Reader } from "./reader.ts";
import type { Setting } from "./settings.ts";
import type { Given } from "./sources.ts";

/** Somebody else's folder must not decide where the user's data lies, who may call the server, whom tools and programs reach. */
export function refuseForeign(
  reader: Reader,
  { projectFile, envFile, userFile }: Places,
  group: keyof typeof foreignFaults,
): void {
  const foreign = [projectFile.shown, envFile.shown];
  for (const { setting, origin } of reader.readings) {
    const [, file = "", line = ""] = /^(.*):(\d+)$/.exec(origin) ?? [];
    const { key } = setting;
    if (!foreign.includes(file) || key === undefined || !key.startsWith(group)) continue;
    const place = { file, line: Number(line) };
    reader.problems.push({ fault: foreignFaults[group], name: key, userFile: userFile.shown, place });
  }
}

const foreignFaults = {
  data: "opens_data",
  session_db_path: "opens_data",
  files_dir: "opens_data",
  "logs.dir": "opens_data",
  "server.": "opens_server",
  "web.": "opens_web",
  "budgets.": "opens_budget",
  prices: "opens_budget",
  "sandbox.provider": "opens_sandbox",
  "sandbox.docker_": "opens_sandbox",
  "sandbox.kubernetes_": "opens_sandbox",
  "sandbox.host": "opens_sandbox",
  "sandbox.network_": "opens_sandbox",
  "sandbox.package_index": "opens_sandbox",
  "sandbox.npm_registry": "opens_sandbox",
} as const;

/**
 * The value, unless somebody else's folder gives it. For what is mostly meant for other programs there, or is nobody's
 * business but the user's: it is passed over, and `onForeign` hears of it.
 */
export function findOwn<T>(
  reader: Reader,
  setting: Setting<T>,
  { isTrusted, projectFile, envFile }: Places,
  onForeign?: (given: Given) => void,
): Found<T> | undefined {
  return reader.find(setting, (given) => {
    const file = given.place?.file;
    const isForeign = !isTrusted && (file === projectFile.shown || file === envFile.shown);
    if (isForeign) onForeign?.(given);
    return isForeign;
  });
}
