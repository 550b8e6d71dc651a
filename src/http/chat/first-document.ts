import type { ChatDocument, ChatProgress } from "../../protocol/chat.ts";
import { ownWordsOf } from "../../protocol/events.ts";
import type { ChatPlace } from "./message-numbers.ts";

/** The document before anything has happened. The order of its keys is that of the first frames. */
export function firstDocument(conversation: string, { message, index, reply, runId, agent }: ChatPlace): ChatDocument {
  const { selected } = message;
  return {
    conversation_id: conversation,
    agent_run_id: runId,
    user_message_id: message.id,
    assistant_message_id: reply,
    message: {
      id: reply,
      conversation_id: conversation,
      role: "assistant",
      content_type: "prompt",
      status: "",
      reply_id: message.id,
      index: index + 1,
      agent_info: { agent_id: agent.id, agent_name: agent.name, agent_status: "", agent_version: "latest" },
      content: {
        final_answer: {
          query: ownWordsOf(message),
          answer: { text: "", cites: {}, ask: {} },
          selected_files: selected === undefined ? null : selected.files.map((file_name) => ({ file_name })),
          thinking: "",
          skill_process: null,
          answer_type_other: null,
          output_variables_config: { answer_var: "answer" },
        },
        middle_answer: { progress: [], doc_retrieval: null, graph_retrieval: null, other_variables: {} },
      },
      ext: {
        interrupt_info: null,
        related_queries: [],
        total_time: 0,
        total_tokens: 0,
        ttft: 0,
        agent_run_id: runId,
        error: null,
      },
    },
    error: null,
  };
}

type OwnPart = Pick<ChatProgress, "id" | "agent_name" | "stage" | "skill_info" | "start_time">;

/** An entry of `progress` at its beginning. */
export function firstProgress({ id, agent_name, stage, skill_info, start_time }: OwnPart): ChatProgress {
  return {
    id,
    agent_name,
    stage,
    answer: "",
    think: "",
    status: "processing",
    skill_info,
    input_message: "",
    interrupted: false,
    flags: null,
    start_time,
    end_time: 0,
    estimated_input_tokens: 0,
    estimated_output_tokens: 0,
    estimated_ratio_tokens: 0,
    token_usage: null,
  };
}
