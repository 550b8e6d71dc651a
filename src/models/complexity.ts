import { estimateTokens } from "./estimate.ts";

const partsMin = 3;
const longTokensMin = 600;

/** Requests that want thinking before acting, in both languages. Words of everyday requests do not belong here. */
const signs: readonly { readonly name: string; readonly words: RegExp }[] = [
  { name: "proof", words: /\b(prove|proof|derive|derivation)\b|证明|推导/iu },
  {
    name: "steps",
    words:
      /\b(step[- ]by[- ]step|think (hard|carefully|deeply|it through))\b|一步一步|逐步|仔细(想|思考|推敲)|深入(思考|分析)/iu,
  },
  { name: "comparison", words: /\b(trade-?offs?|pros and cons)\b|权衡|取舍|利弊|优缺点|优劣/iu },
  { name: "cause", words: /\b(root[- ]cause|why does .{1,80} (fail|crash|hang|deadlock|leak))|根因|根本原因/iu },
  {
    name: "design",
    words:
      /\bdesign an? .{0,40}(system|architecture|protocol|algorithm|schema)\b|\barchitecture for\b|(设计|规划).{0,20}(系统|架构|方案|协议|算法)/iu,
  },
  {
    name: "optimum",
    words:
      /\b(optimi[sz]e|minimi[sz]e|maximi[sz]e)\b.{0,80}\b(subject to|constraints?|under)\b|最优(解|化)|在.{1,30}约束下/iu,
  },
];

/** A line of a list: `1.` `2)` `(3)` `-` `*` `一、` `（二）` `第三，` `①`. */
const listed =
  /^[ \t]*(?:\d{1,2}(?:[)、．]|\.(?!\d))\s*\S|[(（][\d一二三四五六七八九十]{1,2}[)）]|[-*•]\s+\S|[一二三四五六七八九十]{1,2}、|第[一二三四五六七八九十]{1,2}[,，、:：步]|[①-⑳])/gmu;

/**
 * Why a request counts as a complex task, in a few words, or nothing when it does not. The rule, in this order: it has
 * three or more listed parts; it holds one of the signs above; its own words are 600 estimated tokens or more. Text
 * that was pasted as a code block or a quotation does not count: it is material, not the request.
 */
export function complexity(task: string): string | undefined {
  const request = task.replace(/```[\s\S]*?(```|$)/g, "").replace(/^[ \t]*>.*$/gm, "");
  const parts = request.match(listed)?.length ?? 0;
  if (parts >= partsMin) return `${parts} parts`;
  const sign = signs.find(({ words }) => words.test(request));
  if (sign !== undefined) return sign.name;
  return estimateTokens(request) >= longTokensMin ? "long" : undefined;
}
