import type { enAgentFailures } from "./en-agent-failures.ts";

export const zhAgentFailures: typeof enAgentFailures = {
  agent_unknown: ({ name }) => [`本对话中没有名为 ${name} 的智能体。`, "查看本对话的智能体列表，再指定其中之一。"],
  agent_ended: ({ name }) => [
    `智能体 ${name} 已经结束，消息无法再送达。`,
    "使用它结束时给出的内容，或启动另一个智能体。",
  ],
  agent_out_of_reach: ({ name }) => [
    `从这里无法联系智能体 ${name}：它属于另一个任务。`,
    "请写给上级，或同一任务中的智能体。",
  ],
  agent_not_yours: ({ name }) => [
    `智能体 ${name} 不是由要结束它的一方创建的。`,
    "只有其上级可以结束它：请发消息告知上级。",
  ],
  mail_in_circles: ({ from, to, because, times }) => [
    `${from} 和 ${to} 只是在互相写消息（${
      because === "same_mail" ? `同一消息 ${times} 次` : `${times} 条消息，其间没有做任何工作`
    }）。最后一条消息没有送达，这样的智能体会被结束。`,
    "把这样的工作交给一个智能体，或在一条消息里说清对方需要的一切。",
  ],
  hand_over_too_many: ({ count, max }) => [
    `要移交的文件有 ${count} 个，最多 ${max} 个。`,
    "只写真正需要的文件或文件夹。",
  ],
};
