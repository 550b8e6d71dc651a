import { z } from "zod";

/** The documents of the chat service, in its own spelling: what one answer is, and how it comes piece by piece. */
const SkillArgument = z.object({ name: z.string(), value: z.unknown(), type: z.string() });

const TokenUsage = z.object({
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  total_tokens: z.number(),
  prompt_tokens_details: z.object({ cached_tokens: z.number(), uncached_tokens: z.number() }),
});

/** One model call (`llm`) or one tool call (`skill`). Times are milliseconds since 1970; 0: not yet. */
export const ChatProgress = z.object({
  id: z.string(),
  agent_name: z.string(),
  stage: z.enum(["llm", "skill"]),
  /** Text of a model; of a tool its result as text, or as JSON where it is short JSON. */
  answer: z.unknown(),
  think: z.string(),
  status: z.enum(["processing", "completed", "failed"]),
  skill_info: z
    .object({ type: z.string(), name: z.string(), args: z.array(SkillArgument), checked: z.boolean() })
    .nullable(),
  input_message: z.string(),
  interrupted: z.boolean(),
  flags: z.null(),
  start_time: z.number(),
  end_time: z.number(),
  estimated_input_tokens: z.number(),
  estimated_output_tokens: z.number(),
  estimated_ratio_tokens: z.number(),
  token_usage: TokenUsage.nullable(),
});
export type ChatProgress = z.infer<typeof ChatProgress>;

/** A decision that is open. `handle` goes back verbatim with the answer; `resume_token` is the id of the decision. */
export const InterruptInfo = z.object({
  handle: z.object({
    frame_id: z.string(),
    snapshot_id: z.string(),
    resume_token: z.string(),
    interrupt_type: z.enum(["tool_interrupt", "user_input_request"]),
    current_block: z.number(),
    restart_block: z.boolean(),
  }),
  data: z.object({
    tool_name: z.string(),
    tool_description: z.string(),
    tool_args: z.array(z.object({ key: z.string(), value: z.unknown(), type: z.string() })),
    interrupt_config: z.object({ requires_confirmation: z.boolean(), confirmation_message: z.string() }),
  }),
});
export type InterruptInfo = z.infer<typeof InterruptInfo>;

const flatError = {
  error_code: z.string(),
  description: z.string(),
  solution: z.string(),
  error_link: z.string(),
  error_details: z.unknown(),
};
/** A failure inside a document: flat as in every other answer, and once more as older clients look for it. */
export const ChatError = z.object({
  ...flatError,
  HTTPCode: z.number(),
  Language: z.string(),
  BaseError: z.object(flatError),
});
export type ChatError = z.infer<typeof ChatError>;

const SelectedFile = z.object({ file_name: z.string() });

const ChatContent = z.object({
  final_answer: z.object({
    query: z.string(),
    answer: z.object({
      text: z.string(),
      cites: z.record(z.string(), z.unknown()),
      /** An open question of the agent; empty when there is none. */
      ask: z.record(z.string(), z.unknown()),
    }),
    selected_files: z.array(SelectedFile).nullable(),
    thinking: z.string(),
    skill_process: z.null(),
    answer_type_other: z.null(),
    output_variables_config: z.object({ answer_var: z.string() }),
  }),
  middle_answer: z.object({
    progress: z.array(ChatProgress),
    doc_retrieval: z.null(),
    graph_retrieval: z.null(),
    other_variables: z.record(z.string(), z.unknown()),
  }),
});

const ChatExt = z.object({
  interrupt_info: InterruptInfo.nullable(),
  related_queries: z.array(z.string()),
  /** Seconds, tokens and milliseconds; 0 until the turn has ended. */
  total_time: z.number(),
  total_tokens: z.number(),
  ttft: z.number(),
  agent_run_id: z.string(),
  error: z.object({ type: z.enum(["agent_factory", "agent_executor"]), error: z.object(flatError) }).nullable(),
});

/** One answer as it stands. */
export const ChatDocument = z.object({
  conversation_id: z.string(),
  agent_run_id: z.string(),
  user_message_id: z.string(),
  assistant_message_id: z.string(),
  message: z.object({
    id: z.string(),
    conversation_id: z.string(),
    role: z.literal("assistant"),
    content_type: z.literal("prompt"),
    /** Always empty here; the messages of a conversation have it. */
    status: z.literal(""),
    reply_id: z.string(),
    index: z.number().int(),
    agent_info: z.object({
      agent_id: z.string(),
      agent_name: z.string(),
      agent_status: z.string(),
      agent_version: z.string(),
    }),
    content: ChatContent,
    ext: ChatExt,
  }),
  error: ChatError.nullable(),
});
export type ChatDocument = z.infer<typeof ChatDocument>;

/** A place in a document: names of members and numbers of elements. */
export const ChatKey = z.array(z.union([z.string(), z.number().int().nonnegative()]));
export type ChatKey = readonly (string | number)[];

/** One frame of a stream of increments, numbered from 0 on. */
export const ChatIncrement = z.object({
  seq_id: z.number().int().nonnegative(),
  key: ChatKey,
  content: z.unknown(),
  action: z.enum(["upsert", "append", "remove", "end"]),
});
export type ChatIncrement = z.infer<typeof ChatIncrement>;

/** `succeded` is the wire's spelling. */
export const ChatMessageStatus = z.enum(["received", "processed", "processing", "succeded", "failed", "cancelled"]);
export type ChatMessageStatus = z.infer<typeof ChatMessageStatus>;

/** A message as the detail of a conversation has it: with the old names and, beside them, the plain ones. */
export const ChatMessage = z.object({
  id: z.string(),
  conversation_id: z.string(),
  agent_app_key: z.string(),
  index: z.number().int(),
  origin: z.enum(["user", "assistant"]),
  role: z.enum(["user", "assistant"]),
  content_type: z.literal("prompt"),
  /** JSON as text. */
  content: z.string(),
  content_json: z.unknown(),
  ext: z.string(),
  ext_json: z.unknown(),
  status: ChatMessageStatus,
  /** More than the status tells: `waiting_approval` while a person is asked, `queued` before its turn. */
  run_state: z.enum(["", "queued", "running", "waiting_approval"]),
  reply_id: z.string(),
  agent_info: z.string(),
  create_time: z.number(),
  update_time: z.number(),
  create_by: z.string(),
  update_by: z.string(),
  is_deleted: z.literal(0),
});
export type ChatMessage = z.infer<typeof ChatMessage>;
