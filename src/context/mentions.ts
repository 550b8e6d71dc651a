/** Names that a person wrote with an `@` before them, in their order, each once. */
export function mentionsIn(text: string): string[] {
  const names = new Set<string>();
  const lines = withoutCode(text.slice(0, charactersMax)).split("\n");
  for (const [index, line] of lines.entries()) {
    if (names.size === mentionsMax) break;
    if (!line.includes("@") || isCodeLine(lines, index)) continue;
    for (const [, name = ""] of line.matchAll(mention)) if (names.size < mentionsMax) names.add(name);
  }
  return [...names];
}

/** A message may hold whole files; who names something does so near its beginning. */
const charactersMax = 200_000;
/** More are a list of something else. */
const mentionsMax = 20;

/**
 * Not behind what e-mail addresses, versions (`react@18`), paths and options have before an `@`; not before what
 * decorators (`@app.route`, `@cache(…)`), scoped packages (`@scope/name`), hosts and assignments (`@name = 1`) have
 * behind the name. Chinese needs no blanks around it.
 */
const mention =
  /(?<![A-Za-z0-9_.%+\-/@#$&=:\\'"`<])@([A-Za-z][A-Za-z0-9_-]{0,63})(?<![-_])(?![A-Za-z0-9_@({]|:[A-Za-z0-9/]|[-_]+[A-Za-z0-9]|[./\\-][A-Za-z0-9_]|\s*=[^=])/g;

/** Same length everywhere, so that lines stay what they are: fences, and what stands in backticks. */
function withoutCode(text: string): string {
  const blank = (code: string) => code.replaceAll(/[^\n]/g, " ");
  return text
    .replaceAll(/\r/g, " ")
    .replaceAll(/^ {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:^ {0,3}\1[`~]*[^\S\n]*$|(?![\s\S]))/gm, blank)
    .replaceAll(/(?<!`)(`{1,8})(?!`)[^\n]*?[^`\n]\1(?!`)/g, blank);
}

/** Pasted without fences: indented code, comments that tell of parameters, a decorator above what it decorates. */
function isCodeLine(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? "";
  if (/^(?: {4,}|\t)/.test(line) || /^\s*(?:\*|\/\/|\/\*)/.test(line)) return true;
  if (!isAlone.test(line)) return /^\s*@(?:media|import|keyframes|supports|font-face|charset)\b/.test(line);
  // Several may stand above each other.
  const next = lines.slice(index + 1, index + 1 + decoratorsMax).find((other) => !isAlone.test(other));
  return decorated.test(next ?? "");
}

const isAlone = /^\s*@[\w.]+(?:\([^\n]*\))?\s*$/;
const decoratorsMax = 10;

const decorated =
  /^\s*(?:def|class|async|function|export|public|private|protected|static|final|abstract|interface|const|let|var|type|enum|fun|override)\b/;
