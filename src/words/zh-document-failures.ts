import type { enDocumentFailures } from "./en-document-failures.ts";
import { sizeText } from "./sizes.ts";

/** 读取文档时可能出的问题：发生了什么，可以怎么办。 */
export const zhDocumentFailures: typeof enDocumentFailures = {
  document_locked: (p) => [
    p.why === "password" ? `${p.name} 需要密码才能打开。` : `${p.name} 受版权保护（DRM），其他程序无法读取。`,
    p.why === "password" ? "请用原来的程序另存一份没有密码的副本，再使用它。" : "如果有未受保护的副本，请使用它。",
  ],
  document_damaged: (p) => [
    `${p.name} 无法作为 ${p.type} 读取：文件已损坏或不完整。`,
    "请重新发送，或者用原来的程序打开并重新保存。",
  ],
  document_unknown: (p) => [
    `${p.name} 不是这里能读取的文档（${p.type}）。`,
    "可以读取 PDF、DOCX、XLSX、PPTX、HTML、Markdown、CSV、EPUB 和文本。旧的 Office 文件（doc、xls、ppt）请另存为新格式。",
  ],
  document_too_large: (p) => [
    `${p.name} 有 ${size(p.sizeBytes)}；文档最大为 ${size(p.limitBytes)}。`,
    "请把它拆分，只使用需要的部分。",
  ],
  document_too_slow: (p) => [
    `${p.name} 在 ${p.seconds} 秒内没有读完。`,
    "文件很大，或者结构特殊。请把它拆分，或者用原来的程序重新保存。",
  ],
  document_too_costly: (p) => [
    `读取 ${p.name} 需要的内存超过了一个文档的上限。`,
    "请把它拆分，或者用原来的程序重新保存。",
  ],
  document_reader_crashed: (p) => [
    `无法读取 ${p.name}：读取程序崩溃了。`,
    "其他文件不受影响。请用原来的程序重新保存；运维人员可以在日志文件中查看详情。",
  ],
  document_stopped: (p) => [`${p.name} 没有读完。`, "读取被停止了，请重新发起。"],
};

function size(bytes: number): string {
  return sizeText(bytes, ({ count }) => `${count} 字节`);
}
