import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { until } from "./events.ts";
import { agentyard } from "./pty.ts";

/** Why the drawn terminal cannot be looked at here; false where it can. */
export const cannotDraw = hasTmux() ? false : "tmux is needed";

export type TmuxWindow = {
  /** What stands on the screen now. */
  screen(): Promise<string>;
  /** The same with what has left it at the top. */
  scrollback(): Promise<string>;
  /** Resolves with the screen as soon as it fits. */
  waitFor(pattern: RegExp): Promise<string>;
  type(text: string): Promise<void>;
  /** Keys by tmux's names: `Enter`, `Escape`, `C-c`, `M-Up`. */
  press(...keys: string[]): Promise<void>;
  /** As a terminal pastes: between its marks. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /** Column and row of the cursor, whether it is shown, and how many lines lie above the screen. */
  cursor(): Promise<{ column: number; row: number; isShown: boolean; above: number }>;
};

type Opening = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
};

/** A tmux of its own, with nothing of this machine's settings, and the program in its windows. */
export function openTmux(t: TestContext): { open(opening: Opening): Promise<TmuxWindow> } {
  const folder = mkdtempSync(join(tmpdir(), "ay-tmux-"));
  const run = promisify(execFile);
  const tmux = async (...args: string[]) =>
    (
      await run("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...args], {
        env: { ...process.env, LC_ALL: "C.UTF-8" },
      })
    ).stdout;
  t.after(async () => {
    await tmux("kill-server").catch(() => {}); // It ends with its last window.
    rmSync(folder, { recursive: true, force: true });
  });
  let count = 0;
  return {
    async open({ args, cwd, env = {}, columns = 100, rows = 30 }) {
      count += 1;
      const name = `w${count}`;
      const variables = Object.entries({
        ...{ PATH: process.env.PATH ?? "", TERM: "tmux-256color", LANG: "C.UTF-8", HOME: cwd, TMPDIR: folder },
        ...{ AGENTYARD_CONFIG: join(folder, "nowhere"), ...env },
      });
      const words = [
        "env",
        "-i",
        ...variables.map(([key, value]) => `${key}=${value}`),
        process.execPath,
        agentyard,
        ...args,
      ];
      // What ends is to be seen as well; the shell tells with which code.
      const script = `echo before-the-program; ${words.map(quoted).join(" ")}; echo "ended with $?"; exec cat`;
      await tmux("new-session", "-d", "-s", name, "-x", String(columns), "-y", String(rows), "-c", cwd, script);
      return windowOf(name, tmux, folder);
    },
  };
}

function windowOf(name: string, tmux: (...args: string[]) => Promise<string>, folder: string): TmuxWindow {
  const screen = () => tmux("capture-pane", "-p", "-t", name);
  return {
    screen,
    scrollback: () => tmux("capture-pane", "-p", "-S", "-", "-t", name),
    async waitFor(pattern) {
      let seen = "";
      const isSo = async () => {
        seen = await screen();
        return pattern.test(seen);
      };
      await until(String(pattern), isSo, 90_000).catch((error) => {
        throw new Error(`${error.message}\n${seen}`);
      });
      return seen;
    },
    type: async (text) => void (await tmux("send-keys", "-t", name, "-l", text)),
    press: async (...keys) => void (await tmux("send-keys", "-t", name, ...keys)),
    async paste(text) {
      const file = join(folder, "pasted");
      writeFileSync(file, text);
      await tmux("load-buffer", file);
      await tmux("paste-buffer", "-p", "-t", name);
    },
    resize: async (columns, rows) =>
      void (await tmux("resize-window", "-t", name, "-x", String(columns), "-y", String(rows))),
    async cursor() {
      const told = await tmux("display", "-p", "-t", name, "#{cursor_x} #{cursor_y} #{cursor_flag} #{history_size}");
      const [column = 0, row = 0, flag = 0, above = 0] = told.trim().split(" ").map(Number);
      return { column, row, isShown: flag === 1, above };
    },
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function hasTmux(): boolean {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => {
    try {
      execFileSync(join(folder, "tmux"), ["-V"], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  });
}
