import type { enCallers } from "./en-callers.ts";

export const zhCallers: typeof enCallers = {
  waits: (p) => `智能体在等待 ${p.count} 个决定：`,
  approval: (p) => `是否批准调用 ${p.tool}，参数为 ${p.arguments}？`,
  how: () =>
    '请在终端中用 /inbox 回答，或向上述地址发送 {"verdict": "approve"}、{"verdict": "reject"} 或 {"verdict": "answer", "answer": "…"}，然后在这里继续。',
};
