import type { Risk } from "../protocol/approval.ts";

export const actions = ["allow", "ask", "deny"] as const;
export type Action = (typeof actions)[number];

/** One pattern of `hitl_rules.yaml`, with what its surroundings there say about it. */
export type PatternRule = {
  /** A regular expression; `compilePattern` has taken it. */
  readonly pattern: string;
  /** The one argument it is about; absent: all that are not the contents of files. */
  readonly argument?: string | undefined;
  readonly action: Action;
  readonly risk: Risk;
  /** The operator's words. */
  readonly reason?: string | undefined;
  /** `config/hitl_rules.yaml:14`. */
  readonly source: string;
};

/** What the operator says about calls: `hitl_rules.yaml`, read and checked. */
export type HitlRules = {
  readonly global: {
    readonly isOn: boolean;
    /** For calls that nobody else says anything about. */
    readonly defaultAction: Action;
    /** Where that is set; absent where it is the default. */
    readonly defaultSource?: string | undefined;
    readonly patterns: readonly PatternRule[];
  };
  readonly tools: Readonly<Record<string, { readonly isOn: boolean; readonly patterns: readonly PatternRule[] }>>;
  /** Commands that never need a person by themselves, where others do. */
  readonly safeCommands: readonly string[];
};

/** What holds without a file. */
export const defaultRules: HitlRules = {
  global: { isOn: true, defaultAction: "allow", patterns: [] },
  tools: {},
  safeCommands: [
    ...["ls", "pwd", "cat", "head", "tail", "less", "wc", "nl", "tac", "rev", "file", "stat", "du", "df", "tree"],
    ...["echo", "printf", "true", "false", "test", "[", "date", "cal", "sleep", "seq", "expr", "yes"],
    ...["grep", "egrep", "fgrep", "rg", "cut", "sort", "uniq", "tr", "paste", "join", "column", "fold", "fmt"],
    ...["comm", "diff", "cmp", "basename", "dirname", "realpath", "readlink", "which", "type", "whoami", "id", "uname"],
    ...["md5sum", "sha1sum", "sha256sum", "cksum", "base64", "od", "xxd", "hexdump", "strings", "jq", "cd"],
  ],
};
