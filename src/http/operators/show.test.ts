import assert from "node:assert/strict";
import { test } from "node:test";
import type { Box, BoxTool } from "../../operators/operators.ts";
import { OwnerId } from "../../protocol/ids.ts";
import { toBox, toTool } from "./show.ts";

const [ann, bob] = [OwnerId.parse("ann"), OwnerId.parse("bob")];
const box: Box = {
  ...{ id: "b1", owner: ann, createdAt: 1, updatedAt: 2, releasedAt: 3, name: "Weather", description: "of today" },
  ...{ server: "https://api.example", category: "data", status: "published", isPrivateAllowed: false },
  ...{ credential: { type: "bearer", names: [] }, permitted: { all: false, users: [bob] } },
};
const tool: BoxTool = {
  ...{ id: "t1", owner: bob, createdAt: 4, updatedAt: 5, box: "b1", sizeBytes: 6, status: "disabled" },
  operation: {
    ...{ name: "getForecast", summary: "Short.", description: "Long.", method: "get", path: "/forecast" },
    ...{ parameters: [], schema: { type: "object" } },
  },
  ...{ useRule: "ask first", extendInfo: { a: 1 } },
  fixed: [
    { name: "unit", in: "query", value: "c" },
    { name: "more", in: "query", value: "d" },
  ],
};

test("a box is told with all that it is; who else may use it and how it is let in is told to its owner alone [T4][Q1]", () => {
  const told = {
    ...{ box_id: "b1", box_name: "Weather", box_desc: "of today", box_svc_url: "https://api.example" },
    ...{ status: "published", metadata_type: "openapi", category_type: "data", category_name: "data" },
    ...{ is_internal: false, source: "custom", create_time: 1, update_time: 2, release_time: 3 },
    ...{ create_user: "ann", update_user: "ann", permitted_all: false },
  };
  assert.deepEqual(toBox(box, ann), { ...told, permitted_users: ["bob"], credential: { type: "bearer", names: [] } });
  assert.deepEqual(toBox(box, bob), { ...told, permitted_users: [], credential: null });
  const { credential: _, releasedAt: __, ...plain } = box;
  const { credential, release_time } = toBox(plain, ann);
  assert.deepEqual([credential, release_time], [null, null]);
});

test("a tool is told with how it is called, and by its summary where nothing longer was said [T4]", () => {
  assert.deepEqual(toTool(box, tool), {
    ...{ tool_id: "t1", name: "getForecast", description: "Long.", status: "disabled", metadata_type: "openapi" },
    metadata: {
      ...{ summary: "Short.", description: "Long.", server_url: "https://api.example", path: "/forecast" },
      ...{ method: "GET", parameters: { type: "object" } },
    },
    ...{ use_rule: "ask first", global_parameters: { name: "unit", in: "query", value: "c" }, extend_info: { a: 1 } },
    ...{ create_time: 4, update_time: 5, create_user: "bob", update_user: "bob", resource_object: "tool" },
  });
  const { extendInfo: _, ...rest } = tool;
  const bare = toTool(box, { ...rest, fixed: [], operation: { ...tool.operation, description: "" } });
  assert.deepEqual([bare.description, bare.global_parameters, bare.extend_info], ["Short.", null, {}]);
});
