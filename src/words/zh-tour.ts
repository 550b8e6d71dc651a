import type { TourWords } from "./en-tour.ts";

export const zhTour: TourWords = {
  title: () => "大约两分钟的导览：一张表格、一个工作者、一个决定、一次崩溃。按 Ctrl+C 离开。",
  realModel: (p) => `导览是为演示模型准备的；这里会改问您的模型（${p.id}）。要继续吗？`,
  choices: () => "[y] 继续  [n] 离开 ",
  table: () => "1/4 · 表格随消息一起发送。代码在沙箱里处理它：没有网络，也看不到其他文件。",
  say: {
    table: "#sales.csv",
    worker: "让一个工作者来做：读取 sales.csv",
    note: "写一条笔记：这个文件不需要了",
    remove: "删除 note.txt",
  },
  tableDone: (p) => `沙箱里生成了：${p.files}。/files 列出文件，/open PATH 打开其中一个。`,
  tableBare: () => "没有生成图表：缺少沙箱或其中的库。/doctor 会说明要安装什么。",
  worker: () => "2/4 · 把一件事交给另一个智能体：它用同样的文件，有自己的上下文。",
  workerDone: () => "回来的只有它的回答。多个可以并行工作；/agents 查看谁在做什么，也能停止其中一个。",
  decision: () => "3/4 · 删除文件之前会先问您。看看将要运行什么，然后按 y 或 n。",
  decisionDone: () => "日志里记下了由谁决定；/undo 可以把文件找回来。",
  crash: () => "4/4 · 另一个 AgentYard 在自己的文件夹里处理同一张表格，中途被强行终止。",
  killed: (p) => `✗ ${p.seconds} 后 kill -9，当时正在运行 ${p.tool}`,
  recovering: () => "重新启动，只凭它的日志……",
  recovered: (p) => `✓ 回合自己继续到了结束：${p.steps} 步，${p.events} 个事件，没有一个重复。`,
  notKilled: () => "还没来得及终止就做完了：这台机器很快。",
  notRecovered: (p) => `! 在这里没能进行到底（${p.reason}）。`,
  noMachine: () => "最后一部分需要本机来完成，这里略过。",
  end: () => "导览结束。/connect 可以用真正的模型代替演示模型，/help 查看其余内容。",
  left: () => "导览到此为止；它产生的内容都留在这个对话里。",
};
