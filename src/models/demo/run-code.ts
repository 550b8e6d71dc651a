import { whyNot } from "./code-profile.ts";
import { first, type Intent } from "./intent.ts";
import { fenced, shown } from "./shown-text.ts";

// Code that the user wrote into the message, and sums: both run in the sandbox.

type Language = "python" | "bash" | "javascript";
type CodeWish = { readonly language: Language; readonly code: string };

const tool = "execute_code";

export const codeIntent: Intent = {
  name: "run code",
  // A program that fails is a result; why the tool itself did not work is told with what to do about it.
  tellsFailures: true,
  matches: (_, { written }) => codeWish(written) !== undefined,
  calls: first(({ written }) => [{ name: tool, arguments: { ...codeWish(written) } }]),
  answer: ({ done }, { words }) => {
    const call = done.findLast(({ name }) => name === tool);
    if (call?.failure !== undefined) return whyNot(call, words.ownCode);
    return words.ranCommand(fenced(shown(call?.result ?? "")));
  },
};

/** A longer text is no order; a program may be long. */
const orderCharactersMax = 300;
const codeCharactersMax = 50_000;

/** `run python: …`, `Python：…`, `运行代码：…`, a block between fences with or without such an order, `what is 6 * 7?`. */
function codeWish(text: string): CodeWish | undefined {
  if (text.length > codeCharactersMax) return undefined;
  return inFences(text) ?? afterOrder(text) ?? sumIn(text);
}

const languages: Readonly<Record<string, Language>> = {
  ...{ "": "python", py: "python", python: "python", python3: "python" },
  ...{ bash: "bash", sh: "bash", shell: "bash", js: "javascript", javascript: "javascript", node: "javascript" },
};
const named = "(?<language>python3?|py|bash|shell|sh|javascript|js|node)(?!\\w)";

/** A single block; what stands around it asks to run it, or there is nothing around it and its language is named. */
function inFences(text: string): CodeWish | undefined {
  const parts = text.trim().split(/^[ \t]*```[ \t]*/m);
  const [before = "", block = "", after = ""] = parts;
  if (parts.length !== 3) return undefined;
  const [, name = "", code = ""] = /^(\w*)[^\n]*\n([\s\S]*)$/.exec(block) ?? [];
  const order = `${before}${after}`.trim();
  const isAsked = order === "" ? name !== "" : order.length <= orderCharactersMax && isOrder.test(order);
  return isAsked ? wishOf(name, code) : undefined;
}

const isOrder = /\b(run|execute|try|compute|calculate|evaluate)\b|运行|执行|跑|试|计算/i;

function afterOrder(text: string): CodeWish | undefined {
  for (const order of orders) {
    const { language = "", code = "" } = order.exec(text.trim())?.groups ?? {};
    const wish = wishOf(language, code.replace(/^`([^`]+)`$/, "$1"));
    if (wish !== undefined) return wish;
  }
  return undefined;
}

const noun = "(?:code|script|program|snippet|one-liner)";
/** No two parts in a row may take the same character: what does not fit would be tried in every way there is. */
const orders: readonly RegExp[] = [
  form(
    `(?:(?:please|can you|could you|now|then)[\\s,]+)*(?:run|execute)\\s+(?:(?:this|the|some|following)\\s+)*(?:${named}(?:\\s+${noun})?|${noun}(?:\\s+in\\s+${named})?)\\s*[:：]\\s*(?<code>.+)`,
  ),
  form(`(?:(?:please|can you|could you|now|then)[\\s,]+)*(?:run|execute)\\s+(?<code>print\\s*\\(.*\\))`),
  form(`${named}(?:\\s+${noun})?\\s*[:：]\\s*(?<code>.+)`),
  form(
    `(?:请|麻烦|帮我|现在|然后|[\\s，,])*(?:用\\s*)?(?:${named}\\s*)?(?:来)?(?:运行|执行|跑)(?:一下|这段|以下|下面的?|\\s)*(?:(?:代码|程序|脚本)\\s*)?[:：]\\s*(?<code>.+)`,
  ),
  form(
    `(?:请|麻烦|帮我|现在|然后|[\\s，,])*(?:运行|执行|跑)(?:一下|这段|以下|下面的?|\\s)*${named}\\s*(?:(?:代码|程序|脚本)\\s*)?(?:[:：]\\s*)?(?<code>\\S.*)`,
  ),
];

/** Numbers and the signs between them; a date, a version or a telephone number is none. */
function sumIn(text: string): CodeWish | undefined {
  if (text.length > orderCharactersMax) return undefined;
  const [, sum = ""] = sumForm.exec(text.trim()) ?? [];
  const isSum = /[\d)]\s*(?:\*\*|[+*/×÷^%]|\s-\s)\s*[-(\d]/.test(sum);
  const code = sum.replaceAll("×", "*").replaceAll("÷", "/").replaceAll("^", "**").trim();
  return isSum ? wishOf("python", `print(${code})`) : undefined;
}

const sumForm =
  /^(?:(?:please|请|帮我)[\s,，]*)*(?:(?:what(?:'s|’s| is)|how much is|compute|calculate|计算|算一下|算算|算)[\s:：,，]*)?([\d(][\d\s.()+*/×÷^%-]*[\d)])\s*(?:=|等于多少|是多少|等于几)?\s*[?？。.]?$/i;

function wishOf(name: string, written: string): CodeWish | undefined {
  const language = languages[name.toLowerCase()];
  const code = written.trim();
  return language === undefined || code === "" ? undefined : { language, code };
}

function form(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`, "isu");
}
