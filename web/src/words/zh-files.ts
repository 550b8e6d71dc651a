import type { enFiles } from "./en-files.ts";

export const zhFiles: typeof enFiles = {
  title: "文件",
  about: "对话的文件显示在对话旁边。",
};
