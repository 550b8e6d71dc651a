import { shownName } from "./names.ts";
import { sizeText } from "./sizes.ts";

type Place = { readonly path: string; readonly bytes: number };
type Cut = { readonly cutBytes: number; readonly path: string | undefined; readonly keptBytes?: number | undefined };

/** What models read about programs that ran. The first lines of `run_bash_command` are fixed by the requirements. */
export const codeForModels = {
  failed: {
    execute_code: (code: number) => `Failed (exit code ${code})`,
    run_bash_command: (code: number) => `Command failed (exit code ${code})`,
  },
  timeout: {
    execute_code: (seconds: number) => `Error: Code timeout (${seconds}s)`,
    run_bash_command: (seconds: number) => `Error: Command timeout (${seconds}s)`,
  },
  signalled: (signal: string) => `Failed (ended by ${signal})`,
  killed: "Failed (it was ended from outside)",
  outOfMemory: "Failed (out of memory). Work on less data at once.",
  diskFull: "Failed (no room left in the workspace). Delete files that are no longer needed, or write less.",
  overLimit:
    "[The workspace holds more than it may: delete files that are no longer needed. Programs that take more room are ended.]",
  lost: "Failed (the sandbox broke down). Files are as they are, variables are gone; the next call starts anew.",
  pythonEnded: (how: string) => `Failed (the code ended Python itself: ${how}). Variables are gone.`,
  exitCode: (code: number) => `exit code ${code}`,

  stdout: "--- stdout",
  stderr: "--- stderr",
  value: "--- value",
  nothing: "(no output)",
  cut: (stream: "stdout" | "stderr", { cutBytes, path, keptBytes }: Cut) =>
    `[${cutBytes} bytes of ${stream} are left out above${path === undefined ? "" : `; read_file ${shownName(path)} has ${keptBytes === undefined ? "all" : `the first ${shownSize(keptBytes)}`} of it`}${keptBytes === undefined ? "" : "; the rest was not kept"}]`,

  binary: (bytes: number, path: string | undefined) =>
    `[binary output, or not UTF-8, about ${shownSize(bytes)}${path === undefined ? "" : `, in ${shownName(path)}`}]`,
  readOnly: "[Write into outputs/ or temp/: code can write only there and in uploads/]",

  ended: (code: number | undefined, durationMs: number) =>
    `[${code === undefined ? "" : `exit code ${code}, `}${shownDuration(durationMs)}]`,
  reset: "[Python was started anew; earlier variables are gone]",
  pythonLost: "[Python was ended; its variables are gone]",
  files: "Files:",
  filesOfAll: "Files (also by programs that ran at the same time):",
  made: ({ path, bytes }: Place) => `+ ${shownName(path)} (${shownSize(bytes)})`,
  changed: ({ path, bytes }: Place) => `~ ${shownName(path)} (${shownSize(bytes)})`,
  removed: (path: string) => `- ${shownName(path)}`,
  figure: " figure",
  figureShown: " figure, shown with this result",
  notKept: " undo cannot bring back what was there before",
  more: (count: number) => `[${count} more: list_files shows them]`,
} as const;

/** Coarse, so that a program that does the same again also says the same again. */
function shownDuration(ms: number): string {
  return ms < 1000 ? "less than 1 s" : `${Math.round(ms / 1000)} s`;
}

function shownSize(bytes: number): string {
  return sizeText(bytes, ({ count }) => `${count} bytes`);
}
