import type { ModelFault, ModelTrouble } from "./en-model-faults.ts";

const reach = "请检查服务地址、网络，以及服务是否在运行，然后重新发送。";
const again = "请重新发送；如果仍然不行，请用 /model 换一个模型。";
const less = "请减少一次要求的内容，或者用 /model 换一个模型。";

const modelFaults: Readonly<Record<ModelFault, { readonly what: string; readonly next: string }>> = {
  silent: { what: "长时间没有发来任何内容", next: reach },
  closed: { what: "在回答完成之前断开了连接", next: reach },
  garbled: { what: "发来的压缩数据已损坏", next: again },
  cancelled: { what: "还没有回答，调用就被停止了", next: "请重新发送。" },
  broken_off: { what: "因自身故障中断了回答", next: again },
  no_choice: { what: "的回答没有内容", next: again },
  not_json: { what: "发来的内容不是 JSON", next: again },
  foreign: {
    what: "的回答不符合模型接口的格式",
    next: "请检查服务地址（通常以 /v1 结尾）；如果设置了接口格式（MODEL_BASIC_API），也请一并检查。",
  },
  too_long: { what: "的回答太长", next: less },
  too_many_calls: { what: "在一次回答中要求调用太多工具", next: less },
  redirected: { what: "要求改用其他地址", next: "如果那个地址正确，请把它设为服务地址。" },
  unsendable: {
    what: "没有收到请求：密钥或地址中含有 HTTP 无法传送的字符",
    next: "请检查 API 密钥和服务地址。",
  },
  no_vectors: {
    what: "没有为每段文本返回一个数值向量",
    next: "请改用嵌入模型，而不是对话模型。",
  },
};

export function modelTrouble({ server, said, because }: ModelTrouble, otherwise: [string, string]): [string, string] {
  const fault = because === undefined ? undefined : modelFaults[because];
  return fault === undefined ? otherwise : [`${server} ${fault.what}${said === "" ? "" : `（${said}）`}。`, fault.next];
}
