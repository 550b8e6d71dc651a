import { ok, type Result } from "../base/result.ts";
import type { Failure } from "../protocol/failure.ts";
import type { OwnerId } from "../protocol/ids.ts";
import { foreignTool, type Tool, type ToolContext, type ToolOutput, type ToolSource } from "../tools/tools.ts";
import { forOperators } from "../words/words.ts";
import { mayUse } from "./access.ts";
import type { Boxes } from "./boxes.ts";
import type { CallAnswer } from "./call.ts";
import { freeName, nameInBox } from "./names.ts";
import type { Box, BoxTool } from "./records.ts";
import { type Envelope, sorted } from "./request.ts";

/** Calls a tool for a user. */
export type Invoke = (
  owner: OwnerId,
  wanted: { readonly box: string; readonly tool: string; readonly envelope: Envelope },
  signal: AbortSignal,
) => Promise<Result<CallAnswer, Failure>>;

/** So many users are remembered; of others the list is made anew. */
const usersMax = 256;

/** The enabled tools of published boxes that a user may use, for that user's agents. */
export function boxToolSource(boxes: Boxes, invoke: Invoke): ToolSource {
  const made = new Map<OwnerId, { readonly version: number; readonly key: string; readonly tools: readonly Tool[] }>();
  return {
    tools(owner) {
      const before = made.get(owner);
      if (before?.version === boxes.version()) return before.tools;
      const usable = usableBy(boxes, owner);
      const key = usable.map(({ box, tool }) => `${box.id} ${box.updatedAt} ${tool.id} ${tool.updatedAt}`).join("\n");
      // What others changed changes nothing here: the same list is the same object.
      const tools = before?.key === key ? before.tools : makeTools(usable, owner, invoke);
      made.delete(owner);
      made.set(owner, { version: boxes.version(), key, tools });
      for (const oldest of made.keys()) if (made.size > usersMax) made.delete(oldest);
      return tools;
    },
  };
}

type Usable = { readonly box: Box; readonly tool: BoxTool };

function usableBy(boxes: Boxes, owner: OwnerId): Usable[] {
  return boxes
    .all()
    .filter(({ box }) => box.status === "published" && mayUse(box, owner))
    .flatMap(({ box, tools }) =>
      [...tools.values()].filter(({ status }) => status === "enabled").map((tool) => ({ box, tool })),
    );
}

function makeTools(usable: readonly Usable[], owner: OwnerId, invoke: Invoke): readonly Tool[] {
  const taken = new Set<string>();
  return usable.map(({ box, tool }) => {
    const { operation, useRule } = tool;
    const isReading = operation.method === "get" || operation.method === "head";
    const name = freeName(nameInBox(box, operation.name), taken);
    const what = operation.description || operation.summary || `${operation.method.toUpperCase()} ${operation.path}`;
    return {
      ...foreignTool({
        name,
        description: forOperators.description({ what, useRule, box: box.name }),
        parameters: operation.schema,
        class: isReading ? "idempotent" : "unsafe",
        run: (input, context) => run(invoke, owner, { box, tool, input, context }),
      }),
      outward: { by: "tool_box", host: new URL(box.server).host, isReading },
    };
  });
}

type Running = Usable & { readonly input: Readonly<Record<string, unknown>>; readonly context: ToolContext };

/** Looked up anew: the box may have been changed, or taken away, since the model was told of it. */
async function run(
  invoke: Invoke,
  owner: OwnerId,
  { box, tool, input, context }: Running,
): Promise<Result<ToolOutput, Failure>> {
  const envelope = sorted(tool.operation, input);
  const answer = await invoke(owner, { box: box.id, tool: tool.id, envelope }, context.signal);
  if (!answer.ok) return answer;
  const { status } = answer.value;
  return ok({ text: answerText(answer.value), ...(status >= 400 && { isRefusal: true }) });
}

function answerText({ status, type, content, isCut }: CallAnswer): string {
  const said = content.kind === "bytes" ? forOperators.bytes({ sizeBytes: content.sizeBytes, type }) : content.text;
  const lines = [forOperators.answered({ status, type }), said.trim() === "" ? forOperators.empty : said];
  return [...lines, ...(isCut ? [forOperators.cut] : [])].join("\n");
}
