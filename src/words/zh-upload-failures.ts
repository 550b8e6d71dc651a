import type { ArchiveFault, ArchiveLimit, enUploadFailures, FormFault } from "./en-upload-failures.ts";
import { sizeText } from "./sizes.ts";

/** 通过 HTTP 使用沙箱会话的文件时可能出的问题：发生了什么，可以怎么办。 */
export const zhUploadFailures: typeof enUploadFailures = {
  conversation_not_named: () => [
    "请求没有说明文件属于哪个对话。",
    "请用表单字段、查询参数或请求头发送 conversation_id，或使用以它开头的路径，例如 c1/uploads/temparea/data.csv。",
  ],
  file_ambiguous: (p) => [`多个对话里都有文件 ${p.name}：${p.conversations}。`, "请用 conversation_id 说明是哪一个。"],
  form_unfit: (p) => [
    `表单无法使用：${formFaults[p.why]}。`,
    "请发送 multipart/form-data，其中有一个名为 file 的文件，并附上 conversation_id。",
  ],
  archive_unfit: (p) => [
    `${p.name} 无法解压：${p.entry === "" ? "" : `${p.entry}：`}${archiveFaults[p.why]}。`,
    "请重新制作 ZIP 文件，或者不带 extract 上传。",
  ],
  archive_too_large: (p) => [`${p.name} 太大，无法打包或解压：上限是 ${archiveLimit(p)}。`, "请分成几部分。"],
  upload_not_found: (p) => [`没有编号为 ${p.id} 的上传。`, "它可能已经结束或过期，请重新开始。"],
  upload_offset_unfit: (p) => [
    `已收到 ${p.have} 字节，不能从 ${p.offset} 继续。`,
    "请先用 HEAD 查询进度，再从那里继续。",
  ],
  upload_checksum_unfit: (p) => [
    `${p.name} 收到的内容与发送的不一致：sha256 是 ${p.actual}，应为 ${p.expected}。`,
    "内容已丢弃，请重新上传。",
  ],
  upload_version_unfit: (p) => ["这里不使用这个版本的 tus。", `请发送请求头 Tus-Resumable: ${p.version}。`],
  uploads_too_many: (p) => [
    `您未完成的上传已达上限 ${p.limit} 个。`,
    "请继续或删除其中一个；每个上传一天后会自动清除。",
  ],
};

const formFaults: Readonly<Record<FormFault, string>> = {
  no_boundary: "内容类型里没有 boundary",
  broken: "它不是 multipart/form-data",
  no_file: "其中没有文件",
  several_files: "其中不止一个文件",
  too_many_parts: "其中的部分太多",
  field_too_long: "其中有字段太长",
  broken_off: "还没有结束就中断了",
};

const archiveFaults: Readonly<Record<ArchiveFault, string>> = {
  broken: "它不是完整的 ZIP 文件",
  link: "它是链接",
  path: "名字指向文件夹之外，或无法使用",
  encrypted: "它是加密的",
  method: "它的压缩方式无法识别",
};

function archiveLimit({ what, limit }: { what: ArchiveLimit; limit: number }): string {
  if (what === "bytes") return `内容共 ${sizeText(limit, ({ count }) => `${count} 字节`)}`;
  return what === "files" ? `${limit} 个文件` : `压缩包每字节对应 ${limit} 字节内容`;
}
