import { spawn } from "node:child_process";

type Surroundings = { readonly platform: string; readonly env: Readonly<Record<string, string | undefined>> };

/** What opens an address or a file for a person at this machine; undefined where nobody sits before it, or nobody wants it. */
export function browserCommand({ platform, env }: Surroundings): readonly string[] | undefined {
  if (env.CI || env.SSH_CONNECTION || env.SSH_TTY || env.BROWSER === "none") return undefined;
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open"] : undefined;
}

/** Opens an address or a file there; false where that cannot be done. */
export function openAtScreen(what: string, surroundings: Surroundings): Promise<boolean> {
  const [program, ...parameters] = browserCommand(surroundings) ?? [];
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [...parameters, what], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
