import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import r from "highlight.js/lib/languages/r";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/** A stretch of code, and what it is. There are few kinds, each with a colour of its own. */
export type Piece = { readonly text: string; readonly kind: Kind | undefined };
type Kind = "keyword" | "string" | "number" | "comment" | "name";

const grammars = {
  ...{ bash, c, cpp, csharp, css, diff, go, ini, java, javascript, json, kotlin, markdown, php, python, r, ruby, rust },
  ...{ sql, swift, typescript, xml, yaml },
};

/** Names that people write and the library does not know, and types of files. */
const otherNames: Readonly<Record<string, string>> = {
  shell: "bash",
  toml: "ini",
  vue: "xml",
  svg: "xml",
  notebook: "json",
};

const kinds: Readonly<Record<string, Kind>> = {
  ...{ keyword: "keyword", "selector-tag": "keyword", "meta keyword": "keyword", literal: "number", number: "number" },
  ...{ string: "string", regexp: "string", addition: "string", "meta string": "string", char: "string" },
  ...{ comment: "comment", quote: "comment", meta: "comment", deletion: "keyword" },
  ...{ title: "name", "title.function": "name", "title.class": "name", name: "name", attr: "name", attribute: "name" },
  ...{
    built_in: "name",
    type: "name",
    section: "name",
    symbol: "number",
    "selector-class": "name",
    "selector-id": "name",
  },
};

for (const [name, grammar] of Object.entries(grammars)) hljs.registerLanguage(name, grammar);

/** Undefined where the language is not known, or the library gives up. */
export function highlight(code: string, language: string): readonly Piece[] | undefined {
  const name = otherNames[language.toLowerCase()] ?? language;
  if (hljs.getLanguage(name) === undefined) return undefined;
  const pieces = piecesOf(treeOf(code, name));
  // Where the library breaks down inside, it hands over what it has: colours are not worth a lost word.
  return pieces.map(({ text }) => text).join("") === code ? pieces : undefined;
}

/** What the library found, as its own tree. The markup that it could make of it is not used: nothing here makes markup of text. */
function treeOf(code: string, language: string): unknown {
  try {
    const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true });
    return "rootNode" in _emitter ? _emitter.rootNode : undefined;
  } catch {
    return undefined;
  }
}

/** The texts of the tree in their order. Not by calls inside of calls: code may be nested deeper than those can be. */
function piecesOf(tree: unknown): Piece[] {
  const pieces: Piece[] = [];
  const waiting: { readonly node: unknown; readonly kind: Kind | undefined }[] = [{ node: tree, kind: undefined }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, kind } = next;
    if (typeof node === "string") pieces.push({ text: node, kind });
    else if (isNode(node)) {
      const inner = kindInside(node.scope, kind);
      for (const child of node.children.toReversed()) waiting.push({ node: child, kind: inner });
    }
  }
  return pieces;
}

function isNode(value: unknown): value is { readonly scope?: unknown; readonly children: readonly unknown[] } {
  return typeof value === "object" && value !== null && "children" in value && Array.isArray(value.children);
}

/** Another language inside of this one has its own colours. */
function kindInside(scope: unknown, outside: Kind | undefined): Kind | undefined {
  if (typeof scope !== "string") return outside;
  if (scope.startsWith("language:")) return undefined;
  return kinds[scope] ?? kinds[scope.split(".")[0] ?? ""] ?? outside;
}
