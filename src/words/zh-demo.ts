import type { enDemo } from "./en-demo.ts";

export const zhDemo: typeof enDemo = {
  introduction:
    "我是 AgentYard 的演示模型：一个按固定规则工作的小程序，不是人工智能。我不会思考，但我调用的工具都是真的。",
  greeting: "您好！",
  about:
    "有了我，您在接入真正的模型之前就能看到 AgentYard 如何工作。我的回答来自一张简短的规则表；对话、工具和提问都是真实的。",
  abilitiesHead: "您可以对我说：",
  abilities: [
    ["现在几点", "我用工具 `now` 看时间"],
    ["计划一次生日聚会", "我用 `todo_write` 写一份清单"],
    ["查看我的清单", "我用 `todo_read` 读出来"],
    ["列出文件", "我用 `list_files` 看看有什么"],
    ["读取 notes.txt", "我把 `read_file` 读到的内容给您看"],
    ["#sales.csv", "我用技能 `data-analysis` 查看 `#` 后面的文件：给出每一列的概况、一份报告和图表"],
    ["做一个关于茶的幻灯片", "我按技能 `slides` 来做：先写提纲，再在 `outputs/` 里生成 PowerPoint 文件"],
    ["有哪些技能", "我列出这里的智能体可用的技能"],
    ["调用 echo：你好", "我用 `find_tools` 查找这个工具；您的 MCP 服务器有它，我就调用它"],
    ["运行 python：print(6 * 7)", "我用 `execute_code` 在沙箱里运行；JavaScript 和 bash 也可以"],
    ["写一条笔记：给小王打电话", "我用 `write_file` 写到 `outputs/`"],
    ["在文件中搜索小王", "我用 `search_file` 查找"],
    ["把 notes.txt 里的红改成蓝", "我先读文件，再用 `edit_file` 修改"],
    ["删除 notes.txt", "我先请您批准，批准之后才删除"],
    ["撤销", "我告诉您怎样撤销我做的事"],
    ["让 simple 来回答：现在几点", "我把您转交给智能体 simple，之后再回来"],
    ["预算还剩多少", "我告诉您我所知道的余额"],
    ["把我的文件分给三个工作者", "我用 `spawn_agent` 建三个智能体，各看一部分文件，再把它们的笔记写成一份报告"],
    ["让一个工作者来做：读取 notes.txt", "我用 `delegate_task` 交给工作者，再转述它的回答"],
    ["同时做两件事", "我并行调用两个工具"],
    ["问我一个问题", "我向您提问，再根据您的回答继续"],
    ["接入模型", "我告诉您怎样换上真正的模型"],
  ],
  ability: (say, then) => `- “${say}”：${then}`,
  noRule: "这个问题不在我的规则之内，需要真正的模型才能回答。",
  connectShort:
    "要接入真正的模型，请在终端输入 `/connect`，或在浏览器中打开设置；也可以在 `.env` 文件中写入 `OPENAI_API_KEY=…`；本地服务则写入 `MODEL_BASIC_BASE_URL=…` 和 `MODEL_BASIC_ID=…`，然后发送下一条消息。说“接入模型”可以看到完整的配置。",

  connectHead: "要接入真正的模型，请把下面其中一段写入 `.env` 文件，然后发送下一条消息。",
  foundHead: "在这台机器上找到了：",
  found: (model, server, tokens, tools) =>
    `${server} 上的 ${model}（上下文窗口：${tokens === undefined ? "未说明" : `${count(tokens)} tokens`}，工具调用：${tools === undefined ? "未说明" : tools ? "支持" : "不支持"}）`,
  openAiHead: "OpenAI：",
  compatibleHead: "其他兼容 OpenAI 接口的服务：",
  localHead: "本地服务不需要密钥，例如 Ollama：",

  time: (now) => `现在是 ${withDay(now)}。`,
  planTopic: "这件事",
  planSteps: (topic) => [`写下“${topic}”要达到的目标`, `列出“${topic}”需要的东西和负责的人`, "定下日期，检查结果"],
  planned: (topic, steps) =>
    `我为“${topic}”写好了一份清单：\n\n${steps}\n\n步骤总是这三条；真正的模型会根据任务来安排。说“查看我的清单”可以再看一遍。`,
  list: (lines) => `这是您的清单：\n\n${lines}`,
  together: (now, list) => `两个工具同时运行完毕。\n\n- \`now\`：${withDay(now)}\n- \`todo_read\`：\n\n${list}`,
  question: "我该怎么称呼您？",
  questionContext: "演示模型提这个问题，是为了让您看看提问的样子，怎么回答都可以。",
  questionDefault: "朋友",
  answered: (answer) => `很高兴认识您，${answer}。真正的模型会记住这一点，接着往下做。`,

  files: (lines) => `这些是您的文件：\n\n${lines}`,
  noFiles:
    "`uploads/` 和 `outputs/` 里还没有文件。请在消息中附上一个（在终端里写 `#` 加文件名，例如 `#sales.csv`），或者说“写一条笔记：…”。",
  whichFile: (files) => `我不知道您指的是哪个文件。现有：\n\n${files}\n\n请说出其中一个的名字。`,
  fileText: (path, text, lines) =>
    `\`${path}\` ${lines === "all" ? "的内容" : `的开头${lines === undefined ? "" : `（共 ${count(lines)} 行）`}`}：\n\n${text}`,
  filesLeft: (files) => `还有 ${count(files)} 个文件没有列出，说出名字就可以接着看。`,
  noteName: "笔记.txt",
  noteText: "由 AgentYard 的演示模型写入。",
  wroteFile: (path) => `已写入 \`${path}\`。用 \`/undo\` 可以撤销。`,
  deletedFile: (path) => `已删除 \`${path}\`。用 \`/undo\` 可以撤销。`,
  notDeleted: (path) => `\`${path}\` 没有删掉；有这个文件吗？`,
  ranCommand: (output) => `已运行，返回的是：\n\n${output}`,
  ownCode: {
    codeUnavailable: (reason, fix) =>
      `这里不能运行代码：${reason} 解决办法：${fix}（\`agentyard doctor\` 有更多说明。）`,
    codeFailed: "这段代码没有运行完。上面这次调用的结果说明了原因。",
    codeRejected: "您拒绝了运行代码，所以我没有运行。",
  },
  changedFile: (before, after, path) => `已把 \`${path}\` 里的“${before}”改成“${after}”。用 \`/undo\` 可以撤销。`,
  searchHits: (query, hits) => `“${query}”出现在这些地方：\n\n${hits}`,
  foundAt: (p) => {
    const units: Readonly<Record<string, string>> = { page: "页", slide: "张幻灯片", chapter: "章", paragraph: "段" };
    const unit = units[p.place];
    const span = p.first === p.last ? p.first : `${p.first}–${p.last}`;
    const where = unit === undefined ? `工作表 ${p.first}` : `第 ${span} ${unit}`;
    return `\`${p.path}\` ${where}${p.heading === "" ? "" : `（${p.heading}）`}：`;
  },
  searchNothing: (query) => `在这些文件里没有找到“${query}”。`,
  undo: "我自己不能撤销任何事，只有您可以：`/undo` 撤销上一个回合，它改动过的文件也会恢复原样。",
  uploaded: (lines) => `收到了这些文件：\n\n${lines}`,
  uploadedNext: "您可以接着说“读取”或“搜索”，再加上文件名。",
  profileHead: (path, rows, columns) =>
    `\`${path}\`：共 ${count(rows)} 行，${columns === 0 ? "没有数字列" : `${count(columns)} 列数字`}。`,
  chart: {
    file: "图表",
    column: "第 # 列",
    rows: "行数",
    sums: "各#2的#1合计",
    spread: "#的分布",
  },
  tableHead: (path, rows, columns) => `\`${path}\`：共 ${count(rows)} 行，${count(columns)} 列。`,
  tableColumns: ["列", "类型", "数值个数", "缺失", "最小", "最大", "平均", "中位数", "合计"],
  tableKinds: { number: "数字", date: "日期", text: "文本", empty: "空" },
  tableGaps: (cells, columns) => (cells === 0 ? "没有缺失值。" : `共有 ${count(cells)} 个缺失值，在${columns}。`),
  tableOften: (column, distinct, value, times) =>
    `${column}：${distinct === undefined ? "取值很多" : `${count(distinct)} 种取值`}，最常见的是“${value}”（${count(times)} 次）。`,
  tableMore: (columns) => `还有 ${count(columns)} 列没有列出。`,
  chartMade: (path) => `图表在 \`${path}\`。`,
  chartNone: {
    matplotlib: "沙箱里没有 matplotlib，所以没有画图；`agentyard doctor` 会说明怎样安装。",
    nothing: "没有画图：没有数字列，也没有只含几组取值的列。",
  },
  codeUnavailable: (reason, fix) =>
    `这里不能运行代码：${reason} 解决办法：${fix}（\`agentyard doctor\` 有更多说明。）所以我只读了文件，没有画图。`,
  codeFailed: "这段代码没有运行成功，所以我只读了文件，没有画图。",
  codeRejected: "您拒绝了运行代码，所以我只读了文件，没有画图。",
  profileColumns: ["列", "数值个数", "最小", "最大", "平均", "合计"],
  profileColumn: (place) => `第 ${place} 列`,
  profileMore: (columns) => `还有 ${count(columns)} 列数字没有列出。`,
  profileOthers: (names) => `其他列：${names}。`,
  profileUnread: (cells) => `有 ${count(cells)} 个单元格不是数字，没有计入。`,
  profilePart: (read, of) =>
    `这只是开头部分：读了 ${count(read)} 行${of === undefined ? "" : `，共 ${count(of)} 行`}。`,

  followed: (skill) => `我按技能 \`${skill}\` 来做：读了它的 \`SKILL.md\`，并在沙箱里运行了它的脚本。`,
  skills: (lines) =>
    `这里的智能体有这些技能：\n\n${lines}\n\n我只会用 \`data-analysis\` 和 \`slides\`；真正的模型会在任务合适时读取其中任何一个。\`/skills\` 有更多说明。`,
  delegated: (p) => `工作者用 ${count(p.steps)} 步做完了：\n\n${p.said}`,
  notDelegated: (why) => `工作者没有做完${why === "" ? "" : `（${why}）`}。`,
  company: {
    order: "请查看下面每一个文件，为报告写下笔记：",
    role: "查看文件",
    worker: (number) => `工作者-${number}`,
    path: "outputs/报告.md",
    title: "# 公司报告",
    begun: (lines) =>
      `公司开始工作了。每个工作者都有自己的文件，并会留下笔记：\n\n${lines}\n\n\`/agents\` 可以查看它们；全部做完之后，笔记会合成一份报告。`,
    given: (p) => `- \`${p.name}\`：${count(p.files)} 个文件`,
    underWay: (p) => `${p.of} 个中已有 ${p.done} 个做完。`,
    done: (p) =>
      `报告在 \`${p.path}\`：${p.good === p.workers ? `${p.workers} 个工作者全部` : `${p.workers} 个工作者中有 ${p.good} 个`}做完，笔记都在里面；\`outputs/\` 里每个工作者也各有一个文件夹。报告里没有写这些文件说明什么：这要由真正的模型来写。`,
    nothing: "没有写出报告：没有可读的笔记。",
    failed: (isDone) => (isDone ? "它的笔记读不出来。" : "它没有做完。"),
    note: (p) => `\`${p.path}\`：${count(p.lines)} 行，${count(p.words)} 个词。开头是：“${p.begin}”`,
    unread: (path, code) => `\`${path}\` 读不出来（${code}）。`,
    noted: (p) => `结果：${count(p.files)} 个文件的笔记已写好。文件：${p.path} - 笔记。未尽事项：无。`,
  },
  handedBack: "另一个智能体已经回答了您。",
  handedOver: (task) => `已把您转交给我，任务是：“${task}”。我没有对应的规则，这需要真正的模型来回答。`,
  noBudget: "我没有得到预算方面的提示。用 `/budget tokens 200k` 可以设置。",
  budget: (left) =>
    `我最近得知的预算：${left.replaceAll("tokens", "token").replaceAll(" of ", " / ").replaceAll(" left", "（剩余 / 上限）")}。\`/budget\` 显示准确的数字。`,
  noSkills: "这里没有给我提供技能。`/skills` 会说明有哪些技能，以及原因。",
  report: {
    file: "报告",
    title: (name) => `${name} 数据报告`,
    findings: (lines) => `脚本提示要留意（原文为英文）：\n\n${lines}`,
    made: (files) => `报告在 ${listed(files)}。报告里没有写这些数字说明什么：我只有规则，这要由真正的模型来写。`,
    none: "没有写出报告：写报告的脚本没有运行成功。",
  },
  slides: {
    topic: "这个主题",
    outlineName: "提纲",
    outline: (topic) =>
      [
        `# ${topic}\n由 AgentYard 的演示模型制作`,
        "> 无论什么主题，这些幻灯片都一样。真正的模型会写上应有的内容。",
        `## 主要内容\n- 用一句人人都懂的话说明：${topic}\n- 它对听众有什么意义\n- 今天不讲什么`,
        "## 已知情况和来源\n| 问题 | 回答 | 来源 |\n| --- | --- | --- |\n| 面向谁？ | 待填写 | 待填写 |\n| 成本多少？ | 待填写 | 待填写 |",
        "## 支持与反对的理由\n### 支持\n- 一条充分的理由\n### 反对\n- 一条坦率的意见",
        "## 下一步\n- 谁来做什么\n- 什么时候完成\n- 怎样判断成功",
        "# 提问",
      ].join("\n\n"),
    made: ({ topic, path, slides, outline }) =>
      `关于“${topic}”的幻灯片在 \`${path}\`（共 ${count(slides)} 页），提纲在 \`${outline}\`。无论什么主题，内容都一样；真正的模型会写上应有的内容。`,
    unmade: (why, outline) => `${why}提纲在 \`${outline}\`。`,
    whyNot: {
      codeUnavailable: (reason, fix) =>
        `这里不能运行技能 \`slides\` 的脚本：${reason} 解决办法：${fix}（\`agentyard doctor\` 有更多说明。）所以没有 PowerPoint 文件。`,
      codeFailed: "技能 `slides` 的脚本没能运行，所以没有 PowerPoint 文件。",
      codeRejected: "您拒绝了运行技能 `slides` 的脚本，所以没有 PowerPoint 文件。",
    },
    broken: (outline) => `技能 \`slides\` 的脚本没有运行完。提纲在 \`${outline}\`；脚本的输出是：`,
    noSkill: "要做幻灯片，我需要按技能 `slides` 来做并运行它的脚本，但在这里不可以。`/skills` 会说明原因。",
  },
  foreign: {
    called: ({ tool, server, input }) =>
      `我调用了 MCP 服务器 \`${server}\` 的工具 \`${tool}\`，参数是 \`${input}\`。它的回答是：`,
    chosen: "我是按它名字里的词选中它的，参数取自您消息里的数字和文字；真正的模型会理解它的用途。",
    unfilled: ({ tool, server, needed }) =>
      `MCP 服务器 \`${server}\` 的工具 \`${tool}\` 也许合适，但我在您的消息里没有找到它需要的内容（${needed}）。真正的模型会自己推断或者询问；我只会按顺序取数字，并取冒号后面的文字。`,
  },

  toolNotThere: (tool) => `要做这件事，我需要调用工具 \`${tool}\`，但在这里不能使用它。`,
  called: (tool, result) => `\`${tool}\`：${result}`,
  rejected: (tool) => `您拒绝了 \`${tool}\`，所以我没有执行。`,
  failed: (tool, code) => `\`${tool}\` 没有成功（${code}）。`,
  fileFailures: {
    file_not_found: ({ path, near }) =>
      near === ""
        ? `没有找到文件 \`${path}\`；说“列出文件”可以看到现有的文件，在名字前加 \`#\` 可以把您的文件一起发来。`
        : `没有找到文件 \`${path}\`，您要找的是不是 ${near}？`,
    path_traversal_blocked: ({ path }) =>
      `\`${path}\` 不在这个对话的文件里，别处的文件我够不到；在名字前加 \`#\` 可以把您的文件一起发来。`,
    permission_denied: ({ path, isUnwritable }) =>
      isUnwritable
        ? `我只能写入 \`outputs/\`、\`temp/\` 和 \`uploads/\`，所以 \`${path}\` 没有写入。`
        : `我不能使用 \`${path}\`：它受保护，或者是链接，或者不是普通文件。`,
    not_a_file: ({ path }) => `\`${path}\` 不是文件，请说出其中一个文件的名字。`,
    unsupported_type: ({ path }) => `\`${path}\` 这类文件我既不能读也不能改，请换成文本或表格。`,
    too_large: ({ path }) => `\`${path}\` 太大了，请换成小一些的文件。`,
    text_not_found: ({ path, text }) => `\`${path}\` 里没有“${text}”，所以什么都没有改。`,
    conflict: ({ path }) => `\`${path}\` 里有我还没看过的内容，所以我没有动它；请先让我读一遍，再试一次。`,
    quota_exceeded: ({ path }) => `放不下 \`${path}\` 了；请删除不再需要的文件，再试一次。`,
  },
};

function listed(files: readonly string[]): string {
  const [last = "", ...charts] = files.toReversed();
  const shown = charts.toReversed().map((file) => `\`${file}\``);
  return shown.length === 0
    ? `\`${last}\``
    : `\`${last}\`，旁边有 ${count(shown.length)} 张图表（${shown.join("、")}）`;
}

function count(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** The tool tells the day in English, as models read it. */
function withDay(now: string): string {
  return now.replace(/\b\w+day\b/, (day) => days[day] ?? day);
}

const days: Readonly<Record<string, string>> = {
  Monday: "星期一",
  Tuesday: "星期二",
  Wednesday: "星期三",
  Thursday: "星期四",
  Friday: "星期五",
  Saturday: "星期六",
  Sunday: "星期日",
};
