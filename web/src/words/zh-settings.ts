import type { enSettings } from "./en-settings.ts";

export const zhSettings: typeof enSettings = {
  title: "设置",
  about: "主题和语言可以在对话列表底部修改。",
};
