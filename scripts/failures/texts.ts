// What each failure says and advises, in English, for the causes and kinds that its parameters may name.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "oxc-parser";
import { isFailureCode, statusOf } from "../../src/http/status.ts";
import { type Failure, storedFailure } from "../../src/protocol/failure.ts";
import { failureWords, failureWordsOverHttp, wordsFor } from "../../src/words/words.ts";
import { isTree, nameOf, type Tree, treesIn } from "./trees.ts";

export interface FailureText {
  readonly code: string;
  /** The cause, where the code has several. */
  readonly why: string | undefined;
  readonly status: number;
  readonly what: string;
  readonly next: string;
  readonly nextOverHttp: string;
}

type Params = Readonly<Record<string, unknown>>;
/** A parameter, and what it may be: its own name in braces, where it may be anything. */
type Param = {
  readonly name: string;
  readonly values: readonly unknown[];
  readonly isOptional: boolean;
  readonly isNumber: boolean;
};

const words = wordsFor("en");

/** All codes in the order of the alphabet, each with what it may say. */
export function failureTexts(root: string): FailureText[] {
  const types = new ParamTypes(root);
  return Object.keys(words.failures)
    .sort()
    .flatMap((code) => textsOf(code, types.paramsOf(code)));
}

/** One text for the first value of all parameters, and one for each other value where another cause or other advice is told. */
function textsOf(code: string, params: readonly Param[]): FailureText[] {
  const base = textOf(code, {}, params);
  const others = params.flatMap(({ name, values, isOptional }) =>
    values.slice(isOptional ? 0 : 1).flatMap((value) => {
      const other = textOf(code, { [name]: value }, params);
      // The cause is told where it makes the difference.
      return isWithout(base, other, name) ? [] : [name === "why" ? other : { ...other, why: undefined }];
    }),
  );
  const all = [base, ...others];
  return all.filter((text, index) => all.findIndex((other) => isTold(text, other)) === index);
}

function isTold(text: FailureText, { why, next, nextOverHttp }: FailureText): boolean {
  // A part that may be empty leaves a blank behind.
  const same = (one: string, other: string) => one === other.replaceAll("  ", " ");
  return (text.why === undefined || text.why === why) && same(text.next, next) && same(text.nextOverHttp, nextOverHttp);
}

/** Whether it is the other text with a hole where the parameter stood. */
function isWithout(full: FailureText, text: FailureText, name: string): boolean {
  const hole = (said: string) => said.includes(`{${name}}`);
  const without = (said: string) => said.replaceAll(`{${name}}`, "");
  return (hole(full.what) && without(full.what) === text.what) || (hole(full.next) && without(full.next) === text.next);
}

/** Without what may be left out, where that makes a sentence; numbers are examples where something is reckoned with them. */
function textOf(code: string, changed: Params, params: readonly Param[]): FailureText {
  const firsts = (some: readonly Param[]) => Object.fromEntries(some.map(({ name, values }) => [name, values[0]]));
  const needed = firsts(params.filter(({ isOptional }) => !isOptional));
  const numbers = Object.fromEntries(params.filter(({ isNumber }) => isNumber).map(({ name }) => [name, 8]));
  const tries = [needed, firsts(params), { ...needed, ...numbers }, { ...firsts(params), ...numbers }];
  for (const one of tries) {
    const text = said(code, { ...one, ...changed });
    if (text !== undefined && !/undefined|NaN|Infinity/.test(text.what + text.next + text.nextOverHttp)) return text;
  }
  throw new Error(`${code} cannot be told with ${JSON.stringify(changed)}`);
}

/** Undefined: something reckons with a number, and has none. */
function said(code: string, params: Params): FailureText | undefined {
  if (!isFailureCode(code)) throw new Error(`${code} has no status`);
  const failure = storedFailure(code, params);
  const [what, next, nextOverHttp] = wordsOf(failure) ?? [];
  if (what === undefined || next === undefined || nextOverHttp === undefined) return undefined;
  const why = typeof params.why === "string" && !params.why.startsWith("{") ? params.why : undefined;
  return { code, why, status: statusOf(failure), what, next, nextOverHttp };
}

function wordsOf(failure: Failure): [what: string, next: string, nextOverHttp: string] | undefined {
  try {
    return [...failureWords(words, failure), failureWordsOverHttp(words, failure)[1]];
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
}

/** Reads the types of parameters where the words stand. */
class ParamTypes {
  readonly #aliases = new Map<string, Tree>();
  readonly #tables = new Map<string, string[]>();
  readonly #params = new Map<string, Tree | undefined>();

  constructor(root: string) {
    for (const file of filesOfWords(root)) {
      const program: unknown = parseSync(file, readFileSync(join(root, file), "utf8")).program;
      if (isTree(program)) this.#take(program);
    }
  }

  paramsOf(code: string): Param[] {
    if (!this.#params.has(code)) throw new Error(`${code}: its words were not found`);
    const type = this.#params.get(code);
    return type === undefined ? [] : this.#membersOf(type);
  }

  #take(tree: Tree): void {
    if (tree.type === "TSTypeAliasDeclaration" && isTree(tree.typeAnnotation))
      this.#aliases.set(nameOf(tree.id), tree.typeAnnotation);
    if (tree.type === "VariableDeclarator" && isTree(tree.init))
      this.#tables.set(
        nameOf(tree.id),
        treesIn(tree.init.properties).map(({ key }) => nameOf(key)),
      );
    const [value] = tree.type === "Property" ? treesIn(tree.value) : [];
    const code = nameOf(tree.key);
    if (value?.type === "ArrowFunctionExpression" && isFailureCode(code) && !this.#params.has(code))
      this.#params.set(code, typeOf(treesIn(value.params)[0]));
    for (const inner of Object.values(tree).flatMap(treesIn)) this.#take(inner);
  }

  #membersOf(type: Tree): Param[] {
    if (type.type === "TSIntersectionType") return treesIn(type.types).flatMap((part) => this.#membersOf(part));
    if (type.type === "TSTypeReference") {
      const [of] = treesIn(Object(type.typeArguments).params);
      const alias = of ?? this.#aliases.get(nameOf(type.typeName));
      return alias === undefined ? [] : this.#membersOf(alias);
    }
    return treesIn(type.members).map((member) => {
      const name = nameOf(member.key);
      const of = typeOf(member);
      const values = of === undefined ? [] : this.#valuesOf(of, name);
      return { name, values, isOptional: member.optional === true, isNumber: of?.type === "TSNumberKeyword" };
    });
  }

  #valuesOf(type: Tree, name: string): unknown[] {
    switch (type.type) {
      case "TSUnionType":
        return treesIn(type.types).flatMap((part) => this.#valuesOf(part, name));
      case "TSParenthesizedType":
        return treesIn(type.typeAnnotation).flatMap((part) => this.#valuesOf(part, name));
      case "TSLiteralType":
        return [Object(type.literal).value];
      case "TSBooleanKeyword":
        return [true, false];
      case "TSStringKeyword":
        return [`{${name}}`, ""];
      case "TSTypeReference": {
        const alias = this.#aliases.get(nameOf(type.typeName));
        return alias === undefined ? [`{${name}}`] : this.#valuesOf(alias, name);
      }
      // `keyof typeof rules`
      case "TSTypeOperator":
        return this.#tables.get(nameOf(Object(type.typeAnnotation).exprName)) ?? [];
      default:
        return [`{${name}}`];
    }
  }
}

function typeOf(tree: Tree | undefined): Tree | undefined {
  const [annotation] = treesIn(tree?.typeAnnotation);
  return treesIn(annotation?.typeAnnotation)[0];
}

/** Where failures have their words, and the types of their parameters. */
function filesOfWords(root: string): string[] {
  const files = "src/words/{en-*failures,en-budget,client-failures,en-model-faults,en-sandbox}.ts";
  return [...globSync(files, { cwd: root }).sort(), "src/base/fault.ts"];
}
