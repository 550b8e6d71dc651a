/** What to do next where a failure is told over HTTP: the commands of the terminal are of no use there. */
export const enHttpAdvice = {
  conversation_not_found: "List your conversations and use the id of one of them.",
  conversation_ambiguous: "Send more of the id.",
  decision_not_found: "GET /api/v1/decisions lists what is open.",
  decision_already_made: "GET /api/v1/decisions lists what is open.",
  answer_required: "Send one.",
  path_traversal_blocked: "Name a file of this conversation by a relative path without `..`, such as uploads/data.csv.",
  files_in_trash:
    "GET /api/v1/workspaces/trash has their id; POST /api/v1/workspaces/trash/{id}/restore brings them back.",
  trash_not_found: "GET /api/v1/workspaces/trash lists what is there.",
  context_exhausted:
    "Take back the last turn and send a shorter message, choose a model with a larger window, or start a new conversation.",
  rule_not_found: "GET /api/v1/rules lists what is allowed always.",
  rules_full: "Remove those you no longer need with DELETE /api/v1/rules/{rule}, or approve this call once.",
  memory_full: "Remove one that is no longer true with DELETE /api/v1/memory/{memory}, then add this one.",
  memory_not_found: "GET /api/v1/memory lists all of them.",
  model_quota: "Top it up, or choose another model.",
  model_overloaded: "Send the message again in a while, or choose another model.",
  model_context_overflow: "Start a new conversation, or choose a model with a larger window.",
  nobody_to_ask: "GET /api/v1/decisions has it; answer it there.",
};
