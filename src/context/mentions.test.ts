import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { mentionsIn } from "./mentions.ts";

const cases: readonly [text: string, ...names: string[]][] = [
  ["@pdf what is in it?", "pdf"],
  ["use @data-analysis and @web_search, please", "data-analysis", "web_search"],
  ["Ask @reviewer. Then (@pdf) once more @pdf!", "reviewer", "pdf"],
  ["请用@pdf处理一下，再交给@reviewer。", "pdf", "reviewer"],
  ["用“@pdf”吧", "pdf"],
  ["line one\n@slides make three", "slides"],
  ["@pdf\n@slides\nuse both", "pdf", "slides"],
  ["end of a sentence: see @pdf.", "pdf"],
  ["@pdf-", "pdf"],
  ["with @pdf: fill it in", "pdf"],
  // E-mail, names, hosts, versions, paths, options.
  ["write to ann@example.org or bob.lee+x@mail.example.com"],
  ["git@github.com:a/b.git and react@18.2 and ssh me@host"],
  ["https://example.org/@ann and @example.org and ./@types"],
  ["curl -d @data.json --data=@file"],
  // Scoped packages and decorators.
  ["npm install @scope/name @types/node"],
  ["@app.route('/x') is a decorator"],
  ["@cache(maxsize=1)\ndef f(): pass"],
  ["@property\ndef f(self): pass"],
  ["@dataclass\nclass A:\n    pass"],
  ["@Injectable\nexport class A {}"],
  ["@staticmethod\n@other\ndef f(): pass"],
  ["    @pdf\n    def f(self):"],
  ["\t@pdf"],
  ["/**\n * @param name the name\n * @returns nothing\n */"],
  ["@media (max-width: 10px) {}"],
  ["@name = 1"],
  ["$@ and @{upstream} and HEAD@{1} and @ alone and @@ and @1st"],
  // Code.
  ["run `@pdf` and ``a ` @slides``"],
  ["```\n@pdf\n```\nand @slides", "slides"],
  ["~~~py\n@pdf\n~~~"],
  ["```\n@pdf never closed"],
  ["an open ` and @pdf", "pdf"],
];

test("what is written with an @ is a mention, and addresses, decorators, packages and code are none [L4][K1]", () => {
  for (const [text, ...names] of cases) assert.deepEqual(mentionsIn(text), names, text);
});

test("at most twenty names count, and a message of any size and shape is read at once [L4]", () => {
  const names = Array.from({ length: 21 }, (_, index) => `s${index}`);
  assert.deepEqual(mentionsIn(names.map((name) => `@${name}`).join(" ")), names.slice(0, 20));
  assert.deepEqual(mentionsIn(`${" ".repeat(200_000)}@pdf`), []);
  for (const part of ["`", "```\n", "@", "@a", "@a-", "(@", "~~~\n", "\n    @", "`@`"])
    assert.ok(mentionsIn(part.repeat(50_000)).length <= 20, part);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("@", "a", "-", "`", "\n", " ", ".", "/", "(") }), (text) => {
      for (const name of mentionsIn(text)) assert.ok(text.includes(`@${name}`));
    }),
  );
});
