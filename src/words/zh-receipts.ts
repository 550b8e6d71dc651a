import type { enReceipts } from "./en-receipts.ts";

type Counted = { readonly count: number; readonly pages: string };

const some = (unit: string) => (p: Counted) => `${p.count} ${unit}${p.pages === "" ? "" : `（${p.pages}）`}`;

export const zhReceipts: typeof enReceipts = {
  and: "，",
  parts: {
    page: (p) => `${p.count} 页`,
    sheet: (p) => `${p.count} 个工作表`,
    slide: (p) => `${p.count} 张幻灯片`,
    chapter: (p) => `${p.count} 章`,
  },
  characters: (p) => `${p.count.toLocaleString("en")} 个字符`,
  tables: (p) => `${p.count} 个表格`,
  losses: {
    pages_without_text: (p) =>
      `${some("页")(p)}是没有文字的图片（例如扫描件），无法搜索：请先做文字识别（OCR）再重新发送`,
    damaged_pages: (p) => `${some("页")(p)}已损坏，未读取：请重新导出该文件`,
    pages_cut: (p) => `${some("页")(p)}过长，已截断`,
    formulas_without_value: (p) => `${some("个公式")(p)}没有存储的值：请用原程序打开并保存后重新发送`,
    hidden_sheets: (p) => `${some("个工作表")(p)}在文件中是隐藏的，也已读取`,
    damaged_sheets: (p) => `${some("个工作表")(p)}已损坏或缺失`,
    hidden_slides: (p) => `${some("张幻灯片")(p)}在文件中是隐藏的，也已读取`,
    damaged_slides: (p) => `${some("张幻灯片")(p)}已损坏或缺失`,
    missing_chapters: (p) => `文件中缺少 ${some("章")(p)}`,
    tracked_deletions: (p) => `${some("处修订中的删除内容")(p)}未读取`,
    damaged_parts: (p) => `文件的 ${some("个部分")(p)}已损坏`,
    duplicate_parts: (p) => `${some("个部分")(p)}在文件中重复，只读取了第一个`,
    embedded_parts: (p) => `${some("个嵌入的文件")(p)}未读取：请单独发送`,
    texts_missing: (p) => `单元格引用的 ${some("处文字")(p)}缺失`,
    undecodable_characters: (p) => `${some("处字符")(p)}无法解码`,
    long_lines: (p) => `${some("行")(p)}过长，已截断`,
    open_quotes: (p) => `${some("个引号")(p)}没有闭合`,
    type_differs: () => "文件名与内容的类型不同：已按内容读取",
  },
  otherLoss: (p) => `${p.kind}：${p.count} 处`,
  stopped: (p) => `只读取了一部分：上限为 ${p.limit}`,
  indexing: (p) => `… ${p.name}：正在读取${p.of > 0 ? `，${p.done}/${p.of}` : ""}`,
  goesOn: () => "仍在读取；搜索时会等待它",
};
