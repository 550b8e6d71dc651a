import { safeText } from "./safe-text.ts";

/** What a program says, piece by piece, as a terminal may have it. */
export type ProgramText = {
  /** The end of a piece may wait for the next one: the beginning of a colour can be told by its end only. */
  add(text: string): string;
  /** What still waits, and the colours of the terminal again. */
  end(): string;
};

/**
 * Made harmless as any text, but for two things that programs of the command line live by: a carriage return, so that
 * a line can count up, and colours. Where none are wanted they are left out.
 */
export function openProgramText({ color }: { readonly color: boolean }): ProgramText {
  let waiting = "";
  let isColored = false;

  function show(part: string): string {
    if (part === "\r") return part;
    if (!isColor.test(part)) return safeText(part);
    isColored ||= color;
    return color ? part : "";
  }

  return {
    add(text) {
      const all = waiting + text;
      const end = all.search(begun);
      waiting = end < 0 ? "" : all.slice(end);
      const whole = end < 0 ? all : all.slice(0, end);
      return whole.split(passing).map(show).join("");
    },
    end() {
      const rest = safeText(waiting);
      waiting = "";
      return isColored ? `${rest}${reset}` : rest;
    },
  };
}

const reset = "\u001b[0m";
/** The longest in use has five numbers: `48;2;255;255;255`. Others of this form move nothing and ask for nothing. */
const colorPattern = String.raw`\u001b\[[0-9;:]{0,32}m`;
const isColor = new RegExp(`^${colorPattern}$`);
const passing = new RegExp(String.raw`(\r|${colorPattern})`);
/** The beginning of a colour, at the end of a piece. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what this looks for.
const begun = /\u001b(?:\[[0-9;:]{0,32})?$/;
