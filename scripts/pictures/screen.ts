import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Frame } from "./animated-svg.ts";

/** Looked at this often, a screen shows typing as typing. */
const frameMs = 90;
/** Some two minutes. */
const looksMax = 1300;

export type Screen = Disposable & {
  readonly folder: string;
  readonly frames: readonly Frame[];
  /** As a person does: letter by letter, then Enter after a moment. */
  line(text: string): Promise<void>;
  type(text: string): Promise<void>;
  until(pattern: RegExp): Promise<void>;
  pause(ms: number): Promise<void>;
  /** Ends what runs in the foreground, without a word. */
  kill(): void;
};

/** A shell in a real terminal (tmux), in a folder of its own; `setup` is typed before anybody looks. */
export async function openScreen(size: { columns: number; rows: number }, setup: string): Promise<Screen> {
  const folder = mkdtempSync(join(tmpdir(), "agentyard-picture-"));
  const tmux = (...words: string[]) =>
    execFileSync("tmux", ["-S", join(folder, ".tmux"), "-f", "/dev/null", ...words], { encoding: "utf8" });
  const data = join(folder, ".data");
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    AGENTYARD_DATA: data,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}='${value}'`);
  const command = `cd ${folder} && env -i ${variables.join(" ")} bash --norc`;
  tmux("new-session", "-d", "-x", `${size.columns}`, "-y", `${size.rows}`, command);
  const frames: Frame[] = [];
  const startedAt = performance.now();
  const look = () => {
    const lines = tmux("capture-pane", "-pe").split("\n").slice(0, size.rows);
    frames.push({ at: performance.now() - startedAt, lines });
    return stripVTControlCharacters(lines.join("\n"));
  };
  const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const type = async (text: string) => {
    for (const character of text) {
      tmux("send-keys", "-l", character === ";" ? "\\;" : character);
      await pause(frameMs / 2);
      look();
    }
  };
  tmux("send-keys", setup, "Enter");
  await pause(800);
  frames.length = 0;
  return {
    ...{ folder, frames, pause, type },
    async line(text) {
      await type(text);
      await pause(400);
      tmux("send-keys", "Enter");
      await pause(frameMs);
    },
    async until(pattern) {
      for (let looks = 0; looks < looksMax; looks += 1) {
        await pause(frameMs);
        if (pattern.test(look()) && looks > 3) return;
      }
      throw new Error(`the screen never showed ${pattern}:\n${look()}`);
    },
    kill() {
      const terminal = tmux("list-panes", "-F", "#{pane_tty}").trim().replace("/dev/", "");
      execFileSync("pkill", ["-KILL", "-t", terminal, "-f", "agentyard.mjs"]);
    },
    [Symbol.dispose]() {
      spawnSync("tmux", ["-S", join(folder, ".tmux"), "kill-server"]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
