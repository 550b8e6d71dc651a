import type { enMarkdown } from "./en-markdown.ts";

export const zhMarkdown: typeof enMarkdown = {
  showAll: "显示全部",
  code: "代码",
  table: "表格",
  done: "已完成",
  notDone: "未完成",
  pictureAt: (host, text) => `${host} 上的图片${text === "" ? "" : `：${text}`}`,
};
