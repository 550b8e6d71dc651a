import { Writable } from "node:stream";
import { systemClock } from "./base/clock.ts";
import { lookFirst, processEnvironment } from "./config/first-look.ts";
import { lookOf } from "./look.ts";
import type { RichConsole } from "./terminal/rich/first-prompt.ts";
import { typedChat } from "./terminal/typed-chat.ts";

/** A chat that stands on the screen before there is one. */
export type Drawn = {
  readonly console: RichConsole;
  /** What is said here is said beside the screen, which goes away first. */
  readonly errors: Writable;
};

/**
 * Draws the prompt, with as few modules as it takes. Undefined where nothing is to be drawn, and where something is
 * unusual: then everything is read first, and whoever is wrong hears it before anything stands on the screen.
 */
export async function drawFirst(argv: readonly string[]): Promise<Drawn | undefined> {
  const { stdin: input, stdout: output, stderr } = process;
  const typed = input.isTTY && output.isTTY ? typedChat(argv) : undefined;
  if (typed === undefined) return undefined;
  const surroundings = processEnvironment();
  const { env, cwd: folder } = surroundings;
  const settings = await lookFirst({ ...surroundings, flags: { data: typed.data, lang: typed.lang } });
  if (settings === undefined) return undefined;
  const dataDir = typed.isElsewhere ? undefined : settings.dataDir;
  const { color, hasKeys, rich } = lookOf({ surface: settings.surface, dataDir, env, isTerminal: true });
  if (!hasKeys || rich === undefined) return undefined;
  const { drawPrompt } = await import("./terminal/rich/first-prompt.ts");
  // As if nobody had listened. The terminal is left as it was found.
  const leave = (signal: NodeJS.Signals) => {
    console.close();
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  };
  const console = drawPrompt({
    ...{
      language: settings.language,
      color,
      isAscii: rich.isAscii,
      clock: systemClock,
      onLeave: () => process.kill(process.pid, "SIGINT"),
    },
    history: { file: rich.historyFile, folder },
  });
  let toldAt: number | undefined;
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const)
    process.on(signal, () => {
      if (console.hasChat) return;
      // Whoever opens listens, too: it closes what is open by then. Who says it again does not want to wait for that.
      const isAlone = process.listenerCount(signal) === 1;
      toldAt ??= systemClock.monotonic();
      if (isAlone || systemClock.monotonic() - toldAt > sameSignalMsMax) leave(signal);
    });
  stderr.on("error", () => {}); // There is nowhere left to say it.
  return { console, errors: besideScreen(console, stderr) };
}

/** npm passes Ctrl+C on to a child that has heard it already. */
const sameSignalMsMax = 500;

function besideScreen(console: RichConsole, errors: Writable): Writable {
  return new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      console.close();
      errors.write(chunk);
      done();
    },
  });
}
