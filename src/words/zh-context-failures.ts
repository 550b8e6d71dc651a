import type { enContextFailures } from "./en-context-failures.ts";
import { zhApprovals } from "./zh-approvals.ts";

/** 上下文窗口、决定与记忆方面可能出的问题。 */
export const zhContextFailures: typeof enContextFailures = {
  context_exhausted: (p) => [
    `对话内容已放不进模型的上下文窗口：压缩后仍约有 ${p.used} 个 token，窗口为 ${p.window} 个。`,
    "请用 /undo 撤销最后一个回合并改短消息，换用窗口更大的模型，或用 /new 开始新对话。",
  ],
  compaction_off: () => [
    "上下文压缩已关闭。",
    "请设置 CONTEXT_MANAGEMENT_ENABLED=true（agentyard.yaml 中为 context.management_enabled），或开始新对话。",
  ],
  compaction_not_found: () => ["这个对话没有省略任何内容。", "可以直接继续：模型能看到全部内容。"],
  decision_broken: (p) => [
    `决定 ${p.id} 针对的不是这些参数，因此没有执行该调用。`,
    "请用 `agentyard doctor` 检查决定的记录。",
  ],
  rule_not_offered: (p) => [`这个决定没有第 ${p.option} 条可选规则。`, "请从列出的规则中选择，或只批准这一次。"],
  skill_not_found: (p) => [
    `没有技能 ${p.skill}。`,
    p.near === "" ? "输入 /skills 查看现有的技能。" : `是否指 ${p.near}？/skills 列出全部。`,
  ],
  rule_not_found: (p) => [`没有规则 ${p.id}。`, "输入 /rules 查看始终允许的内容。"],
  rules_full: (p) => [`您已有 ${p.max} 条规则。`, "请用 /rules 收回不再需要的规则，或只批准这一次。"],
  tool_denied: (p) => [`本系统的规则不允许 ${p.tool}：${reason(p)}。`, "运维人员可以在 hitl_rules.yaml 中修改。"],
  checker_broken: (p) => [
    `检查程序 ${p.file} 无法使用：${p.because === undefined ? p.why : zhApprovals.checker.noDefinition()}。`,
    "请修好它或把它移出该文件夹；在此之前不会启动，否则询问会比您期望的少。",
  ],
  memory_full: (p) => [`最多记住 ${p.max} 条。`, "请先用 /memory forget 忘记不再成立的一条。"],
  memory_not_found: (p) => [`没有记忆 ${p.id}。`, "输入 /memory 查看全部。"],
  memory_secret: () => ["这看起来是密码或密钥，不会被记住。", "请把密钥写入 .env。"],
};

function reason({ kind = "", what, source, why }: Parameters<typeof enContextFailures.tool_denied>[0]): string {
  if (what === undefined) return why;
  const found: Readonly<Record<string, (params: { what: string }) => string>> = zhApprovals.found;
  const words = (found[kind]?.({ what }) ?? what).replace(/[.。]$/, "");
  return source === undefined ? words : `${words}（${source}）`;
}
