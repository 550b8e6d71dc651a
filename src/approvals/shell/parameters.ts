import type { ParameterExpansionPart, ParameterOperation, SimpleExpansionPart, Word } from "unbash";
import { home, matches } from "./paths.ts";
import { any, bounded, isUnknown, name, type Run, type Variable } from "./scene.ts";

const cutCharactersMax = 400;

/** What `$x` or `${x…}` can stand for. `read` reads the words within it. */
export function parameterOf(
  run: Run,
  part: SimpleExpansionPart | ParameterExpansionPart,
  read: (word: Word) => readonly string[],
): readonly string[] {
  if (part.type === "SimpleExpansion") return variableOf(run, part.text.slice(1))?.values ?? [any];
  if (part.prefix === "#") return [name];
  const own = part.prefix === "!" ? pointedAt(run, part) : elementOf(run, part, read);
  if (part.operation === undefined) return own ?? [any];
  return bounded(operated(part.operation, own, read, (values) => assign(run, part.parameter, values)));
}

function assign(run: Run, key: string, values: readonly string[]): void {
  run.state.variables.set(key, { values });
}

/** `${!x}` is the value of the variable whose name is in `x`. */
function pointedAt(run: Run, part: ParameterExpansionPart): readonly string[] | undefined {
  const names = variableOf(run, part.parameter)?.values ?? [any];
  return names.flatMap((one) => variableOf(run, one)?.values ?? [any]);
}

function elementOf(run: Run, part: ParameterExpansionPart, read: (word: Word) => readonly string[]) {
  const variable = variableOf(run, part.parameter);
  // Read also where it counts for nothing: commands may stand in it.
  const [index = ""] = part.index === undefined ? [] : read(part.index);
  if (part.index === undefined || variable?.list === undefined) return variable?.values;
  if (/^\d+$/.test(index)) return [variable.list[Number(index)] ?? ""];
  return index === "@" || index === "*" ? [variable.list.join(" ")] : variable.list;
}

function variableOf(run: Run, key: string): Variable | undefined {
  const { state, scene } = run;
  const known = state.variables.get(key);
  if (known !== undefined) return known;
  if (/^[1-9]\d*$/.test(key)) return state.parameters && { values: [state.parameters[Number(key) - 1] ?? ""] };
  if (["@", "*"].includes(key)) return state.parameters && { values: [state.parameters.join(" ")] };
  if (key === "PWD") return { values: state.folders };
  const { root, contained } = scene.facts;
  if (key === "HOME") return { values: [home(scene)] };
  if (key === "AGENT_WORKSPACE_PATH") return { values: [root] };
  if (key === "TMPDIR" && contained) return { values: ["/tmp"] };
  const fixed = fixedValues[key];
  return fixed === undefined ? undefined : { values: [fixed] };
}

/** What every shell has. Names and numbers lead nowhere. */
const fixedValues: Readonly<Record<string, string>> = {
  IFS: " \t\n",
  SHELL: "/bin/bash",
  BASH: "/bin/bash",
  "0": "bash",
  ...Object.fromEntries(
    ["$", "!", "?", "#", "-", "RANDOM", "SECONDS", "EPOCHSECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID"].map(
      (key) => [key, name],
    ),
  ),
  ...Object.fromEntries(["HOSTNAME", "USER", "LOGNAME", "LANG", "TERM", "OSTYPE"].map((key) => [key, name])),
};

function operated(
  operation: ParameterOperation,
  own: readonly string[] | undefined,
  read: (word: Word) => readonly string[],
  set: (values: readonly string[]) => void,
): readonly string[] {
  const values = own ?? [any];
  switch (operation.type) {
    case "Default":
      return defaulted(operation.operator, own, read(operation.operand), set);
    case "Remove": {
      const [pattern = any] = read(operation.operand);
      return values.map((value) => removed(value, operation.operator, pattern));
    }
    case "Replace": {
      const [from = any] = read(operation.pattern);
      const [to = any] = read(operation.replacement);
      const isPlain = !/[*?[]/.test(from) && !isUnknown(from) && from !== "";
      if (!isPlain) return [any];
      return values.map((value) =>
        operation.operator === "//" ? value.replaceAll(from, to) : value.replace(from, to),
      );
    }
    case "Slice": {
      const [from = any] = read(operation.offset);
      const [length = ""] = operation.length === undefined ? [""] : read(operation.length);
      return values.map((value) => slice(value, from.trim(), length.trim()));
    }
    case "CaseModification":
      return values.map((value) => cased(value, operation.operator));
    default:
      return [any];
  }
}

function defaulted(
  operator: string,
  own: readonly string[] | undefined,
  other: readonly string[],
  set: (values: readonly string[]) => void,
): readonly string[] {
  if (operator.endsWith("+")) return [...other, ""];
  const isEmpty = own === undefined || own.every((value) => value === "");
  if (!isEmpty) return own.includes("") ? [...own, ...other] : own;
  if (operator.endsWith("=")) set(other);
  return operator.endsWith("?") ? (own ?? [any]) : other;
}

/** `${x##*\/}` and its like, where the value is known. */
function removed(value: string, operator: string, pattern: string): string {
  if (isUnknown(pattern) || value.includes(any) || value.length > cutCharactersMax) return any;
  const lengths = Array.from({ length: value.length + 1 }, (_, at) => at);
  const inOrder = operator.length === 2 ? lengths.reverse() : lengths;
  const isFront = operator.startsWith("#");
  const hit = inOrder.find((at) => matches(pattern, isFront ? value.slice(0, at) : value.slice(value.length - at)));
  if (hit === undefined) return value;
  return isFront ? value.slice(hit) : value.slice(0, value.length - hit);
}

function slice(value: string, from: string, length: string): string {
  if (!/^-?\d+$/.test(from) || !/^(-?\d+)?$/.test(length) || isUnknown(value)) return any;
  const start = Number(from) < 0 ? value.length + Number(from) : Number(from);
  if (length === "") return value.slice(start);
  return value.slice(start, Number(length) < 0 ? value.length + Number(length) : start + Number(length));
}

function cased(value: string, operator: string): string {
  const first = value.slice(0, 1);
  if (operator === "^^") return value.toUpperCase();
  if (operator === ",,") return value.toLowerCase();
  return (operator === "^" ? first.toUpperCase() : first.toLowerCase()) + value.slice(1);
}
