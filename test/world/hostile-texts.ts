import { readFileSync } from "node:fs";

const charactersMax = 250_000;
type Row = readonly [piece: string, front?: string, back?: string];
const rows: Readonly<Record<"python" | "javascript" | "bash", Readonly<Record<string, Row>>>> = JSON.parse(
  readFileSync(new URL("../data/hostile-texts.json", import.meta.url), "utf8"),
);

/** One piece again and again, with another number each time where it has a place for one. */
function again([piece, front = "", back = ""]: Row): string {
  const times = Math.floor((charactersMax - front.length - back.length) / piece.length);
  if (!piece.includes("{at}")) return front + (piece === "" ? "" : piece.repeat(times)) + back;
  const pieces: string[] = [];
  for (let [at, length] = [0, back.length]; length < charactersMax - 100; at += 1) {
    const next = piece.replaceAll("{at}", `${at}`).replaceAll("{next}", `${at + 1}`);
    pieces.push(next);
    length += next.length;
  }
  return pieces.join("") + back;
}

/** Functions of which each calls the next and the first one, with ever more words. */
function ringOf(count: number): string {
  const one = (at: number) => `f${at}(){ f${(at + 1) % count} a$1 "$@"; f0 b$1 "$@"; }`;
  return Array.from({ length: count }, (_, at) => one(at)).join("\n");
}

const words = Array.from({ length: 1_500 }, (_, at) => `w${at}`).join(" ");
const python: Record<string, Row> = {
  ...rows.python,
  "closed lists": ["", "[".repeat(charactersMax / 2), "]".repeat(charactersMax / 2)],
  "shells of one text": ["os.system(a)\n", `a='${"ls;".repeat(1000)}'\n`],
  "long lines that are written": ["f.writelines(a)\n", `f=open('a','w')\na=['${"x".repeat(4000)}']*9\na=a+a+a+a\n`],
  "prints to a file": ["print(a,a,a,file=f)\n", `f=open('a','w')\na='${"x".repeat(4000)}'\n`],
};
const bash: Record<string, Row> = {
  ...rows.bash,
  "a function that calls itself": ["f a b;", `f(){ ${'f a$1 "$@" "$@";'.repeat(400)} }\n`],
  "a function with a long word": ["f a;", `f(){ ${'f "$1$1a";'.repeat(400)} }\n`],
  "functions in a ring": ["f0 a b;", `${ringOf(200)}\n`],
  "functions in a small ring": ["f0 a b;", `${ringOf(5)}\n`],
  "many words again": ['f "$@" "$@"\n', `f(){ :; }; set -- ${words}\n`],
  prints: ["%s", "printf '", `' ${"a ".repeat(1000)}`],
};

const made = (all: Readonly<Record<string, Row>>) =>
  Object.fromEntries(Object.entries(all).map(([what, row]) => [what, () => again(row)]));

/** Texts that cost a reader much: each construct again and again, up to the length that is read at all. */
export const hostileTexts = { python: made(python), javascript: made(rows.javascript), bash: made(bash) };
