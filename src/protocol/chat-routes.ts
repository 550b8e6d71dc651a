import { z } from "zod";
import { ChatDocument, ChatMessage } from "./chat.ts";
import { completing, failures, storing } from "./chat-failures.ts";
import { FreeForm, few } from "./free-form.ts";
import { bodyBytes, Empty, type Route } from "./route.ts";

/** Titles are cut to so many characters where they are made from what was said. */
export const chatTitleCharactersMax = 50;

const chatNameCharactersMax = 200;
const chatPathCharactersMax = 4_096;
const chatTitleGivenCharactersMax = 200;
const chatTextCharactersMax = 4_000_000;
const chatSelectedMax = 100;
const chatHistoryMax = 10_000;
const chatInputsMax = 1_000;
const chatInputsCharactersMax = 1_000_000;
const chatPageMax = 1_000;

/** `null` and an empty text mean left out, as clients of several languages send it. */
const name = z.string().max(chatNameCharactersMax).nullish();
const flag = z.boolean().nullish();

const SelectedFiles = z
  .array(z.object({ file_name: z.string().min(1).max(chatPathCharactersMax) }))
  .max(chatSelectedMax);

const History = z
  .array(
    z.object({
      role: z.enum(["user", "assistant", "system"]),
      content: z.string().max(chatTextCharactersMax).nullish(),
    }),
  )
  .max(chatHistoryMax);

/** Stored with the message and put before the model: more than that is a file. */
const Inputs = few(FreeForm, chatInputsMax).refine(
  (inputs) => JSON.stringify(inputs).length <= chatInputsCharactersMax,
  {
    error: `more than ${chatInputsCharactersMax} characters of JSON`,
  },
);

const ResumeInterruptInfo = z.object({
  /** As it came in `ext.interrupt_info.handle`. */
  resume_handle: z.looseObject({ resume_token: z.string().min(1).max(chatNameCharactersMax) }),
  action: z.enum(["confirm", "skip"]),
  modified_args: z
    .array(z.object({ key: z.string().max(chatNameCharactersMax), value: z.unknown().optional() }))
    .max(chatInputsMax)
    .nullish(),
  data: z.unknown().optional(),
});

/** Each spelling of these is taken; the first one counts. */
const said = {
  query: z.string().max(chatTextCharactersMax).nullish(),
  selected_files: SelectedFiles.nullish(),
  history: History.nullish(),
  custom_querys: Inputs.nullish(),
  custom_queries: Inputs.nullish(),
  /** Not taken any more: whoever sends them is told what to use. */
  temporary_area_id: z.unknown().optional(),
  temp_files: z.unknown().optional(),
};

const ChatOption = z.object({
  is_need_history: flag,
  is_need_progress: flag,
  is_need_doc_retrival_post_process: flag,
  is_need_doc_retrieval_post_process: flag,
  enable_dependency_cache: flag,
});

const Chat = z.object({
  ...said,
  user_id: name,
  agent_id: name,
  agent_key: name,
  agent_version: name,
  conversation_id: z.string().nullish(),
  chat_mode: z.enum(["", "normal", "deep_thinking"]).nullish(),
  model_name: name,
  stream: flag,
  inc_stream: flag,
  executor_version: name,
  agent_run_id: name,
  resume_interrupt_info: ResumeInterruptInfo.nullish(),
  interrupted_assistant_message_id: name,
  regenerate_user_message_id: name,
  regenerate_assistant_message_id: name,
  chat_option: ChatOption.nullish(),
});
export type ChatBody = z.output<typeof Chat>;

/** The same with what is said one level down. */
const Debug = Chat.extend({ input: z.object(said).nullish() });

/** A conversation by the service's names; times are milliseconds since 1970. */
const ChatConversation = z.object({
  id: z.string(),
  agent_app_key: z.string(),
  title: z.string(),
  origin: z.enum(["web_chat", "api_chat"]),
  message_index: z.number().int(),
  read_message_index: z.number().int(),
  ext: z.string(),
  create_time: z.number(),
  update_time: z.number(),
  create_by: z.string(),
  update_by: z.string(),
  is_deleted: z.literal(0),
  temparea_id: z.literal(""),
  /** The state of its newest answer; empty when there is none. */
  status: z.enum(["", "processing", "completed", "cancelled", "failed"]),
  /** More than the status tells: `waiting_approval` while a person is asked. */
  run_state: ChatMessage.shape.run_state,
});
export type ChatConversation = z.infer<typeof ChatConversation>;

const service = z.enum(["agent-app", "agent-factory"]);
const patterns = { service: service.options.join("|") } as const;
/** Without what no name has and what would stand in every row of the log. */
const key = z
  .string()
  .min(1)
  .max(chatNameCharactersMax)
  .regex(/^\P{Cc}+$/u);
const OfApp = z.object({ service, app_key: key });
const OfConversation = OfApp.extend({ id: z.string() });
const base = "/api/{service}/v1";
const app = `${base}/app/{app_key}` as const;
const chat = { scope: "chat", dialect: "chat", patterns } as const;

const completion = {
  ...chat,
  method: "POST",
  creates: true,
  mayStream: true,
  bodyBytesMax: bodyBytes.large,
  status: 200,
  failures: completing,
  query: Empty,
  answer: ChatDocument,
} as const;

/** The chat service's routes, under both names it has had. */
export const chatRoutes = {
  chatCompletion: {
    ...completion,
    path: `${app}/chat/completion`,
    summary: "Say something to an agent; the answer as a stream of changes, of whole documents, or at once.",
    params: OfApp,
    body: Chat,
  },
  debugCompletion: {
    ...completion,
    path: `${app}/debug/completion`,
    summary: "The same with what is said under `input`.",
    params: OfApp,
    body: Debug,
  },
  apiChatCompletion: {
    ...completion,
    path: `${app}/api/chat/completion`,
    summary: "The same for other software: the answer at once, unless a stream is asked for.",
    params: OfApp,
    body: Chat,
  },
  plainChatCompletion: {
    ...completion,
    path: `${base}/api/chat/completion`,
    summary: "The same for callers that name the agent in the body alone.",
    params: z.object({ service }),
    body: Chat,
  },
  resumeChat: {
    method: "POST",
    ...chat,
    path: `${app}/chat/resume`,
    summary: "Go on reading the answer of a conversation, from wherever the reader was cut off.",
    params: OfApp,
    query: Empty,
    body: z.object({
      conversation_id: z.string(),
      user_id: name,
      /** One of several that wait or run; the one that runs unless said otherwise, else the newest. */
      agent_run_id: name,
      /** The reader's last frame: those that follow are numbered from there on. */
      last_seq_id: z.number().int().min(-1).nullish(),
      stream: flag,
      inc_stream: flag,
      chat_option: ChatOption.nullish(),
    }),
    mayStream: true,
    status: 200,
    failures: [...failures, "run_not_found"],
    answer: ChatDocument,
  },
  terminateChat: {
    method: "POST",
    ...chat,
    path: `${app}/chat/termination`,
    summary: "Stop what runs in a conversation; nothing running is fine, too.",
    params: OfApp,
    query: Empty,
    body: z.object({
      conversation_id: z.string(),
      user_id: name,
      agent_run_id: name,
      interrupted_assistant_message_id: name,
    }),
    status: 204,
    failures,
    answer: Empty,
  },
  describeAgent: {
    method: "POST",
    ...chat,
    path: `${app}/api/doc`,
    summary: "How to chat with one agent, as an OpenAPI document.",
    params: OfApp,
    query: Empty,
    body: z.object({ app_key: name, agent_id: name, agent_key: name, agent_version: name }),
    status: 200,
    failures: ["bad_request"],
    answer: z.record(z.string(), z.unknown()),
  },
  listChatConversations: {
    method: "GET",
    ...chat,
    path: `${app}/conversation`,
    summary: "The caller's conversations under this key, those that changed last first.",
    params: OfApp,
    query: z.object({
      page: z.coerce.number().int().min(1).max(1_000_000).default(1),
      size: z.coerce.number().int().min(1).max(chatPageMax).default(10),
      title: z.string().max(chatTitleGivenCharactersMax).optional(),
    }),
    body: Empty,
    status: 200,
    failures: ["bad_request", "user_unknown"],
    answer: z.object({ entries: z.array(ChatConversation), total: z.number().int() }),
  },
  getChatConversation: {
    method: "GET",
    ...chat,
    path: `${app}/conversation/{id}`,
    summary: "A conversation with its messages.",
    params: OfConversation,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["bad_request", "user_unknown", "conversation_not_found"],
    /** `Messages` as the service spells it, and the same in plain. */
    answer: ChatConversation.extend({ Messages: z.array(ChatMessage), messages: z.array(ChatMessage) }),
  },
  createChatConversation: {
    method: "POST",
    ...chat,
    path: `${app}/conversation`,
    summary: "Start a conversation.",
    creates: true,
    params: OfApp,
    query: Empty,
    body: z.object({
      user_id: name,
      title: z.string().max(chatTextCharactersMax).nullish(),
      agent_id: name,
      agent_key: name,
      agent_version: name,
      executor_version: name,
    }),
    status: 200,
    failures: ["bad_request", "user_unknown", ...storing],
    answer: z.object({ id: z.string() }),
  },
  renameChatConversation: {
    method: "PUT",
    ...chat,
    path: `${app}/conversation/{id}`,
    summary: "Give a conversation another title.",
    params: OfConversation,
    query: Empty,
    body: z.object({ user_id: name, title: z.string().min(1).max(chatTitleGivenCharactersMax) }),
    status: 204,
    failures,
    answer: Empty,
  },
  markChatConversationRead: {
    method: "PUT",
    ...chat,
    path: `${app}/conversation/{id}/mark_read`,
    summary: "Note how far a person has read.",
    params: OfConversation,
    query: Empty,
    body: z.object({
      user_id: name,
      latest_read_index: z
        .number()
        .int()
        .min(0)
        .max(2 ** 31 - 1),
    }),
    status: 204,
    failures,
    answer: Empty,
  },
  deleteChatConversation: {
    method: "DELETE",
    ...chat,
    path: `${app}/conversation/{id}`,
    summary: "Delete a conversation with everything in it, for good.",
    params: OfConversation,
    query: Empty,
    body: Empty,
    status: 204,
    failures,
    answer: Empty,
  },
  deleteChatConversations: {
    method: "DELETE",
    ...chat,
    path: `${app}/conversation`,
    summary: "Delete all of the caller's conversations under this key, for good.",
    params: OfApp,
    query: Empty,
    body: Empty,
    status: 204,
    failures: ["bad_request", "user_unknown", ...storing],
    answer: Empty,
  },
  openChatConversation: {
    method: "PUT",
    ...chat,
    path: `${base}/conversation/session/{id}`,
    summary: "Somebody is about to go on with a conversation: what it needs is made ready.",
    params: z.object({ service, id: z.string() }),
    query: Empty,
    body: z.object({
      user_id: name,
      action: z.enum(["get_info_or_create", "recover_lifetime_or_create"]).nullish(),
      agent_id: name,
      agent_version: name,
    }),
    status: 200,
    failures: ["bad_request", "user_unknown", "conversation_not_found"],
    /** `ttl`: seconds for which it stays ready. */
    answer: z.object({ conversation_session_id: z.string(), ttl: z.number().int() }),
  },
  getMarketAgent: {
    method: "GET",
    path: "/api/agent-factory/v3/agent-market/agent/{agent_key}/version/{version}",
    scope: "chat",
    dialect: "chat",
    summary: "An agent as clients look it up when they start.",
    params: z.object({ agent_key: key, version: z.string() }),
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["bad_request"],
    answer: z.object({
      id: z.string(),
      key: z.string(),
      name: z.string(),
      profile: z.string(),
      version: z.string(),
      status: z.string(),
      product_key: z.string(),
      config: z.object({ input: z.unknown(), output: z.unknown() }),
    }),
  },
} as const satisfies Record<string, Route>;
