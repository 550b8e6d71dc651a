import type { enChatFailures } from "./en-chat-failures.ts";

const zhParameterHints = {
  leave_out: "请去掉它。",
  functions_only: "请只发送函数；智能体自己的工具不必列出。",
  as_function: "请在消息中说明格式，或发送一个以该 schema 为参数的函数。",
  data_url: "请把图片放在请求里：data:image/png;base64,…",
  text_and_images: "请只发送文本和图片；其他文件请先上传到对话。",
  last_is_user: "消息应以用户消息或函数结果结尾。",
  sync_only: "请去掉它，或填写 sync：结果会一次返回。",
  openapi_only: "请填写 openapi，并在 `data` 中给出文档，或在 `tool` 中手工描述工具。",
  items: "请发送消息、function_call 和 function_call_output。",
};

export const zhChatFailures: typeof enChatFailures = {
  field_retired: (p) => [`不再接受 \`${p.field}\`。`, `请先上传文件，再在 \`${p.instead}\` 中写明文件名。`],
  selected_file_missing: (p) => [`这个对话的上传文件中没有 ${p.name}。`, "请先上传，或列出文件查看名称。"],
  selected_file_elsewhere: (p) => [
    `${p.name} 不是这个对话的文件。`,
    "请用文件名或 /workspace 下的路径指明本对话上传的文件。",
  ],
  conversation_of_agent: (p) => [`对话 ${p.id} 属于智能体 ${p.agent}。`, "请继续使用该智能体，或新建对话。"],
  agent_not_found: (p) => [`没有智能体 ${p.id}。`, "用 GET /v1/models 查看现有的智能体。"],
  run_not_found: (p) => [`对话 ${p.id} 中没有这个回合。`, "消息可在对话详情中查看；用 chat/completion 开始新的回合。"],
  sandbox_session_create_failed: () => [
    "创建沙箱会话失败。",
    "用 `agentyard doctor` 查看缺少什么，或不带文件发送消息。",
  ],
  sandbox_session_not_ready: () => ["沙箱会话初始化超时。", "请稍后重试，或不带文件发送消息。"],
  function_call_unknown: (p) => [`没有等待结果的调用 ${p.id}。`, "请使用上一个回答所请求的调用 id 发送结果。"],
  function_name_taken: (p) => [`智能体自己已有名为 ${p.name} 的工具。`, "请为您的函数换一个名称。"],
  parameter_unsupported: (p) => [`这里无法满足 \`${p.parameter}\`。`, zhParameterHints[p.hint]],
  server_closing: () => ["服务器正在关闭。", "请稍后重新发送请求。"],
  turn_cancelled: (p) => [`对话 ${p.id} 中的回合在完成前被停止。`, "请重新发送请求以开始新的回合。"],
  response_not_found: (p) => [`没有响应 ${p.id}。`, "请使用本服务器给出的响应 id，或不填此项并发送完整输入。"],
  response_in_conversation: (p) => [
    `这个响应属于对话 ${p.id}，其中还有其他内容。`,
    `请用 DELETE /api/v1/conversations/${p.id} 删除整个对话。`,
  ],
  key_used_otherwise: () => ["这个 Idempotency-Key 已用于另一个请求。", "请为每个新请求生成新的 key。"],
  key_in_use: (p) => ["这个 Idempotency-Key 对应的请求仍在运行。", `请在 ${p.retryAfterSeconds} 秒后再来取结果。`],
  key_unfit: () => ["这个 Idempotency-Key 不可用。", "请发送 1 到 255 个可见的 ASCII 字符。"],
};
