/** What to do about a parameter of a caller that we cannot honour. */
const enParameterHints = {
  leave_out: "Leave it out.",
  functions_only: "Send functions only; the agent's own tools need not be named.",
  as_function: "Describe the form in the messages, or send a function whose parameters are your schema.",
  data_url: "Send an image inside the request, as data:image/png;base64,…",
  text_and_images: "Send text and images only; upload other files to a conversation first.",
  last_is_user: "Let the messages end with one of the user or with results of functions.",
  sync_only: "Leave it out, or send sync: the answer comes as a whole.",
  openapi_only: "Send openapi, with a document in `data` or a tool by hand in `tool`.",
  items: "Send messages, function_call and function_call_output items.",
};

/** What can go wrong with a chat over HTTP. */
export const enChatFailures = {
  field_retired: (p: { field: string; instead: string }) => [
    `\`${p.field}\` is not taken any more.`,
    `Upload the file, then name it in \`${p.instead}\`.`,
  ],
  selected_file_missing: (p: { name: string }) => [
    `There is no file ${p.name} among the uploads of this conversation.`,
    "Upload it first, or list the files to see their names.",
  ],
  selected_file_elsewhere: (p: { name: string }) => [
    `${p.name} is no file of this conversation.`,
    "Name a file of this conversation's own uploads, by its name or its path below /workspace.",
  ],
  conversation_of_agent: (p: { id: string; agent: string }) => [
    `Conversation ${p.id} belongs to the agent ${p.agent}.`,
    "Go on with that agent, or start a new conversation.",
  ],
  agent_not_found: (p: { id: string }) => [`There is no agent ${p.id}.`, "See those there are with GET /v1/models."],
  run_not_found: (p: { id: string }) => [
    `There is no such turn in conversation ${p.id}.`,
    "Its messages are in its detail; start a turn with chat/completion.",
  ],
  sandbox_session_create_failed: () => [
    "Failed to create sandbox session.",
    "See what is missing with `agentyard doctor`, or send the message without files.",
  ],
  sandbox_session_not_ready: () => [
    "Sandbox session initialization timeout.",
    "Try again in a moment, or send the message without files.",
  ],
  function_call_unknown: (p: { id: string }) => [
    `No call ${p.id} waits for a result.`,
    "Send the result under the id of a call that the last answer asked for.",
  ],
  function_name_taken: (p: { name: string; parameter: string }) => [
    `The agent has a tool of its own that is called ${p.name}.`,
    "Give your function another name.",
  ],
  parameter_unsupported: (p: { parameter: string; hint: keyof typeof enParameterHints }) => [
    `\`${p.parameter}\` cannot be honoured here.`,
    enParameterHints[p.hint],
  ],
  server_closing: () => ["The server is closing.", "Send the request again in a moment."],
  turn_cancelled: (p: { id: string }) => [
    `The turn in conversation ${p.id} was stopped before it was done.`,
    "Send the request again to start a new one.",
  ],
  response_not_found: (p: { id: string }) => [
    `There is no response ${p.id}.`,
    "Use the id of a response that this server gave you, or leave it out and send the whole input.",
  ],
  response_in_conversation: (p: { id: string }) => [
    `This response belongs to conversation ${p.id}, with others.`,
    `Delete all of it with DELETE /api/v1/conversations/${p.id}.`,
  ],
  key_used_otherwise: () => [
    "This Idempotency-Key was used for another request.",
    "Make a new key for each new request.",
  ],
  key_in_use: (p: { retryAfterSeconds: number }) => [
    "A request under this Idempotency-Key is still running.",
    `Ask again in ${p.retryAfterSeconds} s for its answer.`,
  ],
  key_unfit: () => ["The Idempotency-Key is not usable.", "Send 1 to 255 visible ASCII characters."],
} satisfies Record<string, (params: never) => [string, string]>;
