import type { enLookup } from "./en-lookup.ts";

type Span = { readonly from: number; readonly to: number };

const span = (unit: string) => (p: Span) => (p.from >= p.to ? `第 ${p.from} ${unit}` : `第 ${p.from}–${p.to} ${unit}`);

export const zhLookup: typeof enLookup = {
  place: {
    page: span("页"),
    slide: span("张幻灯片"),
    chapter: span("章"),
    row: span("行"),
    line: span("行"),
    paragraph: span("段"),
    sheet: (p) => `工作表 ${p.name}`,
    printed: (p) => `印刷页码 ${p.label}`,
  },
  what: () => "✗ 要找什么？/search 词语、/search --files 词语 或 /search --messages 词语",
  optionUnknown: (p) => `✗ /search 没有选项 ${p.option}。请用 --files 或 --messages，或都不用。`,
  nothing: () => "没有找到。请换别的词语，或少用几个词。",
  shown: (p) =>
    `找到 ${p.total}${p.total >= 1_000 ? " 处以上" : " 处"}${p.shown === p.total ? "" : `，显示 ${p.shown} 处`} · 用 /open N 打开一处`,
  you: "您",
  agent: "智能体",
  here: "本对话",
  repaired: (p) => `“${p.said}”没有出现，改为查找“${p.meant}”`,
  missing: (p) => `没有出现：${p.words}`,
  behind: (p) => `还有 ${p.count} 个对话正在编入索引：请稍后再搜索`,
  waiting: (p) => `${p.path} 正在编入索引${p.of > 0 ? `（${p.done}/${p.of}）` : ""}：请稍后再搜索`,
  unread: (p) => `没有搜索 ${p.path}（${p.code}）：处理方法见 docs/api/failures.md`,
  partial: () => "文件太多，一次搜索看不完：已搜索最近的对话中的文件。",
  meaningTrouble: (p) =>
    p.why === "limit"
      ? "今天发送给嵌入模型的内容已达上限：其余部分只按词语搜索"
      : `只按词语搜索：嵌入模型没有回答（${p.why}）`,
  meaningBehind: (p) => `嵌入模型仍在处理（${p.embedded}/${p.passages} 段）：其余部分只按词语搜索`,
  noSearch: () => "✗ 没有可打开的结果：请先用 /search 搜索。",
  noSuch: (p) => `✗ 没有第 ${p.number} 处；上次搜索有 1 到 ${p.count}。`,
  gone: () => "✗ 它已经不在了：请重新搜索。",
  readOn: (p) => `想继续看：请向智能体询问 ${p.path}，或用 /save ${p.path} 复制到本机`,
};
