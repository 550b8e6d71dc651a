import type { FaultWords, ValueType } from "./en-faults.ts";

export const zhFaults: FaultWords = {
  noFile: () => "没有这个文件",
  unreadable: (p) => `无法读取（${p.said}）`,
  noJson: (p) => `不是有效的 JSON（${p.said}）`,
  missing: () => "缺少",
  type: (p) => `应为${types[p.type]}`,
  choice: (p) => `应为以下之一：${p.values}`,
  tooLong: (p) => `不得超过 ${p.max} 个字符`,
  tooShort: (p) => (p.min === "1" ? "不能为空" : `至少需要 ${p.min} 个字符`),
  tooMany: (p) => `不得超过 ${p.max} 项`,
  tooFew: (p) => (p.min === "1" ? "不能为空" : `至少需要 ${p.min} 项`),
  tooBig: (p) => `不得大于 ${p.max}`,
  tooSmall: (p) => `不得小于 ${p.min}`,
  form: () => "格式不符合要求",
  unknown: (p) => `含有未知的内容：${p.keys}`,
  other: () => "不符合要求",
};

const types: Readonly<Record<ValueType, string>> = {
  text: "文本",
  number: "数字",
  whole: "整数",
  flag: "true 或 false",
  list: "列表",
  object: "对象",
  other: "其他类型",
};
