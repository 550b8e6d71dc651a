/** What the client itself has to say, in all languages: a browser gets these few without the whole catalogue. */
export const clientFailures = {
  en: {
    network: (p: { said: string }): [string, string] => [
      `AgentYard cannot be reached: ${p.said}.`,
      "Check that it runs; what was sent before is safe.",
    ],
    answer_unreadable: (p: { status: number }): [string, string] => [
      `The answer (status ${p.status}) cannot be read.`,
      "Check that the address is that of an AgentYard of this version.",
    ],
    broken_off: (p: { path: string }): [string, string] => [
      `${p.path} could not be read: the transfer broke off.`,
      "Try again.",
    ],
  },
  zh: {
    network: (p: { said: string }): [string, string] => [
      `连接不上 AgentYard：${p.said}。`,
      "请确认它正在运行；之前发送的内容都已保存。",
    ],
    answer_unreadable: (p: { status: number }): [string, string] => [
      `无法读懂返回的内容（状态码 ${p.status}）。`,
      "请确认地址指向的是同一版本的 AgentYard。",
    ],
    broken_off: (p: { path: string }): [string, string] => [`${p.path} 读取失败：传输中断了。`, "请重试。"],
  },
};
