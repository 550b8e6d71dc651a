import type { enSkills, Faults, SkillFault } from "./en-skills.ts";

type Pair = readonly [what: string, instead: string];

export const zhSkills: typeof enSkills = {
  fault(p: SkillFault): Pair {
    const table: Readonly<Record<string, (fault: never) => Pair>> = faults;
    // The entry is chosen by the fault, so its parameters fit.
    return table[p.fault]?.(p as never) ?? [`${p.fault}。`, "请更新 AgentYard：这是较新的版本发现的。"];
  },
  place: { project: "项目", user: "用户", built_in: "内置" },
  state: {
    offered: "可用",
    cut: "列表放不下，未列出",
    disabled: "已关闭",
    broken: "无法使用",
    shadowed: "有更近的同名技能",
    untrusted: "所在文件夹不受信任",
  },
  none: () => "还没有技能。把含有 SKILL.md 的文件夹放入 ~/.agents/skills 即可；写法见 docs/use/skills.zh-CN.md。",
  entry: (p) => `  @${p.id}  ${p.state} · ${p.place}${p.used === "" ? "" : ` · ${p.used}`}`,
  inUse: "本对话正在使用",
  hint: () => "在消息里用 @ 写出名称即可使用。/skills why 名称 说明原因。",
  usage: (p) => `/skills 不认识“${p.word}”。请用 /skills、/skills why 名称，或 /skills install 名称。`,
  installWhat: () => "哪一个？请用 /skills install 名称。",
  installing: (p) => `正在安装 ${p.name} 需要的软件包，可能要几分钟……`,
  installed: (p) => `✓ 已安装到您的沙箱：${p.names}`,
  nothingToInstall: () => "它没有可以安装的软件包。",
  leftOut: (p) => `! 这一行不只是名称和版本，请自行处理：${p.line}`,
  whyWhat: () => "哪一个？请用 /skills why 名称。",
  why: {
    offered: () => "它在智能体的技能列表里，任务符合说明时会去读。",
    cut: (p) =>
      `在这个模型的窗口里，技能列表最多占 ${p.max} 个 token，它排在后面。用 @ 写出名称即可使用，或在 skills.yaml 里关闭别的技能。`,
    disabled: (p) => `${p.source} 里对它写了 enabled: false。`,
    broken: () => "它有错误：",
    shadowed: (p) => `${p.by} 有同名的技能，而且更近。`,
    untrusted: () => "它在没有人选择过的文件夹里。如果是您的，请把 AGENTYARD_CONFIG 设为该文件夹。",
    mention: (p) => `在第 ${p.turn} 个回合链接：消息里写了它的名称。`,
    file_type: (p) => `在第 ${p.turn} 个回合链接：随消息来了 ${p.file}。`,
    read: () => "智能体在本对话里读过它的说明。",
    notRead: () => "智能体在本对话里还没有读它的说明。",
    notLinked: () => "本对话里没有写过它的名称。",
    trigger: (p) => `来了 ${p.types} 类型的文件时会自动链接；本对话里还没有。`,
    noTrigger: () => "没有文件类型会自动链接它（skills.yaml 的 auto_load_on_file_types）。",
    warnings: () => "需要改正：",
  },
  unknownMention: (p) =>
    p.near === ""
      ? `没有名为 @${p.name} 的工具、技能或智能体，已按文字发送。`
      : `没有名为 @${p.name} 的工具、技能或智能体，已按文字发送。是否指 ${p.near}？`,
  unusableMention: (p) => `没有使用技能 @${p.name}（${p.state}），已按文字发送。/skills why ${p.name} 说明原因。`,
};

/** By what is the matter. */
const faults: Faults = {
  no_front_matter: () => [
    "文件开头没有元数据。",
    "请以这几行开头：--- / name: … / description: 它做什么、何时使用 / ---",
  ],
  front_matter_open: () => ["元数据没有结尾。", "请在正文之前单独写一行 ---。"],
  front_matter_long: () => ["元数据太长。", "请控制在 16 KiB 以内；说明写在它后面。"],
  yaml: (p) => [`元数据不是 YAML：${p.why}。`, "请给这个值加上引号，或改正这一行。"],
  tab: () => ["行首有制表符。", "YAML 在这里要求空格。"],
  colon: (p) => [`${p.key} 的值含有冒号或 #，却没有引号；已按一段文字读取。`, `请给 ${p.key} 的值加上引号。`],
  alias: () => ["这里不读取锚点和别名（& 和 *）。", "请写出完整的值，或加上引号。"],
  no_map: () => ["元数据里没有键。", "请分行写出 name: … 和 description: …。"],
  twice: (p) => [`键 ${p.key} 出现了两次。`, "请只保留一个。"],
  type: (p) => [`${p.key} 的形式不对。`, typeAdvice[p.key] ?? "请写成文字。"],
  no_name: (p) => ["没有名称。", `请写 name: ${p.id}`],
  name_unfit: (p) => [
    `名称“${p.name}”含有小写字母、数字和单个连字符以外的字符，或超过 64 个字符。`,
    `请写 name: ${p.id}`,
  ],
  name_differs: (p) => [
    `名称是 ${p.name}，文件夹是 ${p.id}。`,
    `它以 ${p.name} 为名；请把文件夹也改成这个名称，其他程序要求两者一致。`,
  ],
  no_description: () => ["没有说明。", "请写 description: 它做什么、何时使用。"],
  key_near: (p) => [`不认识键 ${p.key}，已保留。`, `是否想写 ${p.near}？`],
  too_long: (p) => [`${p.key} 有 ${p.characters} 个字符，超过 ${p.max} 的部分不用。`, "请缩短它。"],
  body_empty: () => ["元数据之后没有说明。", "请写出智能体应该怎么做。"],
  body_long: (p) => [`说明有 ${p.lines} 行。`, `请把细节移到 references/ 的文件里并注明：${p.max} 行以内读得好。`],
  too_large: (p) => [`${p.bytes} 字节超过了一个技能的上限（${p.max}）。`, "请把大文件放到别处，并注明位置。"],
  too_many: (p) => [`文件超过 ${p.max} 个。`, "请去掉说明里没有提到的文件。"],
  not_text: () => ["文件不是 UTF-8 文本。", "请存为 UTF-8。"],
  unreadable: () => ["无法读取。", "请给运行 AgentYard 的用户读取权限。"],
  no_skill_file: () => ["文件夹里没有 SKILL.md。", "请放入一个，写明 name 和 description。"],
  file_name: (p) => [`文件名是 ${p.name}，已读取。`, "请改名为 SKILL.md，其他程序要求如此。"],
  nested: (p) => [`SKILL.md 在更深一层：${p.name}。`, "请把那个文件夹移上来：技能并排放置。"],
  single_file: (p) => [
    `${p.name} 是文件；技能需要一个含有 SKILL.md 的文件夹。`,
    `请建文件夹 ${p.name.replace(/\.[^.]*$/, "")}，把文件移进去并命名为 SKILL.md。`,
  ],
  link_out: (p) => [`链接 ${p.name} 指向技能之外，不予采用。`, "请在那里放一份副本。"],
  shadowed: (p) => [`${p.by} 有同名的技能，而且更近。`, "请给其中一个改名，或删除它。"],
  untrusted: () => [
    "没有人选择过这个文件夹，所以不采用其中的内容。",
    "如果其中的技能是您的，请把 AGENTYARD_CONFIG 设为该文件夹。",
  ],
  gone: () => ["读取时它被移走了。", "请再看一次。"],
};

const typeAdvice: Readonly<Record<string, string>> = {
  name: "请写一个词：name: my-skill",
  description: "请写一段文字：description: 它做什么、何时使用",
  metadata: "请在下面分行写 键: 文字。",
  "allowed-tools": "请用空格分隔名称，或写成列表。",
};
