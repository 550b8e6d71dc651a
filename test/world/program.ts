import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { programAsTyped } from "../../src/terminal/terminal.ts";
import { databaseEnv } from "./database-env.ts";
import { agentyard, programDir } from "./pty.ts";
import { asServers, replicaEnv } from "./replicas.ts";

/** A folder with a data directory of its own, in which the whole program is started as a script does it. */
export type Home = {
  readonly folder: string;
  start(...words: string[]): Program;
  /** Starts a server, beside which every other command is its client and costs half; answers its address. */
  serve(): Promise<string>;
  /** Writes the user's own settings. */
  configure(yaml: string): void;
};

export type Program = {
  readonly child: ChildProcessWithoutNullStreams;
  /** What it has said so far. */
  readonly written: { output: string; errors: string };
  readonly ended: Promise<{ code: number | null; output: string; errors: string }>;
  /** Waits until its output, or its errors, fit; rejects when it ends before. */
  until(stream: "output" | "errors", wanted: RegExp): Promise<RegExpExecArray>;
};

/** How messages of a program that was started here write our command: these folders lie outside of the clone. */
export const typedHere = programAsTyped({
  ...{ cwd: tmpdir(), programDir, isClone: true, script: agentyard },
});

/** Everything that was started ends with the test. */
export function makeHome(t: TestContext, { env: more = {} }: { env?: Record<string, string> } = {}): Home {
  const folder = mkdtempSync(join(tmpdir(), "run-"));
  const programs: Program[] = [];
  t.after(async () => {
    for (const { child } of programs) child.kill("SIGTERM");
    await Promise.all(programs.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
  });
  const { PATH = "" } = process.env;
  const data = join(folder, "data");
  const start = (...words: string[]) => {
    const env = {
      ...{ PATH, HOME: folder, TMPDIR: folder, AGENTYARD_DATA: data, LANG: "C.UTF-8" },
      // A backup comes back as files.
      ...(words[0] === "restore" ? {} : databaseEnv(folder, placeNamed(words) ?? data)),
      ...replicaEnv(),
      ...more,
    };
    const begun = words[0] === "serve" ? asServers(agentyard, env) : { script: [agentyard], env };
    const program = watchProgram(spawn(process.execPath, [...begun.script, ...words], { cwd: folder, env: begun.env }));
    programs.push(program);
    return program;
  };
  return {
    folder,
    start,
    async serve() {
      const listening = /listens on (http:\/\/127\.0\.0\.1:\d+) [\s\S]*Ctrl\+C/;
      const [, address = ""] = await start("serve", "--port", "0").until("output", listening);
      return address;
    },
    configure(yaml) {
      const place = join(folder, ".config", "agentyard");
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, "agentyard.yaml"), yaml);
    },
  };
}

function placeNamed(words: readonly string[]): string | undefined {
  const at = words.indexOf("--data");
  return at < 0 ? undefined : words[at + 1];
}

export function watchProgram(child: ChildProcessWithoutNullStreams): Program {
  const written = { output: "", errors: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    written.output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    written.errors += text;
  });
  const ended = once(child, "close").then(([code]) => ({ code, ...written }));
  return {
    child,
    written,
    ended,
    async until(stream, wanted) {
      const source = stream === "output" ? child.stdout : child.stderr;
      for (;;) {
        const found = wanted.exec(written[stream]);
        if (found !== null) return found;
        const end = await Promise.race([once(source, "data"), ended]);
        if ("code" in end && wanted.exec(written[stream]) === null) {
          throw new Error(`it ended with ${end.code}: ${end.output}${end.errors}`);
        }
      }
    },
  };
}
