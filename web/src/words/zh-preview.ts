import type { enPreview } from "./en-preview.ts";

export const zhPreview: typeof enPreview = {
  loading: "正在读取……",
  nothing: "此类文件无法在这里显示。请下载后打开。",
  empty: "文件为空。",
  retry: "重试",
  source: "源代码",
  rendered: "预览",
  text: "文本",
  sheets: "工作表",
  table: (p) => `表格 ${p.name}`,
  rows: (p) => `${p.rows} 行，${p.columns} 列`,
  lines: (p) => `${p.lines} 行`,
  cut: "只显示了一部分：文件超出了读取上限。",
  more: "显示更多",
  page: (p) => `第 ${p.page} 页`,
  slide: (p) => `第 ${p.slide} 张`,
  chapter: (p) => `第 ${p.chapter} 章`,
  frame: (p) => `${p.name}，以无权限方式显示`,
  fit: "适应宽度",
  fullSize: "原始大小",
  indexing: { waiting: "等待建立索引", reading: "正在建立索引", indexed: "可搜索", failed: "无法搜索" },
};
