import type { enHttpAdvice } from "./en-http-advice.ts";

export const zhHttpAdvice: typeof enHttpAdvice = {
  conversation_not_found: "请列出您的会话，并使用其中的编号。",
  conversation_ambiguous: "请多给出几位会话编号。",
  decision_not_found: "GET /api/v1/decisions 可以查看待处理的确认项。",
  decision_already_made: "GET /api/v1/decisions 可以查看待处理的确认项。",
  answer_required: "请给出回答。",
  path_traversal_blocked: "请用不含 `..` 的相对路径指定这个会话的文件，例如 uploads/data.csv。",
  files_in_trash: "GET /api/v1/workspaces/trash 可以查看编号；POST /api/v1/workspaces/trash/{id}/restore 可以取回。",
  trash_not_found: "GET /api/v1/workspaces/trash 可以查看回收站。",
  context_exhausted: "请撤回最后一次处理并改短消息，换用窗口更大的模型，或者开始新会话。",
  rule_not_found: "GET /api/v1/rules 可以查看始终允许的内容。",
  rules_full: "请用 DELETE /api/v1/rules/{rule} 收回不再需要的规则，或只批准这一次。",
  memory_full: "请先用 DELETE /api/v1/memory/{memory} 删除不再成立的一条。",
  memory_not_found: "GET /api/v1/memory 可以查看全部。",
  model_quota: "请充值，或者换一个模型。",
  model_overloaded: "请过一会儿再发送，或者换一个模型。",
  model_context_overflow: "请开始新会话，或者换一个上下文更长的模型。",
  nobody_to_ask: "GET /api/v1/decisions 可以查看并作出决定。",
};
