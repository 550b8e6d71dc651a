import { z } from "zod";
import { FreeForm } from "../../protocol/free-form.ts";
import type { BoxAnswer, ToolAnswer } from "../../protocol/operator-routes.ts";
import { forOperators } from "../../words/words.ts";

/** The sandbox as a tool box: everybody has it, and everybody's is their own. */
export const sandboxBoxId = "sandbox";

/** What its one tool takes. Session and conversation are the caller's own: an id may be said, and is checked. */
export const ExecuteCode = z.object({
  code: z.string().describe(forOperators.sandbox.code),
  language: z.enum(["python", "bash", "shell", "javascript"]).default("python").describe(forOperators.sandbox.language),
  timeout: z.number().min(1).max(3_600).optional().describe(forOperators.sandbox.timeout),
  session_id: z.string().max(200).optional().describe(forOperators.sandbox.session),
  conversation_id: z.string().max(200).optional().describe(forOperators.sandbox.conversation),
  event: FreeForm.optional().describe(forOperators.sandbox.event),
});

const builtIn = { create_time: 0, update_time: 0, create_user: "system", update_user: "system" };

export function sandboxBox(): BoxAnswer {
  const { name, description } = forOperators.sandbox;
  return {
    ...{ box_id: sandboxBoxId, box_name: name, box_desc: description, box_svc_url: "", status: "published" },
    ...{ metadata_type: "function", category_type: "system", category_name: "system", is_internal: true },
    ...{ source: "internal", ...builtIn, release_time: 0, permitted_users: [], permitted_all: true, credential: null },
  };
}

export const executeCodeId = "execute_code";

export function sandboxTools(): ToolAnswer[] {
  const { $schema: _, ...parameters } = z.toJSONSchema(ExecuteCode, { io: "input", unrepresentable: "any" });
  const { executeCode: description } = forOperators.sandbox;
  return [
    {
      ...{ tool_id: executeCodeId, name: executeCodeId, description, status: "enabled", metadata_type: "function" },
      metadata: {
        summary: description,
        description,
        server_url: "",
        path: "/execute_code",
        method: "POST",
        parameters,
      },
      ...{ use_rule: "", global_parameters: null, extend_info: {}, ...builtIn, resource_object: "tool" },
    },
  ];
}
