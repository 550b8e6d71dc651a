/** What everything is held against: a Python of the machine that starts, does this and ends. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

export const python = "/usr/bin/python3";
export const dataLibraries = "import pandas, matplotlib.pyplot";

/** matplotlib keeps its list of fonts below `folder`, as our guests have one. */
export function barePython(folder: string, code = "pass"): () => Promise<void> {
  const home = join(folder, "bare-home");
  mkdirSync(home, { recursive: true });
  const env = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8", HOME: home, MPLBACKEND: "Agg" };
  return () => ended(python, ["-c", code], env);
}

export function ended(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "ignore", env });
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))));
  });
}
