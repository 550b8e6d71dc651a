import type { enNotes } from "./en-notes.ts";

export const zhNotes: typeof enNotes = {
  model_id_missing: (note) =>
    `${note.slot} 槽位没有指定模型，将使用窗口较小的 ${note.model}。可用 ${note.variable}=… 指定其他模型。${note.offered === "" ? "" : `服务器提供：${note.offered}`}`,
  slot_without_key: (note) => `${note.slot} 槽位有设置但没有密钥，暂不使用。请补上 ${note.variable}=…`,
  embedding_incomplete: (note) => `嵌入模型的设置不完整，暂不使用，搜索只按词语排序。请补上 ${note.variable}=…`,
  proxy_foreign: (note) =>
    `.env 中的 ${note.names} 会让这个文件夹读到您发送的内容，没有采用。请在环境变量中设置，或者用 AGENTYARD_CONFIG 指定这个文件夹。`,
  variable_unknown: (note) => `不认识 ${note.name}，是不是想写 ${note.near}？`,
  logs_off: (note) => `无法写入日志文件（${note.why}），将不记录日志继续运行。腾出空间或给予写入权限后即可恢复记录。`,
  settings_unusable: (note) => `改动后的设置没有生效，仍使用之前的设置：${note.why}`,
  crash_log: (note) => `日志文件：${note.logFile}`,
  crash_without_log: (note) => `日志文件尚未打开，详情如下：${note.details}`,
  others_run: () => "正在等待其他人在此运行的程序；按 Ctrl+C 停止它们并退出。",
};
