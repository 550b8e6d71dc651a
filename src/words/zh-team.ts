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
  usage: () => "✗ 用法：/agents，或 /agents stop 名称",
};
