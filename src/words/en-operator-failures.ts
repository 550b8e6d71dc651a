import { sizeText } from "./sizes.ts";

/** What can go wrong with tool boxes: what happened, and what a person can do. */
export const enOperatorFailures = {
  toolbox_not_found: (p: { id: string }) => [
    `There is no tool box ${p.id}.`,
    "GET /api/agent-operator-integration/v1/tool-box/list lists those that you may use.",
  ],
  toolbox_tool_not_found: (p: { id: string }) => [
    `There is no tool ${p.id} in this tool box.`,
    "GET …/tool-box/{box_id}/tools/list lists its tools.",
  ],
  toolbox_of_another: (p: { id: string }) => [
    `The tool box ${p.id} was registered by somebody else.`,
    "You may use it; ask who registered it to change it.",
  ],
  toolbox_name_taken: (p: { name: string }) => [
    `You have a tool box ${p.name} already.`,
    "Choose another name, or change that one.",
  ],
  toolboxes_full: (p: { max: number }) => [`You have ${p.max} tool boxes already.`, "Remove one that nobody uses."],
  toolbox_off: (p: { why: "unpublish" | "offline" | "disabled" }) => [
    {
      unpublish: "This tool box is not published yet.",
      offline: "This tool box was taken off.",
      disabled: "This tool is switched off.",
    }[p.why] ?? p.why,
    p.why === "disabled"
      ? "Switch it on with POST …/tool-box/{box_id}/tools/status, or try it with …/debug."
      : "Publish it with POST …/tool-box/{box_id}/status, or try its tools with …/debug.",
  ],
  toolbox_credential_missing: (p: { id: string }) => [
    `The credential of the tool box ${p.id} is gone, or was entered for another host.`,
    "Who registered it sends it anew: POST …/tool-box/{box_id} with `credential`.",
  ],
  /** `said`: what stands there, or what the reader of YAML says. */
  openapi_unfit: (p: { why: OpenApiFault; said?: string; limit?: string }) => [
    `This OpenAPI document cannot be used: ${openApiFaults[p.why]?.what ?? p.why}${p.said === undefined || p.said === "" ? "" : ` (${p.said})`}.`,
    openApiFaults[p.why]?.next ?? openApiFaults.syntax.next,
  ],
  /** `of`: what has no more room for it; `limit` counts bytes then. */
  operation_unfit: (p: { why: OperationFault; said?: string; limit?: number; of?: "toolbox" | "user" }) => {
    const said = p.said === undefined || p.said === "" ? "" : ` (${p.said})`;
    const size = sizeText(p.limit ?? 0, ({ count }) => `${count} bytes`);
    if (p.of === "toolbox")
      return [
        `The tool box has no more room for it${said}.`,
        `The tools of one tool box take up to ${size}; register the others in another one.`,
      ];
    if (p.of === "user")
      return [
        `Your tool boxes have no more room for it${said}.`,
        `The tools of all your tool boxes take up to ${size}; remove those that nobody uses, and add it again.`,
      ];
    return [
      `${operationFaults[p.why] ?? p.why}${said}.`,
      p.why === "too_many"
        ? `Up to ${p.limit ?? 0} fit; register the others in another tool box.`
        : "Change the document and add it again.",
    ];
  },
} satisfies Record<string, (params: never) => [what: string, next: string]>;

export type OpenApiFault = "syntax" | "no_object" | "no_openapi" | "version" | "too_large" | "no_server" | "server";
const openApiFaults: Readonly<Record<OpenApiFault, { readonly what: string; readonly next: string }>> = {
  syntax: { what: "it is neither JSON nor YAML", next: "Check the text with any reader of YAML." },
  no_object: { what: "it is not an object", next: "Send the whole document, as a text or as JSON." },
  no_openapi: { what: "it does not say `openapi: 3.…`", next: "Send the whole document, with its first line." },
  version: { what: "its version is not known", next: "Convert it to OpenAPI 3.0 or 3.1." },
  too_large: {
    what: "it is larger than 4 MiB, or than 400,000 values, or deeper than 100 levels",
    next: "Take the operations that you need into a smaller one.",
  },
  no_server: { what: "it names no server", next: "Send `box_svc_url` with it, such as https://api.example.com/v1." },
  server: {
    what: "the address of its server cannot be called",
    next: "Send `box_svc_url`: http or https, without name, password, query and blanks in it.",
  },
};

export type OperationFault =
  | "path"
  | "path_parameter"
  | "parameter"
  | "reference"
  | "content"
  | "other_server"
  | "too_large"
  | "too_many";
const operationFaults: Readonly<Record<OperationFault, string>> = {
  path: "The path does not begin with a slash, or has ?, # or dots in it",
  path_parameter: "A parameter stands in the path and is not described",
  parameter: "A parameter has no name, or stands in another place than path, query, header and cookie",
  reference: "A reference leads nowhere, elsewhere, or in circles",
  content: "The body is neither JSON nor a plain form",
  other_server: "It belongs to another server than the tool box",
  too_large: "Its arguments are too many, or their schema is too large",
  too_many: "There are too many operations",
};
