import type { enChat } from "./en-chat.ts";

export const zhChat: typeof enChat = {
  heading: "对话",
  greeting: "需要做什么？",
  demo: "还没有连接模型，由演示模型回答。它不是 AI，但会使用真实的工具。",
  placeholder: "输入消息…",
  message: "消息",
  send: "发送",
  stop: "停止",
  stopping: "正在停止…",
  thread: "消息列表",
  you: "您",
  assistant: "助手",
  writing: "正在回答。",
  thinking: "正在思考…",
  thought: "思考过程",
  loading: "正在加载…",
  notFound: "这个对话不存在，或者属于其他用户。",
  deleted: "这个对话已被删除。",
  notSent: "未发送",
  sending: "正在发送…",
};
