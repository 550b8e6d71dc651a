/** Options of a program, told apart from its operands. */
export type Options = {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly rest: readonly string[];
};

/**
 * `valued`: options that take the next word, by their names without dashes. `isFront`: the first operand ends the options,
 * as with programs that run another one.
 */
export function readOptions(args: readonly string[], valued: readonly string[] = [], isFront = false): Options {
  const flags = new Set<string>();
  const values = new Map<string, string[]>();
  const keep = (key: string, value: string) => {
    const before = values.get(key);
    if (before === undefined) values.set(key, [value]);
    else before.push(value);
    flags.add(key);
  };
  const rest: string[] = [];
  let at = 0;
  const take = () => args[at++];
  for (let arg = take(); arg !== undefined; arg = take()) {
    if (arg === "--") return { flags, values, rest: [...rest, ...args.slice(at)] };
    const [key = "", own] = longOf(arg);
    if (!arg.startsWith("-") || arg === "-") {
      if (isFront) return { flags, values, rest: args.slice(at - 1) };
      rest.push(arg);
    } else if (arg.startsWith("--")) {
      if (own !== undefined) keep(key, own);
      else if (valued.includes(key)) keep(key, take() ?? "");
      else flags.add(key);
      // The word behind it stays an operand as well: in another program the short form may be a flag of its own.
      const whole = abbreviated(key, valued);
      if (whole !== undefined) keep(whole, own ?? args[at] ?? "");
    } else if (valued.includes(arg.slice(1)) && arg.length > 2) keep(arg.slice(1), take() ?? "");
    else {
      const taken = readShort(arg.slice(1), valued, flags);
      if (taken !== undefined) keep(taken.key, taken.value === "" ? (take() ?? "") : taken.value);
    }
  }
  return { flags, values, rest };
}

/** `--key=value` */
function longOf(arg: string): readonly [string, string | undefined] {
  const equals = arg.indexOf("=");
  return equals === -1 ? [arg.slice(2), undefined] : [arg.slice(2, equals), arg.slice(equals + 1)];
}

/** `--target=x` for `--target-directory=x`, as GNU's programs read it. */
function abbreviated(key: string, valued: readonly string[]): string | undefined {
  const [whole, ...others] = valued.filter((one) => one.length > 1 && one.startsWith(key));
  return others.length > 0 || whole === key ? undefined : whole;
}

/** `-rf` is two flags; in `-ofile` the rest is the value of the first. */
function readShort(letters: string, valued: readonly string[], flags: Set<string>) {
  for (const [at, key] of [...letters].entries()) {
    if (valued.includes(key)) return { key, value: [...letters].slice(at + 1).join("") };
    flags.add(key);
  }
  flags.add(letters);
  return undefined;
}

/** Of rsync: its `-t`, `-o`, `-g` and `-m` take no word; in `cp` and `install` they do. */
export const valuedByRsync = [
  "e",
  "rsh",
  "exclude",
  "exclude-from",
  "include",
  "include-from",
  "f",
  "filter",
  "files-from",
];
