import type { enOperatorFailures, OpenApiFault, OperationFault } from "./en-operator-failures.ts";
import { sizeText } from "./sizes.ts";

export const zhOperatorFailures: typeof enOperatorFailures = {
  toolbox_not_found: (p) => [
    `没有工具箱 ${p.id}。`,
    "GET /api/agent-operator-integration/v1/tool-box/list 列出您可以使用的工具箱。",
  ],
  toolbox_tool_not_found: (p) => [
    `这个工具箱中没有工具 ${p.id}。`,
    "GET …/tool-box/{box_id}/tools/list 列出其中的工具。",
  ],
  toolbox_of_another: (p) => [`工具箱 ${p.id} 由他人注册。`, "您可以使用它；如需修改，请联系注册者。"],
  toolbox_name_taken: (p) => [`您已有名为 ${p.name} 的工具箱。`, "请换一个名称，或修改已有的工具箱。"],
  toolboxes_full: (p) => [`您已有 ${p.max} 个工具箱。`, "请删除不再使用的工具箱。"],
  toolbox_off: (p) => [
    {
      unpublish: "这个工具箱尚未发布。",
      offline: "这个工具箱已下线。",
      disabled: "这个工具已停用。",
    }[p.why] ?? p.why,
    p.why === "disabled"
      ? "请用 POST …/tool-box/{box_id}/tools/status 启用它，或用 …/debug 试用。"
      : "请用 POST …/tool-box/{box_id}/status 发布它，或用 …/debug 试用其中的工具。",
  ],
  toolbox_credential_missing: (p) => [
    `工具箱 ${p.id} 的凭据已不存在，或属于另一个主机。`,
    "请注册者重新发送：POST …/tool-box/{box_id}，带上 `credential`。",
  ],
  openapi_unfit: (p) => [
    `这份 OpenAPI 文档无法使用：${openApiFaults[p.why]?.what ?? p.why}${p.said === undefined || p.said === "" ? "" : `（${p.said}）`}。`,
    openApiFaults[p.why]?.next ?? openApiFaults.syntax.next,
  ],
  operation_unfit: (p) => {
    const said = p.said === undefined || p.said === "" ? "" : `（${p.said}）`;
    const size = sizeText(p.limit ?? 0, ({ count }) => `${count} 字节`);
    if (p.of === "toolbox")
      return [`这个工具箱已放不下它${said}。`, `一个工具箱的工具最多占 ${size}；请把其余的注册到另一个工具箱。`];
    if (p.of === "user")
      return [`您的工具箱已放不下它${said}。`, `您所有工具箱的工具最多共占 ${size}；请删除不再使用的工具后重新添加。`];
    return [
      `${operationFaults[p.why] ?? p.why}${said}。`,
      p.why === "too_many" ? `最多 ${p.limit ?? 0} 个；请把其余的注册到另一个工具箱。` : "请修改文档后重新添加。",
    ];
  },
};

const openApiFaults: Readonly<Record<OpenApiFault, { readonly what: string; readonly next: string }>> = {
  syntax: { what: "既不是 JSON 也不是 YAML", next: "请用 YAML 工具检查文本。" },
  no_object: { what: "不是一个对象", next: "请以文本或 JSON 发送完整文档。" },
  no_openapi: { what: "没有 `openapi: 3.…`", next: "请发送包含首行的完整文档。" },
  version: { what: "不支持这个版本", next: "请转换为 OpenAPI 3.0 或 3.1。" },
  too_large: { what: "超过 4 MiB、400,000 个值或 100 层嵌套", next: "请把需要的操作放入较小的文档。" },
  no_server: { what: "没有给出服务地址", next: "请同时发送 `box_svc_url`，例如 https://api.example.com/v1。" },
  server: { what: "服务地址无法使用", next: "请发送 `box_svc_url`：http 或 https，不含用户名、密码、查询参数和空格。" },
};

const operationFaults: Readonly<Record<OperationFault, string>> = {
  path: "路径不以斜杠开头，或含有 ?、# 或点段",
  path_parameter: "路径中的参数没有描述",
  parameter: "参数没有名称，或不在 path、query、header、cookie 之中",
  reference: "引用不存在、指向外部或形成循环",
  content: "请求体既不是 JSON 也不是普通表单",
  other_server: "它属于另一个服务地址",
  too_large: "参数太多，或其结构太大",
  too_many: "操作太多",
};
