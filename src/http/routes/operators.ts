import { failed, ok, type Result } from "../../base/result.ts";
import { type Actor, type AddedTools, type BoxWanted, callLimits, type NewTools } from "../../operators/operators.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import type { AddedAnswer } from "../../protocol/operator-routes.ts";
import { failureWordsOverHttp, type Language, wordsFor } from "../../words/words.ts";
import type { Call, Handlers, Parts } from "../handler.ts";
import { idFor } from "../once.ts";
import { invoked, notInvoked } from "../operators/invoked.ts";
import { pageOf } from "../operators/page.ts";
import { sandboxBox, sandboxBoxId, sandboxTools } from "../operators/sandbox-box.ts";
import { toBox, toTool } from "../operators/show.ts";
import { runSandboxTool } from "./operator-sandbox.ts";

type Names =
  | ("createToolBox" | "listToolBoxes" | "getToolBox" | "changeToolBox" | "deleteToolBox" | "setToolBoxStatus")
  | (
      | "addBoxTools"
      | "listBoxTools"
      | "setBoxToolStatus"
      | "deleteBoxTools"
      | "getBoxTool"
      | "invokeTool"
      | "debugTool"
    );

/** The operator platform: tool boxes are registered, listed and called here. The sandbox is one that everybody has. */
export function operatorHandlers(parts: Parts): Pick<Handlers, Names> {
  return { ...boxHandlers(parts), ...toolHandlers(parts), ...callHandlers(parts) };
}

type BoxNames =
  | "createToolBox"
  | "listToolBoxes"
  | "getToolBox"
  | "changeToolBox"
  | "deleteToolBox"
  | "setToolBoxStatus";

function boxHandlers({ operators, ids }: Parts): Pick<Handlers, BoxNames> {
  return {
    async createToolBox(call) {
      const { body, language } = call;
      if (body.metadata_type === "function") return noFunctions;
      const id = idFor(call, ids, "tool box");
      const tools = body.data ? { from: { document: body.data } } : undefined;
      const added = await operators.create(actorOf(call), id, wantedIn(body), tools);
      return added.ok ? ok(toAdded(id, added.value, language)) : added;
    },
    async listToolBoxes({ owner, query }) {
      const all = [
        ...operators
          .list(owner)
          .map(({ box, tools }) => ({ ...toBox(box, owner), tools: tools.map((one) => one.operation.name) })),
      ];
      const own = { ...sandboxBox(), tools: sandboxTools().map((tool) => tool.name) };
      const { status, name, create_user: user, category, sort_by: by } = query;
      const found = [own, ...all].filter(
        (box) =>
          (status === undefined || box.status === status) &&
          (name === undefined || box.box_name.toLowerCase().includes(name.toLowerCase())) &&
          (user === undefined || box.create_user === user) &&
          (category === undefined || box.category_type === category),
      );
      const { items, ...page } = pageOf(found, query, (box) => (by === "name" ? box.box_name : box[by]));
      return ok({ ...page, data: items });
    },
    async getToolBox({ owner, params }) {
      if (params.box_id === sandboxBoxId) return ok({ ...sandboxBox(), tools: sandboxTools() });
      const found = operators.find(owner, params.box_id);
      if (!found.ok) return found;
      const { box, tools } = found.value;
      return ok({ ...toBox(box, owner), tools: tools.map((tool) => toTool(box, tool)) });
    },
    async changeToolBox(call) {
      const { params, body, owner } = call;
      if (params.box_id === sandboxBoxId) return notYours();
      const changed = await operators.change(actorOf(call), params.box_id, wantedIn(body));
      return changed.ok ? ok(toBox(changed.value.box, owner)) : changed;
    },
    async deleteToolBox(call) {
      const { box_id } = call.params;
      if (box_id === sandboxBoxId) return notYours();
      const removed = await operators.remove(actorOf(call), box_id);
      return removed.ok ? ok({ box_id }) : removed;
    },
    async setToolBoxStatus(call) {
      const { box_id } = call.params;
      if (box_id === sandboxBoxId) return notYours();
      const set = await operators.setStatus(actorOf(call), box_id, call.body.status);
      return set.ok ? ok({ box_id, status: set.value.box.status }) : set;
    },
  };
}

function toolHandlers({
  operators,
}: Parts): Pick<Handlers, "addBoxTools" | "listBoxTools" | "setBoxToolStatus" | "deleteBoxTools" | "getBoxTool"> {
  return {
    async addBoxTools(call) {
      const { params, body, language } = call;
      if (params.box_id === sandboxBoxId) return notYours();
      const tools = newToolsIn(body);
      if (!tools.ok) return tools;
      const added = await operators.addTools(actorOf(call), params.box_id, tools.value);
      return added.ok ? ok(toAdded(params.box_id, added.value, language)) : added;
    },
    async listBoxTools({ owner, params, query }) {
      const found = params.box_id === sandboxBoxId ? undefined : operators.find(owner, params.box_id);
      if (found?.ok === false) return found;
      const all = found === undefined ? sandboxTools() : found.value.tools.map((tool) => toTool(found.value.box, tool));
      const { status, name, sort_by: by } = query;
      const wanted = all.filter(
        (tool) =>
          (status === undefined || tool.status === status) &&
          (name === undefined || tool.name.toLowerCase().includes(name.toLowerCase())),
      );
      const { items, ...page } = pageOf(wanted, query, (tool) =>
        by === "name" || by === "tool_name" ? tool.name : tool[by],
      );
      return ok({ ...page, box_id: params.box_id, tools: items });
    },
    async setBoxToolStatus(call) {
      const { params, body } = call;
      if (params.box_id === sandboxBoxId) return notYours();
      const wanted = body.map(({ tool_id: id, status }) => ({ id, status }));
      const set = await operators.setToolStatus(actorOf(call), params.box_id, wanted);
      return set.ok ? ok(body) : set;
    },
    async deleteBoxTools(call) {
      const { params, body } = call;
      if (params.box_id === sandboxBoxId) return notYours();
      const removed = await operators.removeTools(actorOf(call), params.box_id, body.tool_ids);
      return removed.ok ? ok({ box_id: params.box_id, tool_ids: body.tool_ids }) : removed;
    },
    async getBoxTool({ owner, params }) {
      const { box_id, tool_id } = params;
      const found = box_id === sandboxBoxId ? undefined : operators.find(owner, box_id);
      if (found?.ok === false) return found;
      const all = found === undefined ? sandboxTools() : found.value.tools.map((tool) => toTool(found.value.box, tool));
      const tool = all.find((one) => one.tool_id === tool_id);
      return tool === undefined ? failure("toolbox_tool_not_found", { id: tool_id.slice(0, 80) }) : ok(tool);
    },
  };
}

function callHandlers(parts: Parts): Pick<Handlers, "invokeTool" | "debugTool"> {
  const { operators, clock } = parts;

  async function call(asked: Call<"invokeTool"> | Call<"debugTool">, isTrial: boolean) {
    const { owner, params, query, body, signal, language } = asked;
    if (query.stream || query.mode !== "sync")
      return failure("parameter_unsupported", { parameter: "mode", hint: "sync_only" });
    if (params.box_id === sandboxBoxId) return runSandboxTool(parts, asked);
    const startedAt = clock.monotonic();
    const patience = new AbortController();
    const timeoutMs = body.timeout ? body.timeout * 1000 : callLimits.timeoutMsUsual;
    const cancel = clock.after(Math.min(timeoutMs, callLimits.timeoutMsMax), () => patience.abort());
    const { path, query: inQuery, header, body: content } = body;
    const envelope = {
      path: path ?? {},
      query: inQuery ?? {},
      header: header ?? {},
      cookie: {},
      body: content ?? undefined,
    };
    const wanted = { box: params.box_id, tool: params.tool_id, envelope, isTrial };
    const answer = await operators.invoke(owner, wanted, AbortSignal.any([signal, patience.signal]));
    cancel();
    if (answer.ok) return ok(invoked(answer.value));
    const durationMs = Math.round(clock.monotonic() - startedAt);
    return isOurs(answer.failure) ? failed(answer.failure) : ok(notInvoked(answer.failure, { language, durationMs }));
  }

  return { invokeTool: (asked) => call(asked, false), debugTool: (asked) => call(asked, true) };
}

/** What is wrong with the request, or here; anything else is the service's, or what lies between. */
function isOurs({ code }: Failure): boolean {
  return /^(toolbox|secret|bad_request)/.test(code);
}

function actorOf({ owner, caller }: Pick<Call<"createToolBox">, "owner" | "caller">): Actor {
  return { owner, isAdmin: caller.scopes.includes("admin") };
}

type BoxFields = Call<"createToolBox">["body"] | Call<"changeToolBox">["body"];

function wantedIn(body: BoxFields): BoxWanted {
  const { permitted_all: all, permitted_users: users } = body;
  const isSaid = (all ?? undefined) !== undefined || (users ?? undefined) !== undefined;
  return {
    name: body.box_name ?? undefined,
    description: body.box_desc ?? undefined,
    server: body.box_svc_url || undefined,
    category: body.box_category ?? undefined,
    credential: body.credential,
    permitted: isSaid ? { all: all ?? false, users: users ?? [] } : undefined,
  };
}

function newToolsIn(body: Call<"addBoxTools">["body"]): Result<NewTools, Failure> {
  if (body.metadata_type === "function" || (body.function_input ?? undefined) !== undefined) return noFunctions;
  const { global_parameters: fixed, use_rule: useRule, extend_info: extendInfo } = body;
  const more = {
    useRule: useRule ?? undefined,
    extendInfo: extendInfo ?? undefined,
    fixed: fixed ? [{ name: fixed.name, in: fixed.in, value: fixed.value ?? null }] : [],
  };
  if (body.tool) return ok({ from: { hand: body.tool }, ...more });
  if (!body.data) return failure("bad_request", { what: "body.data", rule: "missing" });
  return ok({ from: { document: body.data }, ...more });
}

const noFunctions = failure("parameter_unsupported", { parameter: "metadata_type", hint: "openapi_only" });

/** The sandbox is nobody's to change. */
function notYours() {
  return failure("toolbox_of_another", { id: sandboxBoxId });
}

function toAdded(box_id: string, { tools, failures, renamed }: AddedTools, language: Language): AddedAnswer {
  return {
    ...{ box_id, success_count: tools.length, success_ids: tools.map(({ id }) => id) },
    failure_count: failures.length,
    failures: failures.map(({ name, failure: reason }) => ({
      tool_name: name,
      error_msg: failureWordsOverHttp(wordsFor(language), reason).join(language === "zh" ? "" : " "),
      error_code: reason.code,
    })),
    renamed: [...renamed],
  };
}
