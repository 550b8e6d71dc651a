import { asksForWords } from "../../protocol/approval.ts";
import type { InterruptInfo } from "../../protocol/chat.ts";
import type { EventOf } from "../../protocol/events.ts";
import { shownArguments } from "./shown-json.ts";

type Asked = EventOf<"decision.asked">;

/** An open decision as clients of the chat service answer it. */
export function interruptOf(
  asked: Asked,
  call: { readonly runId: string; readonly arguments: string | undefined },
): InterruptInfo {
  const shown = shownArguments(asked.arguments ?? call.arguments ?? "");
  const isQuestion = asksForWords(asked.kind);
  return {
    handle: {
      frame_id: asked.call,
      snapshot_id: call.runId,
      resume_token: asked.id,
      interrupt_type: isQuestion ? "user_input_request" : "tool_interrupt",
      current_block: 0,
      restart_block: false,
    },
    data: {
      tool_name: asked.tool,
      tool_description: asked.context ?? "",
      tool_args: shown.map(({ name: key, value, type }) => ({ key, value, type })),
      interrupt_config: {
        requires_confirmation: true,
        confirmation_message: (isQuestion ? asked.question : asked.reason) ?? "",
      },
    },
  };
}

/** What the agent wants to know. */
export function askOf({ id, question = "", context = "", default: usual = "", required = false }: Asked) {
  return { id, question, context, default: usual, required };
}
