import type { Box, BoxTool } from "../../operators/operators.ts";
import type { OwnerId } from "../../protocol/ids.ts";
import type { BoxAnswer, ToolAnswer } from "../../protocol/operator-routes.ts";

/** A box as the operator platform writes it. Who else may use it is told to whoever registered it alone. */
export function toBox(box: Box, reader: OwnerId): BoxAnswer {
  const { id, name, description, server, status, category, owner, createdAt, updatedAt, releasedAt, permitted } = box;
  const isOwn = owner === reader;
  return {
    ...{ box_id: id, box_name: name, box_desc: description, box_svc_url: server, status, metadata_type: "openapi" },
    ...{ category_type: category, category_name: category, is_internal: false, source: "custom" },
    ...{ create_time: createdAt, update_time: updatedAt, release_time: releasedAt ?? null },
    ...{ create_user: owner, update_user: owner },
    ...{ permitted_users: isOwn ? permitted.users : [], permitted_all: permitted.all },
    credential: (isOwn ? box.credential : undefined) ?? null,
  };
}

export function toTool(box: Box, { id, operation, status, useRule, fixed, extendInfo, ...tool }: BoxTool): ToolAnswer {
  const { name, summary, description, method, path, schema } = operation;
  const [first] = fixed;
  return {
    ...{ tool_id: id, name, description: description || summary, status, metadata_type: "openapi" },
    metadata: { summary, description, server_url: box.server, path, method: method.toUpperCase(), parameters: schema },
    use_rule: useRule,
    global_parameters: first ?? null,
    extend_info: extendInfo ?? {},
    ...{ create_time: tool.createdAt, update_time: tool.updatedAt, create_user: tool.owner, update_user: tool.owner },
    resource_object: "tool",
  };
}
