const charactersMax = 250_000;
/** One piece again and again, up to the length that is read at all. */
const again =
  (piece: string, front = "", back = "") =>
  () =>
    front + piece.repeat(Math.floor((charactersMax - front.length - back.length) / piece.length)) + back;
/** The same with another number each time. */
const counted =
  (piece: (at: number) => string, back = "") =>
  () => {
    const pieces: string[] = [];
    for (let [at, length] = [0, back.length]; length < charactersMax - 100; at += 1) {
      const next = piece(at);
      pieces.push(next);
      length += next.length;
    }
    return pieces.join("") + back;
  };

const python: Record<string, () => string> = {
  attributes: again(".b", "a"),
  "long attributes": again(".bbbbbbbbbbbbbbbbbbbb", "os"),
  calls: again(".b()", "a"),
  "calls in calls": again("f("),
  "called again": again("()", "f"),
  subscripts: again("[0]", "a"),
  "named subscripts": again("['remove']", "os"),
  additions: again("'a'+", "", "'b'"),
  "names that are added": again("a+", "", "b"),
  "names that double": again("a=a+a\n", "a='xxxxxxxx'\n"),
  "paths that double": again("a=a/a\n", "a='/x'\n"),
  "lists that double": again("a=a+a\n", "a=[1,2,3,4]\n"),
  "other names that double": counted((at) => `a${at + 1}=a${at}+a${at}\n`),
  "choices that double": again("a=a+'x' if b else a+'y'\n", "a='x'\n"),
  "long texts that are used": again("open(a)\n", `a='xxxxxxxx'\n${"a=a+a\n".repeat(12)}`),
  choices: again("1 if a else ", "x=", "1"),
  either: again("a or ", "", "a"),
  "texts with code": again("f'{a}' ", "(", ")"),
  "texts in texts": again(`f"{`),
  "code in a text": again("{a}", "f'", "'"),
  "nested lists": again("[", "", ""),
  "closed lists": () => `${"[".repeat(charactersMax / 2)}${"]".repeat(charactersMax / 2)}`,
  numbers: again("1,", "x=[", "]"),
  lambdas: again("lambda x:"),
  comprehensions: again("[x for x in "),
  loops: again("for a in b:\n"),
  imports: counted((at) => `import m${at}\n`),
  "deep imports": again(".a", "import a"),
  "imports of many": again("a,", "from b import "),
  withs: again("open('a') as b,", "with "),
  shells: again("os.system('ls')\n"),
  "shells of one text": again("os.system(a)\n", `a='${"ls;".repeat(1000)}'\n`),
  deletes: counted((at) => `os.remove('outputs/${at}')\n`),
  "names of deletes": again("os.remove\n"),
  joins: again("a=os.path.join(a,a)\n", "a='x'\n"),
  formats: again("a='{}{}'.format(a,a)\n", "a='x'\n"),
  replaced: again("a=a.replace('x','xx')\n", "a='x'\n"),
  "texts that are glued": again("a=a.join([a,a])\n", "a='x'\n"),
  concat: again("a=a.concat(a)\n", "a='x'\n"),
  evals: again("eval('", "", ""),
  quotes: again('"'),
  secrets: again("token='", "", ""),
  "many secrets": counted((at) => `password='hunter${at}x'\n`),
  magic: again("!ls\n"),
  dictionaries: again("{'a':", "", ""),
  brackets: again("(", "", ""),
  "open and read": again("exec(open('a').read())\n"),
  "lines that are written": again("f.writelines(a)\n", `f=open('a','w')\na=['xxxxxxxx']\n${"a=a+a\n".repeat(16)}`),
  "long lines that are written": again(
    "f.writelines(a)\n",
    `f=open('a','w')\na=['${"x".repeat(4000)}']*9\na=a+a+a+a\n`,
  ),
  "prints to a file": again("print(a,a,a,file=f)\n", `f=open('a','w')\na='${"x".repeat(4000)}'\n`),
  "files that are handed on": again("g(f,f,f)\n", "f=open('a','w')\n"),
  "files that are opened": counted((at) => `open('a${at}','w')\n`),
};

const javascript: Record<string, () => string> = {
  attributes: again("?.b", "a"),
  arrows: again("a=>", "x="),
  "for each": again(".forEach(f=>f)", "a"),
  templates: again("`${"),
  "template pieces": again("${a}", "`", "`"),
  slashes: again("/"),
  patterns: again("[", "x=/"),
  requires: counted((at) => `require('./m${at}');`),
  declarations: again("const{a:b}=c;"),
  comments: again("/*"),
};

/** Functions of which each calls the next and the first one, with ever more words. */
function ringOf(count: number): string {
  const one = (at: number) => `f${at}(){ f${(at + 1) % count} a$1 "$@"; f0 b$1 "$@"; }`;
  return Array.from({ length: count }, (_, at) => one(at)).join("\n");
}

const bash: Record<string, () => string> = {
  wrappers: again("env ", "", "rm -rf outputs"),
  nice: again("nice ", "", "rm -rf outputs"),
  xargs: again("xargs ", "", "ls"),
  timeouts: again("timeout 5 ", "", "ls"),
  "settings of wrappers": again("A=1 ", "env ", "ls"),
  pipes: again("a|", "", "a"),
  "shells in pipes": again("bash|", "", "bash"),
  redirects: again(">a ", "echo "),
  "redirects of others": counted((at) => `3>a${at} `, "echo "),
  "files that stay open": counted((at) => `exec 3>a${at};`),
  inputs: again("<a ", "cat "),
  assignments: again("a=$a$a;", "a=x;"),
  "assignments of others": counted((at) => `a${at + 1}=$a${at}$a${at};`),
  appended: again("a+=$a;", "a=x;"),
  lists: again("a+=(x y);"),
  ranges: again("{1..1000}", "echo "),
  "ranges that delete": again("{1..1000}", "rm "),
  pairs: again("{a,b}", "echo "),
  "nested pairs": again("{a,", "echo "),
  "pairs of words": again("{a,b} ", "echo "),
  "here-documents": again("cat <<A\n"),
  "closed here-documents": again("cat <<A\nx\nA\n"),
  functions: counted((at) => `f${at}(){ f${at + 1}; f${at + 1}; }\n`, "f0"),
  "functions with words": counted((at) => `f${at}(){ f${at + 1} $1 $1; f${at + 1} "$@" "$@"; }\n`, "f0 a b"),
  "a function that calls itself": again("f a b;", `f(){ ${'f a$1 "$@" "$@";'.repeat(400)} }\n`),
  "a function with a long word": again("f a;", `f(){ ${'f "$1$1a";'.repeat(400)} }\n`),
  "functions in a ring": again("f0 a b;", `${ringOf(200)}\n`),
  "functions in a small ring": again("f0 a b;", `${ringOf(5)}\n`),
  "many words again": again(
    'f "$@" "$@"\n',
    `f(){ :; }; set -- ${Array.from({ length: 1_500 }, (_, at) => `w${at}`).join(" ")}\n`,
  ),
  "words of a function": again("*", 'f(){ f "$1/*"; f "$1*"; }; f '),
  aliases: counted((at) => `alias a${at}='a${at + 1};a${at + 1}'\n`, "a0"),
  "one alias": again("alias a='a a'\na\n"),
  substitutions: again("$(", "echo "),
  "side by side": again("$(ls)", "echo "),
  "old substitutions": again("`"),
  sums: again("$((1+", "echo "),
  "long sums": again("1+", "echo $((", "1))"),
  parentheses: again("("),
  braces: again("{ "),
  loops: again("for i in 1 2 3 4 5 6 7 8 9; do "),
  "loops over ranges": () =>
    "for i in {1..200}; do for j in {1..200}; do for k in {1..200}; do rm $i$j$k; done; done; done",
  cases: again("a) ls;; ", "case x in ", "esac"),
  ifs: again("if a; then b; fi;"),
  "open ifs": again("if a; then "),
  "and or": again("a||", "", "a"),
  folders: counted((at) => `cd a${at};`, "rm x"),
  parameters: again("${a/", "echo "),
  defaults: again("${a:-", "echo "),
  finds: again("-exec ls {} \\; ", "find . "),
  starts: again("a ", "find ", "-exec rm {} +"),
  evals: again("eval "),
  traps: again("trap 'ls' EXIT;"),
  "nested shells": again("bash -c '"),
  prints: again("%s", "printf '", `' ${"a ".repeat(1000)}`),
  echoes: again("echo a;"),
  writes: counted((at) => `echo a > temp/${at};`),
  appends: again("echo a >> temp/x.sh;", "", "bash temp/x.sh"),
  links: counted((at) => `ln -s a temp/${at};`, "rm x"),
  copies: counted((at) => `cp temp/a${at}.sh temp/a${at + 1}.sh;`),
  awk: again(`system("x" `, "awk '", "'"),
  sed: again("a/", "sed 's/", "'"),
  makefiles: again("\t@ls\n", "make -f - <<'E'\nall:\n", "E\n"),
  parallel: again("a ", "parallel rm ::: "),
  words: again("a ", "rm "),
  globs: again("*", "rm "),
  "globs in paths": again("*/", "rm "),
  options: again("-a ", "ls "),
  secrets: again("token="),
  "many secrets": counted((at) => `curl --password pw${at}zzzz;`),
  semicolons: again("rm x;"),
  quotes: again(`'"`),
  python: again(".b", "python3 -c 'a", "'"),
  perl: again(`unlink "a";`, "perl -e '", "'"),
  sql: again("drop table t;", 'sqlite3 a.db "', '"'),
};

/** Texts that cost a reader much: each construct again and again, up to the length that is read at all. */
export const hostileTexts = { python, javascript, bash };
