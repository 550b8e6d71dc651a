import { join } from "node:path";
import type { FirstLook } from "./config/first-look.ts";
import type { CommandParts } from "./terminal/terminal.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

type Asked = {
  readonly surface: FirstLook["surface"];
  /** Where what is typed is kept; undefined where the chat is one of another machine. */
  readonly dataDir: string | undefined;
  readonly env: Environment;
  readonly isTerminal: boolean;
};

/** How a chat looks: as it was asked for, as far as the terminal can. */
export function lookOf(asked: Asked): Pick<CommandParts, "color" | "hasKeys" | "rich"> {
  const { surface, dataDir, env, isTerminal } = asked;
  const historyFile = dataDir === undefined ? undefined : join(dataDir, "typed.jsonl");
  return {
    color: isTerminal && !env.NO_COLOR,
    hasKeys: env.TERM !== "dumb" && surface !== "screen_reader",
    rich: surface === "rich" ? { isAscii: isAsciiOnly(env), historyFile } : undefined,
  };
}

/** Said by the locale, as far as there is one: most terminals show everything. */
function isAsciiOnly({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return locale !== "" && !/utf-?8/i.test(locale);
}
