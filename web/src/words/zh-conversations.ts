import type { enConversations } from "./en-conversations.ts";

export const zhConversations: typeof enConversations = {
  list: "对话",
  search: "搜索对话",
  untitled: "新对话",
  none: "还没有对话。发送第一条消息即可开始。",
  noneFound: "没有标题包含这些文字。",
  failed: "无法加载列表。",
  again: "重试",
  more: "显示更早的对话",
  groups: { pinned: "已置顶", today: "今天", week: "最近 7 天", month: "最近 30 天", older: "更早" },
  menu: (p) => `${p.title} 的菜单`,
  rename: "重命名",
  renameTo: "新标题",
  pin: "置顶",
  unpin: "取消置顶",
  remove: "删除",
  removed: (p) => `已删除“${p.title}”及其文件。`,
  undo: "撤销",
  unread: "有未读的新内容",
  notRenamed: "无法修改标题。",
};
