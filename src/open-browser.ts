import { spawn } from "node:child_process";

type Surroundings = { readonly platform: string; readonly env: Readonly<Record<string, string | undefined>> };

/** What opens an address for a person at this machine; undefined where nobody sits before it, or nobody wants it. */
export function browserCommand({ platform, env }: Surroundings): readonly string[] | undefined {
  if (env.CI || env.SSH_CONNECTION || env.SSH_TTY || env.BROWSER === "none") return undefined;
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open"] : undefined;
}

/** Opens it, where that can be done. The address stands on the screen as well: nothing is said where it does not work. */
export function openBrowser(url: string, surroundings: Surroundings): void {
  const [program, ...parameters] = browserCommand(surroundings) ?? [];
  if (program === undefined) return;
  const child = spawn(program, [...parameters, url], { stdio: "ignore", detached: true });
  child.on("error", () => {});
  child.unref();
}
