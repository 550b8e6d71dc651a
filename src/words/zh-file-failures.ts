import type {
  AccessFault,
  DiskFault,
  enFileFailures,
  GlobFault,
  ImageFault,
  IndexFault,
  PathFault,
} from "./en-file-failures.ts";
import { sizeText } from "./sizes.ts";

export const zhFileFailures: typeof enFileFailures = {
  workspace_not_assigned: (p) => [`${p.agent} 没有工作区。`, "只有执行任务的智能体才有工作区；请向主智能体要文件。"],
  path_traversal_blocked: (p) => [
    `路径 ${p.path} 指向工作区之外，已拒绝。`,
    "请使用不含 `..` 的相对路径，例如 outputs/report.md。",
  ],
  path_invalid: (p) => [`路径 ${p.path} 无法使用：${pathFaults[p.why]}。`, "请换一个名字。"],
  file_not_found: (p) => [
    `没有找到文件 ${p.path}。`,
    p.near === "" ? "请先列出现有的文件。" : `您要找的是不是：${p.near}？`,
  ],
  permission_denied: (p) => [
    p.why === "not_writable"
      ? `不能写入 ${p.folder}/，只有 outputs、temp、uploads 可以写入。`
      : `${p.path} 无法使用：${accessFaults[p.why]}。`,
    p.why === "not_writable" ? "请改用这几个文件夹中的位置。" : "请换一个文件。",
  ],
  write_failed: (p) => [`${p.path} 写入失败：${diskFaults[p.why]}。`, `原有内容没有变化。${diskAdvice[p.why]}`],
  read_failed: (p) => [`${p.path} 读取失败：${diskFaults[p.why]}。`, diskAdvice[p.why]],
  range_unfit: (p) => [
    `${p.path} 只有 ${p.sizeBytes} 字节，要求的范围在文件末尾之后。`,
    "请改用文件之内的范围，或者读取整个文件。",
  ],
  content_not_kept: (p) => [
    `${p.path} 当时的内容已不再保留。`,
    "只保留一定大小以内文件最近的内容。请选择较新的状态，或让智能体重新生成。",
  ],
  not_a_file: (p) => [`${p.path} 不是文件。`, "请指定其中的某个文件。"],
  not_a_folder: (p) => [`${p.path} 不是文件夹。`, "请指定它所在的文件夹。"],
  too_large: (p) => [
    `${p.path} 至少有 ${size(p.sizeBytes)}，上限是 ${size(p.limitBytes)}。`,
    p.setting === ""
      ? "请使用小一些的文件。"
      : `请使用小一些的文件，或者在 config/agentyard.yaml 中调高 ${p.setting}。`,
  ],
  quota_exceeded: (p) => [
    `${p.path === "." ? "工作区已满" : `放不下 ${p.path}`}：上限是 ${p.what === "bytes" ? size(p.limit) : `${p.limit} 个文件`}。`,
    `请删除不再需要的文件，或者在 config/agentyard.yaml 中调高 ${p.setting}。`,
  ],
  conflict: (p) => [`${p.path} 在上次查看之后有了变化。`, "请重新查看，然后再试一次。"],
  unsupported_type: (p) => [
    `不接受 ${p.path} 这种类型的文件（${p.type}）。`,
    `可以接受：${p.allowed}。${p.setting === "" ? "" : `由 ${p.setting} 决定。`}`,
  ],
  images_unusable: (p) => [
    `sandbox_platform.disk 设为 image，但${imageFaults[p.why]}${p.said === "" ? "" : `（${p.said}）`}。`,
    `${imageAdvice[p.why]}；或者把 sandbox_platform.disk 设为 folder。`,
  ],
  pattern_invalid: (p) => [
    `匹配模式 ${p.pattern} 无法使用：${globFaults[p.why]?.(p.max, p.said) ?? p.why}。`,
    "请直接搜索普通文字，或者改正这个模式。",
  ],
  index_unavailable: (p) => [
    `文档索引无法使用：${indexFaults[p.why]}${p.said === undefined ? "" : `（${p.said}）`}。`,
    indexAdvice[p.why],
  ],
  segmenter_missing: (p) => [
    `documents.segmentation 设为 ${p.segmentation}，需要软件包 @node-rs/jieba，但没有安装。`,
    "请用 npm install @node-rs/jieba 安装，或者把 documents.segmentation 设为 bigram。",
  ],
  files_in_trash: () => ["这个对话的文件在回收站里。", "请先用 /clean restore 恢复；/clean list 可以查看编号。"],
  nothing_to_undo: () => ["没有可以撤销的回合。", "什么都没有改变。先发送消息，它的回合之后可以撤销。"],
  trash_not_found: (p) => [`回收站里没有 ${p.id}。`, "输入 /clean list 查看回收站。"],
};

function size(bytes: number): string {
  return sizeText(bytes, ({ count }) => `${count} 字节`);
}

const pathFaults: Readonly<Record<PathFault, string>> = {
  control_character: "其中有控制字符或换行",
  too_long: "其中有超过 255 字节的名字，或整个路径超过 4096 字节",
  too_deep: "文件夹层数太多",
  no_name: "没有写出文件名",
  backslash: "其中有反斜杠",
  slash: "文件名中不能有斜杠",
};

const accessFaults: Readonly<Record<Exclude<AccessFault, "not_writable">, string>> = {
  system: "系统不允许",
  link: "它是一个链接",
  hard_link: "它有多个名字（硬链接）",
  special: "它是管道、套接字或设备",
  elsewhere: "它在另一个文件系统上",
};

const indexFaults: Readonly<Record<IndexFault, string>> = {
  busy: "另一个程序锁住了它",
  full: "磁盘已满",
  read_only: "无法写入",
  damaged: "它已损坏，已经丢弃",
  memory: "所需内存超过了限制",
  stopped: "操作被停止",
  closed: "AgentYard 正在关闭",
  broken: "无法读取",
};
const indexAdvice: Readonly<Record<IndexFault, string>> = {
  busy: "请关闭打开 search.db 的程序，然后重试。",
  full: "请腾出一些空间，然后重试。",
  read_only: "请让这个用户可以写入数据目录。",
  damaged: "其他数据没有丢失：下次搜索时会重新建立索引。",
  memory: "请在更少或更小的文档中搜索。",
  stopped: "请重试。",
  closed: "请在它运行后重试。",
  broken: "请检查磁盘；search.db 可以删除，会重新生成。",
};

const globFaults: Readonly<Record<GlobFault, (max?: number, said?: string) => string>> = {
  empty: () => "内容为空",
  nothing: () => "没有指明任何名称",
  too_long: (max) => `超过 ${max} 个字符`,
  too_many: (max) => `花括号展开后超过 ${max} 个模式`,
  syntax: (_, said) => `不是正则表达式（${said}）`,
};

const imageFaults: Readonly<Record<ImageFault, string>> = {
  no_root: "只有 root 才能挂载磁盘映像",
  no_programs: "缺少创建和挂载映像的程序",
  no_disk: "数据目录无法写入",
  no_loop: "本机无法挂载映像",
};
const imageAdvice: Readonly<Record<ImageFault, string>> = {
  no_root: "请以 root 运行服务器",
  no_programs: "请安装这些程序（apt-get install -y e2fsprogs mount）",
  no_disk: "请腾出空间或给予写权限",
  no_loop: "请提供 loop 设备（modprobe loop；容器需要 --privileged）以及支持 ext4 的内核",
};
const diskFaults: Readonly<Record<DiskFault, string>> = {
  full: "磁盘已满",
  read_only: "磁盘是只读的",
  changed: "它在此期间被改动了",
  broken_off: "传输中断了",
  io: "磁盘报告了错误",
  too_many_open: "打开的文件太多",
};
const diskAdvice: Readonly<Record<DiskFault, string>> = {
  full: "请腾出一些空间，然后重试。",
  read_only: "请使它可以写入，然后重试。",
  changed: "请重新查看，然后再试一次。",
  broken_off: "请重试。",
  io: "请重试；如果仍然出错，请检查这台机器的磁盘。",
  too_many_open: "请稍后重试。",
};
