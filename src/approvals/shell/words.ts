import { type ArithmeticExpression, parse, type TestExpression, type Word, type WordPart } from "unbash";
import { bracesOf } from "./braces.ts";
import { parameterOf } from "./parameters.ts";
import { any, name, type Run, type Scene, type Stream, shellLimits } from "./scene.ts";

/** Words as the shell makes them of a text: every way to read them, each a list of fields. */
export function fieldsOf(run: Run, words: readonly Word[]): string[][] {
  return words.reduce<string[][]>((readings, word) => each(readings, readingsOf(run, word)), [[]]);
}

/** Every reading so far with every reading of the next word. Too many to go through: that word can be anything. */
function each(readings: string[][], more: readonly (readonly string[])[]): string[][] {
  const [first, ...others] = readings;
  const next = readings.length * more.length > shellLimits.variantsMax ? [[any]] : more;
  const [only] = next;
  // By far the most have one reading: it grows, and is not copied for each word.
  if (next.length === 1 && only !== undefined && first !== undefined) {
    for (const fields of [first, ...others]) for (const field of only) fields.push(field);
    return readings;
  }
  return readings.flatMap((fields) => next.map((some) => [...fields, ...some]));
}

/** One text, without splitting: the value of an assignment, the target of a redirection. */
export function valuesOf(run: Run, word: Word): readonly string[] {
  return piecesOf(run, word).map((pieces) => pieces.map((piece) => piece.fields.join(" ")).join(""));
}

/** A here-document has its own rules, but the same variables. */
export function bodyOf(run: Run, parts: readonly WordPart[] | undefined, text: string): string {
  if (parts === undefined) return text;
  return parts.map((part) => (part.type === "Literal" ? part.value : (textOf(run, part)[0] ?? any))).join("");
}

const bracedMax = 400;
/** So many braces may one word have: each doubles what it stands for. */
const bracesMax = 32;

/** A part of a word; `splits`: what it holds falls apart at spaces. */
type Piece = { readonly fields: readonly string[]; readonly splits: boolean; readonly quoted: boolean };

function readingsOf(run: Run, word: Word): string[][] {
  if (word.parts === undefined) return [[word.value]];
  const separators = separatorsOf(run);
  return unbraced(word).reduce<string[][]>(
    (readings, one) =>
      each(
        readings,
        piecesOf(run, one).map((pieces) => split(pieces, separators)),
      ),
    [[]],
  );
}

function separatorsOf(run: Run): RegExp {
  const own = run.state.variables.get("IFS")?.values.join("") ?? "";
  const characters = [...own].filter((one) => !/[\w\s]/.test(one) && one !== any).map((one) => `\\${one}`);
  return new RegExp(`[\\s${characters.join("")}]+`);
}

/** Words that a word with braces stands for; `left`: as many as that may still be spelled out. */
function unbraced({ parts, value }: PartsOf, left = { words: bracedMax }): readonly PartsOf[] {
  const at = parts?.findIndex((part) => part.type === "BraceExpansion") ?? -1;
  const brace = parts?.[at];
  if (parts === undefined || brace === undefined) return [{ parts, value }];
  const isMuch = parts.filter(({ type }) => type === "BraceExpansion").length > bracesMax;
  const texts = isMuch ? undefined : bracesOf(brace.text);
  left.words -= texts?.length ?? 0;
  if (texts === undefined || left.words < 0) return [{ value: any }];
  // Each text is read as a word of its own: it may hold variables, quotes and further braces.
  return texts.flatMap((text) => {
    const inner = parse(`: ${text}`).commands[0]?.command;
    const found = inner?.type === "Command" ? inner.args[0] : undefined;
    const own: readonly WordPart[] = found?.type === "Word" ? (found.parts ?? [literal(found.value)]) : [literal(text)];
    const whole = [...parts.slice(0, at), ...own, ...parts.slice(at + 1)];
    return unbraced({ parts: whole, value }, left);
  });
}

type PartsOf = { readonly parts?: readonly WordPart[] | undefined; readonly value: string };

function literal(text: string): WordPart {
  return { type: "Literal", pos: 0, end: 0, value: text, text };
}

function piecesOf(run: Run, word: PartsOf): Piece[][] {
  if (word.parts === undefined) return [[plain(word.value)]];
  return word.parts.reduce<Piece[][]>(
    (readings, part) => {
      const more = pieceOf(run, part);
      const next = readings.length * more.length > shellLimits.variantsMax ? [plain(any)] : more;
      const [only] = next;
      if (next.length !== 1 || only === undefined)
        return readings.flatMap((pieces) => next.map((one) => [...pieces, one]));
      for (const pieces of readings) pieces.push(only);
      return readings;
    },
    [[]],
  );
}

function plain(text: string, quoted = false): Piece {
  return { fields: [text], splits: false, quoted };
}

function pieceOf(run: Run, part: WordPart): Piece[] {
  switch (part.type) {
    case "Literal":
    case "Glob":
      return [plain(part.value)];
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [plain(part.value, true)];
    case "DoubleQuoted":
    case "LocaleString":
      return quotedOf(run, part.parts);
    case "ExtendedGlob":
      return [plain(`*${part.text.includes("/") ? any : ""}`)];
    case "BraceExpansion":
      return [plain(part.text)];
    default:
      return listOf(run, part)?.map((fields) => ({ fields, splits: false, quoted: false })) ?? splitting(run, part);
  }
}

function splitting(run: Run, part: WordPart): Piece[] {
  return textOf(run, part).map((text) => ({ fields: [text], splits: true, quoted: false }));
}

/** In double quotes only `"$@"` and its like make more than one field. */
function quotedOf(run: Run, parts: readonly WordPart[]): Piece[] {
  const [only] = parts;
  const list = parts.length === 1 && only !== undefined ? listOf(run, only) : undefined;
  if (list !== undefined) return list.map((fields) => ({ fields, splits: false, quoted: false }));
  let texts = [""];
  for (const part of parts) {
    const more = part.type === "Literal" ? [part.value] : textOf(run, part);
    const all = texts.flatMap((text) => more.map((next) => text + next));
    texts = all.length > shellLimits.variantsMax ? texts.map((text) => text + any) : all;
  }
  return texts.map((text) => plain(text, true));
}

function listOf(run: Run, part: WordPart): string[][] | undefined {
  const key = part.type === "SimpleExpansion" ? part.text.slice(1) : "";
  if (key === "@" || key === "*") return run.state.parameters && [[...run.state.parameters]];
  if (part.type !== "ParameterExpansion" || part.operation !== undefined || part.prefix !== undefined) return undefined;
  const isWhole = ["@", "*"].includes(part.index?.value ?? "");
  if (["@", "*"].includes(part.parameter)) return run.state.parameters && [[...run.state.parameters]];
  const list = isWhole ? run.state.variables.get(part.parameter)?.list : undefined;
  return list && [[...list]];
}

/** What an expansion can stand for. */
function textOf(run: Run, part: WordPart): readonly string[] {
  switch (part.type) {
    case "SimpleExpansion":
    case "ParameterExpansion":
      return parameterOf(run, part, (word) => valuesOf(run, word));
    case "CommandExpansion":
      return part.script === undefined ? [any] : printed(run.scene.substitute(part.script, run));
    case "ProcessSubstitution":
      return part.script === undefined ? [any] : [pipeOf(run.scene, part.operator, part.script, run)];
    case "ArithmeticExpansion":
      runArithmetic(run, part.expression);
      return [name];
    default:
      return [any];
  }
}

/** Line ends at its end are cut, as the shell does it. */
function printed(stream: Stream): readonly string[] {
  if (stream.unseen) return [any];
  if (stream.text !== undefined) return [stream.text.replace(/\n+$/, "")];
  return stream.items.length === 0 ? [any] : stream.items;
}

function pipeOf(scene: Scene, operator: "<" | ">", script: Parameters<Scene["substitute"]>[0], run: Run): string {
  const stdin = operator === ">" ? { items: [any], unseen: false } : run.stdin;
  const stream = scene.substitute(script, { ...run, stdin });
  const path = `/dev/fd/pipe-${scene.files.size}`;
  // What cannot be told is as good as unseen when it is run.
  scene.files.set(path, stream.unseen ? undefined : stream.text);
  return path;
}

/** Commands may stand in the middle of a sum. */
export function runArithmetic(run: Run, expression: ArithmeticExpression | undefined): void {
  // A stack of its own: sums may be longer than that of the machine.
  const open = expression === undefined ? [] : [expression];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    switch (one.type) {
      case "ArithmeticBinary":
        open.push(one.right, one.left);
        break;
      case "ArithmeticUnary":
        open.push(one.operand);
        break;
      case "ArithmeticTernary":
        open.push(one.alternate, one.consequent, one.test);
        break;
      case "ArithmeticGroup":
        open.push(one.expression);
        break;
      case "ArithmeticWord":
        for (const part of one.parts ?? []) pieceOf(run, part);
        break;
      case "ArithmeticCommandExpansion":
        if (one.script !== undefined) run.scene.substitute(one.script, run);
    }
  }
}

/** Commands may stand in what is compared. */
export function runTest(expression: TestExpression, run: Run): void {
  switch (expression.type) {
    case "TestUnary":
      return void fieldsOf(run, [expression.operand]);
    case "TestBinary":
      return void fieldsOf(run, [expression.left, expression.right]);
    case "TestLogical":
      for (const operand of expression.operands) runTest(operand, run);
      return;
    case "TestNot":
      return runTest(expression.operand, run);
    case "TestGroup":
      return runTest(expression.expression, run);
  }
}

/** Fields of the pieces: what splits ends a field at its spaces, and joins with its neighbours where it has none. */
function split(pieces: readonly Piece[], separators: RegExp): string[] {
  const fields: string[] = [];
  let open: string | undefined;
  for (const piece of pieces) {
    if (!piece.splits) {
      const [first, ...rest] = piece.fields;
      if (first === undefined) continue;
      open = (open ?? "") + first;
      for (const next of rest) {
        fields.push(open);
        open = next;
      }
      continue;
    }
    const words = (piece.fields[0] ?? "").split(separators);
    for (const [at, word] of words.entries()) {
      if (at > 0 && open !== undefined) {
        fields.push(open);
        open = undefined;
      }
      if (word !== "") open = (open ?? "") + word;
    }
  }
  return open === undefined ? fields : [...fields, open];
}
