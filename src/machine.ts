import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Config } from "./config/config.ts";
import { type Environment, lookOf } from "./look.ts";
import { openAtScreen } from "./open-browser.ts";
import type { CommandParts, Machine, Streams, YardCommand } from "./terminal/terminal.ts";

type AtScreen = Pick<CommandParts, "color" | "hasKeys" | "rich" | "machine">;

/** How a chat looks: as it was asked for, as far as the terminal can; and what the machine before the person can do. */
export function atScreen(
  command: YardCommand,
  config: Config,
  { env, output }: { readonly env: Environment; readonly output: Streams["output"] },
): AtScreen {
  const surface = (command.name === "chat" ? command.surface : undefined) ?? config.terminal.surface;
  const dataDir = command.url === undefined ? config.paths.dataDir : undefined;
  return {
    ...lookOf({ surface, dataDir, env, isTerminal: output.isTTY === true }),
    machine: thisMachine({ env, examine: async (said) => (await import("./doctor.ts")).examineFor(config, said) }),
  };
}

/** What the machine of the person can do for a chat: open files, and start this program once more. */
function thisMachine(surroundings: { readonly env: Environment; readonly examine: Machine["examine"] }): Machine {
  const { env, examine } = surroundings;
  return { examine, open: (path) => openAtScreen(path, { platform: process.platform, env }), start: startProgram };
}

/** With the same Node and the same settings, and nothing of our terminal. */
function startProgram(args: readonly string[], onLine: (line: string) => void): ReturnType<Machine["start"]> {
  const script = process.argv[1] ?? "";
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  createInterface({ input: child.stdout }).on("line", onLine);
  child.once("error", () => resolve(undefined));
  child.once("close", (code) => resolve(code ?? undefined));
  return { kill: () => void child.kill("SIGKILL"), exited: promise };
}
