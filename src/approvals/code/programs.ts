import { findSecret } from "../secrets.ts";
import { reportSecret } from "../shell/judge-secrets.ts";
import { any, fork, type Language, type Run, report, shellLimits, spend } from "../shell/scene.ts";
import { callIn, type Program } from "./calls.ts";
import { judgeImported, judgeTaken, judgeUnused, runImported } from "./later.ts";
import { attributeOf, importedAs, startValues } from "./names.ts";
import { readOther } from "./other.ts";
import { assignment, declaration, type Listener, loopHead, Reader, type Value } from "./reader.ts";

/** Reads a program in Python or JavaScript as far as it takes to see which files, programs and machines it touches. */
export function readCode(code: string, language: Language, run: Run, what?: string): void {
  const { scene } = run;
  if (scene.depth >= shellLimits.nestedMax) return report(scene, "unreadable", "high", what ?? code);
  scene.depth += 1;
  if (language === "other") readOther(code, run, what ?? code);
  else readProgram(code, language, { ...run, state: fork(run.state) }, what);
  scene.depth -= 1;
}

function readProgram(code: string, language: Language, run: Run, what: string | undefined): void {
  const plain = language === "python" ? runMagic(code, run) : code;
  const program: Program = {
    run,
    language,
    variables: new Map(startValues),
    usesUploads: false,
    opened: new Map(),
    unused: new Map(),
    whatAt: (at) => what ?? lineAt(plain, at),
  };
  const listener = listenerOf(program);
  const reader = new Reader(plain, language, listener);
  while (reader.at < reader.tokens.length) {
    const from = reader.at;
    readStatement(reader, listener, program);
    if (reader.at === from) reader.at += 1;
  }
  judgeUnused(program);
}

/** Lines that begin with `!` or `%` are commands of the shell in a notebook. */
function runMagic(code: string, run: Run): string {
  if (/^\s*%%(bash|sh|!)/.test(code)) {
    run.scene.shell(code.replace(/^\s*%%\w+[^\n]*/, ""), run);
    return "";
  }
  return code.replace(/^[ \t]*[!%]([ \t]*[a-zA-Z][^\n]*)$/gm, (_, command: string) => {
    run.scene.shell(command, { ...run, state: fork(run.state) });
    return "";
  });
}

/** The line of that place; of a long one, what stands around it. */
function lineAt(code: string, at: number): string {
  const from = Math.max(0, at - lineCharactersMax);
  const around = code.slice(from, at + lineCharactersMax);
  const end = around.indexOf("\n", at - from);
  return around.slice(around.slice(0, at - from).lastIndexOf("\n") + 1, end === -1 ? undefined : end);
}

const lineCharactersMax = 2_000;

function readStatement(reader: Reader, listener: Listener, program: Program): void {
  const word = reader.peek();
  if (reader.tokens[reader.at]?.kind === "end" || word === "{" || word === "}") reader.at += 1;
  else if (word === "import" || word === "from") readImport(reader, program);
  else if (word === "for") loopHead(reader, listener);
  else if (word === "with") readWith(reader, listener);
  else if (!declaration(reader, listener) && !assignment(reader, listener)) reader.expression();
}

/** `import a.b as c`, `from a import b as c`, `import { rm } from "fs"`. */
function readImport(reader: Reader, program: Program): void {
  const from = reader.at;
  if (reader.peek() === "import" && reader.peek(1) === "(") return void reader.expression();
  while (reader.at < reader.tokens.length && reader.tokens[reader.at]?.kind !== "end") reader.at += 1;
  const tokens = reader.tokens.slice(from, reader.at);
  const what = program.whatAt(tokens[0]?.at ?? 0);
  const pairs = importedAs(tokens);
  for (const [name, ref] of pairs) {
    program.variables.set(name, { texts: [any], ref });
    judgeImported(program, name, ref, what);
  }
  runImported(program, tokens, pairs, what);
}

/** `with a as b, c as d` */
function readWith(reader: Reader, listener: Listener): void {
  reader.at += 1;
  for (;;) {
    const value = reader.expression();
    if (reader.peek() === "as" && reader.isName(1)) {
      listener.assigned(reader.peek(1), value, 0);
      reader.at += 2;
    }
    if (reader.peek() !== ",") return;
    reader.at += 1;
  }
}

function listenerOf(program: Program): Listener {
  const { run, variables } = program;
  return {
    called: (callee, args, at) => callIn(program, callee, args, at, (text, at) => nested(program, text, at)),
    attribute: (owner, name) => attributeOf(run, owner, name),
    variable(name) {
      program.unused.delete(name);
      return variables.get(name) ?? { texts: [any], ref: name };
    },
    assigned(name, value, at) {
      judgeNamedSecret(program, name, value, at);
      if (!name.startsWith(".")) variables.set(name, value);
    },
    taken: (value, at) => judgeTaken(program, value, at),
    lost: (at) => report(run.scene, "unreadable", "high", program.whatAt(at)),
    spend: (steps) => spend(run.scene, steps),
    text(text, at) {
      const found = findSecret(text, false);
      if (found !== undefined) reportSecret(run.scene, found.secret, program.whatAt(at));
    },
  };
}

/** Code that is given as a text to code. */
function nested(program: Program, text: string, at: number): void {
  const { run, language } = program;
  if (/^\s*\uE001?\s*$/.test(text)) return;
  if (text.includes(any)) report(run.scene, "run_unseen", "critical", program.whatAt(at));
  else run.scene.code(text, language, run, program.whatAt(at));
}

/** `password = "…"` */
function judgeNamedSecret(program: Program, name: string, value: Value, at: number): void {
  const [text = any] = value.texts;
  if (value.ref !== undefined || value.texts.length !== 1 || /\s/.test(text)) return;
  const found = findSecret(`${name.replace(/^\./, "")}=${text}`, true);
  if (found !== undefined) reportSecret(program.run.scene, found.secret, program.whatAt(at));
}
