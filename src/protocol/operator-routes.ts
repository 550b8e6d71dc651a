import { z } from "zod";
import { FreeForm, few } from "./free-form.ts";
import { OwnerId } from "./ids.ts";
import { bodyBytes, Empty, type Route } from "./route.ts";

const nameCharactersMax = 100;
const descriptionCharactersMax = 2_000;
const addressCharactersMax = 2_000;
const permittedMax = 1_000;
const toolsAtOnceMax = 500;
const secretCharactersMax = 8_192;
const entriesMax = 500;
const pageMax = 100;
const callSecondsMax = 120;

const name = z.string().trim().min(1).max(nameCharactersMax);
const description = z.string().max(descriptionCharactersMax);
/** Travels in a header, or in an address; shorter ones could not be taken out of an answer without ruining it. */
const secret = z
  .string()
  .min(4)
  .max(secretCharactersMax)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/);
const headerName = z
  .string()
  .max(nameCharactersMax)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);

const Credential = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("bearer"), token: secret }),
  z.strictObject({
    type: z.literal("basic"),
    username: z
      .string()
      .max(nameCharactersMax)
      .regex(/^[^:\p{Cc}]*$/u),
    password: secret,
  }),
  z.strictObject({
    type: z.literal("api_key"),
    in: z.enum(["header", "query"]).default("header"),
    name: headerName,
    value: secret,
  }),
  z.strictObject({ type: z.literal("headers"), headers: few(z.record(headerName, secret), 20) }),
]);

const BoxStatus = z.enum(["unpublish", "published", "offline"]);
const ToolStatus = z.enum(["enabled", "disabled"]);
const metadataType = z.enum(["openapi", "function"]);
/** The whole document, as a text of JSON or YAML, or as the object that it is. */
const document = z.union([z.string().min(1), FreeForm]);

const boxFields = {
  box_name: name.nullish(),
  box_desc: description.nullish(),
  /** Where its calls go; without it, the first server of the document. */
  box_svc_url: z.string().max(addressCharactersMax).nullish(),
  box_category: z.string().max(nameCharactersMax).nullish(),
  source: z.string().max(nameCharactersMax).nullish(),
  /** Who besides you may use it once it is published; for others than you an admin has to say it. */
  permitted_users: z.array(OwnerId).max(permittedMax).nullish(),
  permitted_all: z.boolean().nullish(),
};

/** One operation without a document; parameters and schema are as OpenAPI has them. */
const HandTool = z.object({
  name,
  description: description.default(""),
  method: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["get", "put", "post", "delete", "options", "head", "patch"]))
    .default("get"),
  path: z.string().max(addressCharactersMax),
  parameters: z.array(FreeForm).max(100).default([]),
  body: FreeForm.optional(),
});

/** A value that is sent with every call, whatever the model says. */
const GlobalParameter = z.object({
  name,
  description: description.nullish(),
  required: z.boolean().nullish(),
  in: z.enum(["query", "path", "header", "cookie", "body"]),
  type: z.string().max(nameCharactersMax).nullish(),
  value: z.unknown().optional(),
});

const toolFields = {
  use_rule: description.nullish(),
  global_parameters: GlobalParameter.nullish(),
  extend_info: few(FreeForm, entriesMax).nullish(),
};

/** As HTTP answers have it; times are milliseconds since 1970. */
const Tool = z.object({
  tool_id: z.string(),
  name: z.string(),
  description: z.string(),
  status: ToolStatus,
  metadata_type: metadataType,
  metadata: z.object({
    summary: z.string(),
    description: z.string(),
    server_url: z.string(),
    path: z.string(),
    method: z.string(),
    /** What it wants to know, as one JSON schema. */
    parameters: z.record(z.string(), z.unknown()),
  }),
  use_rule: z.string(),
  global_parameters: GlobalParameter.nullable(),
  extend_info: z.unknown(),
  create_time: z.number(),
  update_time: z.number(),
  create_user: z.string(),
  update_user: z.string(),
  resource_object: z.literal("tool"),
});
export type ToolAnswer = z.infer<typeof Tool>;

const Box = z.object({
  box_id: z.string(),
  box_name: z.string(),
  box_desc: z.string(),
  box_svc_url: z.string(),
  status: BoxStatus,
  metadata_type: metadataType,
  category_type: z.string(),
  category_name: z.string(),
  /** Part of the product: the sandbox. */
  is_internal: z.boolean(),
  source: z.string(),
  create_time: z.number(),
  update_time: z.number(),
  release_time: z.number().nullable(),
  create_user: z.string(),
  update_user: z.string(),
  permitted_users: z.array(z.string()),
  permitted_all: z.boolean(),
  /** That there is one, of which kind and where it goes; never what it is. */
  credential: z.object({ type: z.string(), names: z.array(z.string()) }).nullable(),
});
export type BoxAnswer = z.infer<typeof Box>;

const Page = {
  total: z.number().int(),
  page: z.number().int(),
  page_size: z.number().int(),
  total_pages: z.number().int(),
  has_next: z.boolean(),
  has_prev: z.boolean(),
};
const paging = {
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  page_size: z.coerce.number().int().min(1).max(pageMax).default(10),
  /** All of them on one page. */
  all: z.stringbool().default(false),
  sort_order: z.enum(["asc", "desc"]).default("desc"),
  name: z.string().max(nameCharactersMax).optional(),
};

const Added = z.object({
  box_id: z.string(),
  success_count: z.number().int(),
  success_ids: z.array(z.string()),
  failure_count: z.number().int(),
  failures: z.array(z.object({ tool_name: z.string(), error_msg: z.string(), error_code: z.string() })),
  /** Tools that got a number behind their name, because there was one of that name. */
  renamed: z.array(z.object({ from: z.string(), to: z.string() })),
});
export type AddedAnswer = z.infer<typeof Added>;

const Invocation = z.object({
  /** Seconds. */
  timeout: z.number().min(0).max(callSecondsMax).nullish(),
  header: few(FreeForm, entriesMax).nullish(),
  query: few(FreeForm, entriesMax).nullish(),
  path: few(FreeForm, entriesMax).nullish(),
  body: z.unknown().optional(),
});

/** `status_code` is that of the tool's own service. */
const Invoked = z.object({
  status_code: z.number().int(),
  headers: z.record(z.string(), z.string()),
  body: z.unknown(),
  error: z.string(),
  duration_ms: z.number(),
});
export type Invoked = z.infer<typeof Invoked>;

const OfBox = z.object({ box_id: z.string() });
const OfTool = OfBox.extend({ tool_id: z.string() });
const path = "/api/agent-operator-integration/v1/tool-box";
const usual = { scope: "chat", dialect: "operators", query: Empty, body: Empty, status: 200 } as const;
const storing = ["storage_busy", "storage_full", "storage_read_only", "storage_broken", "database_away"] as const;
const sealing = ["secret_key_unusable", "secret_too_long"] as const;
const naming = ["toolbox_name_taken", "scope_missing", "openapi_unfit", ...sealing, ...storing] as const;
const owning = ["toolbox_not_found", "toolbox_of_another"] as const;
const changing = [...owning, "scope_missing"] as const;
const calling = [
  ...["toolbox_not_found", "toolbox_tool_not_found", "toolbox_off", "toolbox_credential_missing"],
  ...["parameter_unsupported", "secret_sealed", "secret_key_unusable"],
] as const;

const invoking = {
  ...usual,
  method: "POST",
  params: OfTool,
  query: z.object({
    stream: z.stringbool().default(false),
    mode: z.string().max(nameCharactersMax).default("sync"),
  }),
  body: Invocation,
  bodyBytesMax: bodyBytes.large,
  answer: Invoked,
} as const;

/** The operator platform's routes about tool boxes. */
export const operatorRoutes = {
  createToolBox: {
    ...usual,
    method: "POST",
    path,
    summary: "Register a tool box: from an OpenAPI document, or empty, to add tools to it.",
    creates: true,
    hasSecret: true,
    params: Empty,
    body: z.object({
      ...boxFields,
      metadata_type: metadataType,
      data: document.nullish(),
      /** Added to every call by the server; no answer, prompt or log has it. */
      credential: Credential.nullish(),
    }),
    bodyBytesMax: bodyBytes.large,
    failures: ["toolboxes_full", "parameter_unsupported", ...naming],
    answer: Added,
  },
  listToolBoxes: {
    ...usual,
    method: "GET",
    path: `${path}/list`,
    summary: "The tool boxes that you may use, the sandbox among them.",
    params: Empty,
    query: z.object({
      ...paging,
      sort_by: z.enum(["create_time", "update_time", "name"]).default("update_time"),
      status: BoxStatus.optional(),
      create_user: z.string().max(nameCharactersMax).optional(),
      category: z.string().max(nameCharactersMax).optional(),
    }),
    failures: [],
    answer: z.object({ ...Page, data: z.array(Box.extend({ tools: z.array(z.string()) })) }),
  },
  getToolBox: {
    ...usual,
    method: "GET",
    path: `${path}/{box_id}`,
    summary: "A tool box with its tools.",
    params: OfBox,
    failures: ["toolbox_not_found"],
    answer: Box.extend({ tools: z.array(Tool) }),
  },
  changeToolBox: {
    ...usual,
    method: "POST",
    path: `${path}/{box_id}`,
    summary: "Change a tool box; what is left out stays. Another host does not get the credential.",
    hasSecret: true,
    params: OfBox,
    body: z.object({
      ...boxFields,
      metadata_type: metadataType.nullish(),
      /** `null` takes it away. */
      credential: Credential.nullish(),
    }),
    failures: [...owning, ...naming],
    answer: Box,
  },
  deleteToolBox: {
    ...usual,
    method: "DELETE",
    path: `${path}/{box_id}`,
    summary: "Remove a tool box with its tools and its credential.",
    params: OfBox,
    failures: [...owning, ...storing],
    answer: z.object({ box_id: z.string() }),
  },
  setToolBoxStatus: {
    ...usual,
    method: "POST",
    path: `${path}/{box_id}/status`,
    summary: "Publish a tool box, or take it off: agents use those that are published.",
    params: OfBox,
    body: z.object({ status: BoxStatus }),
    failures: [...changing, ...storing],
    answer: z.object({ box_id: z.string(), status: BoxStatus }),
  },
  addBoxTools: {
    ...usual,
    method: "POST",
    path: `${path}/{box_id}/tool`,
    summary: "Add the operations of an OpenAPI document, or one tool by hand; what does not fit is named.",
    params: OfBox,
    body: z.object({
      ...toolFields,
      metadata_type: metadataType,
      data: document.nullish(),
      tool: HandTool.nullish(),
      function_input: z.unknown().optional(),
    }),
    bodyBytesMax: bodyBytes.large,
    failures: [...changing, "openapi_unfit", "parameter_unsupported", ...storing],
    answer: Added,
  },
  listBoxTools: {
    ...usual,
    method: "GET",
    path: `${path}/{box_id}/tools/list`,
    summary: "The tools of a tool box.",
    params: OfBox,
    query: z.object({
      ...paging,
      sort_by: z.enum(["create_time", "update_time", "name", "tool_name"]).default("create_time"),
      status: ToolStatus.optional(),
    }),
    failures: ["toolbox_not_found"],
    answer: z.object({ ...Page, box_id: z.string(), tools: z.array(Tool) }),
  },
  setBoxToolStatus: {
    ...usual,
    method: "POST",
    path: `${path}/{box_id}/tools/status`,
    summary: "Switch tools on and off.",
    params: OfBox,
    body: z.array(z.object({ tool_id: z.string(), status: ToolStatus })).max(toolsAtOnceMax),
    failures: [...changing, "toolbox_tool_not_found", ...storing],
    answer: z.array(z.object({ tool_id: z.string(), status: ToolStatus })),
  },
  deleteBoxTools: {
    ...usual,
    method: "POST",
    path: `${path}/{box_id}/tools/batch-delete`,
    summary: "Remove tools from a tool box.",
    params: OfBox,
    body: z.object({ tool_ids: z.array(z.string()).min(1).max(toolsAtOnceMax) }),
    failures: [...changing, "toolbox_tool_not_found", ...storing],
    answer: z.object({ box_id: z.string(), tool_ids: z.array(z.string()) }),
  },
  getBoxTool: {
    ...usual,
    method: "GET",
    path: `${path}/{box_id}/tool/{tool_id}`,
    summary: "One tool of a tool box.",
    params: OfTool,
    failures: ["toolbox_not_found", "toolbox_tool_not_found"],
    answer: Tool,
  },
  invokeTool: {
    ...invoking,
    path: `${path}/{box_id}/proxy/{tool_id}`,
    summary: "Call a tool through the server, which adds the credential; 200 whatever the tool's own service answers.",
    failures: calling,
  },
  debugTool: {
    ...invoking,
    path: `${path}/{box_id}/tool/{tool_id}/debug`,
    summary: "The same for who registered it, published and switched on or not.",
    failures: [...calling, "toolbox_of_another"],
  },
} as const satisfies Record<string, Route>;
