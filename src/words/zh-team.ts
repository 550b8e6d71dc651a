import type { enTeam } from "./en-team.ts";

export const zhTeam: typeof enTeam = {
  state: {
    idle: "空闲",
    working: "工作中",
    waiting_person: "等待您的决定",
    waiting_agents: "等待其他智能体",
    done: "已完成",
    failed: "失败",
    terminated: "已停止",
    limit: "达到上限",
  },
  steps: ({ count }) => `${count} 步`,
  tokens: ({ count }) => `${count} token`,
  begins: ({ task }) => `开始：${task}`,
  stopping: ({ name }) => `✓ 正在停止 ${name}。`,
  mails: ({ count }) => `${count} 条消息`,
  left: ({ left, limit }) => `剩余 ${left} / ${limit}`,
  hint: () => "/agents 名称 查看其中一个的全部情况；/agents stop 名称 停止它。",
  task: () => "任务：",
  messages: () => "消息：",
  files: () => "它自己的文件：",
  answer: () => "回答：",
  usage: () => "✗ 用法：/agents、/agents 名称，或 /agents stop 名称",
};
