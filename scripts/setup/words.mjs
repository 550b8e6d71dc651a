/** What the set-up and the entry say before the product and its own catalogue can be loaded. */
const en = {
  begin: (reason, command) =>
    `Set-up: ${en.reasons[reason]}. Installing them, with AgentYard's own Node:\n  ${command}`,
  reasons: {
    first: "this clone has no packages yet",
    changed: "the list of packages has changed",
    unfinished: "the packages here are not from a finished set-up",
  },
  progress: (seconds, megabytes) => `  ${seconds} s, ${megabytes} MB`,
  nothingYet: " (nothing is here yet: if you are not online, npm gives up after about 80 s)",
  finished: (seconds) => `Set-up finished after ${seconds} s.`,
  again: "Files of an earlier set-up were in the way; trying once more.",
  interrupted: "Set-up was interrupted. The same command starts it again.",
  waiting: (pid, lock) =>
    `Another set-up is running here (process ${pid}); waiting for it. If that is not so, remove ${lock}.`,
  declined: (command) => `AGENTYARD_SETUP=none: nothing is installed. The set-up would run:\n  ${command}`,
  missing:
    "AgentYard's packages are not installed. Run `npm start` (or `npm ci --ignore-scripts`) in this folder first:",
  nodeLeftOut: (version) =>
    `AgentYard needs Node 24 or newer; this is ${version}, and the Node that it brings along was not installed.\n` +
    "Install the package again, without --omit=optional, or start it with a newer Node.",
  nodeTooOld: (version) =>
    `Node 20 or newer is needed; you have ${version}. Install one (nodejs.org, or your system's packages), then try again.`,
  noNodeFor: (platform) =>
    `AgentYard brings its own Node, and there is none for this machine (${platform}). There is one for Linux with glibc\n` +
    "(x64, arm64), macOS (x64, arm64) and Windows (x64); on Alpine use a container with Debian.",
  nodeDoesNotRun: (path, detail) => `The Node that was installed does not run: ${path}: ${detail}`,
  npmMissing: (code) =>
    `npm could not be started (${code}). It comes with Node; see that \`npm -v\` works, then try again.`,
  npmFailed: (code, lines, advice) => `npm ended with exit code ${code}. Its last lines:\n${lines}\n\n${advice}`,
  diskFull: "The disk is full. About 500 MB are needed here and as much in npm's cache (`npm cache clean --force`).",
  cannotWrite: (folder) =>
    `You cannot write into ${folder}\nUse a clone of your own, or mend the folder's rights, then try again.`,
  certificate: "The package registry's certificate was not accepted. Behind a proxy, see `npm config set cafile`.",
  offline:
    "The package registry was not reached. See that you are online (`npm ping`); behind a proxy, see `npm config`.",
  tryAgain: "The same command tries again. If it goes on failing, the lines above say why.",
  programs: (lines) => `Set-up: AgentYard can use packages of the system that this machine does not have:\n${lines}`,
  programUses: {
    bubblewrap: "keeps the code that agents run apart from this machine; without it no code runs",
    python3: "looks after every sandbox and runs Python; without it no code runs",
    "python3-numpy": "data and charts (a download of about 80 MB)",
    "python3-pandas": "data and charts (a download of about 80 MB)",
    "python3-matplotlib": "data and charts (a download of about 80 MB)",
    "fonts-wqy-microhei": "Chinese text in charts",
    "python3-openpyxl": "Excel files",
    "python3-pypdf": "PDF files",
    "python3-reportlab": "PDF files",
    "poppler-utils": "PDF files",
    "poppler-data": "PDF files",
    ripgrep: "the bench of files compares its search with it",
    postgresql: "the tests store in it what a large installation does",
    tmux: "the tests of the terminal look at the screen with it",
    "python3-pip": "the tests of package installation use it",
    "developers-reference": "the tests read this manual",
    "debian-reference-zh-cn": "the tests read this manual, which is in Chinese",
    "chromium-headless-shell": "the tests of the browser app run in it (a download of about 80 MB)",
  },
  webFailed: (lines) =>
    `The browser app could not be built:\n${lines}\nAgentYard starts without it. To try again: node scripts/build-web.mjs`,
  programsProgress: (seconds, line) => `  ${seconds} s: ${line}`,
  programsThere: "They are installed.",
  programsTooLong: (seconds) => `\nstopped: nothing came of it for ${seconds} s`,
  programsByHand: (command) => `AgentYard starts without them. To install them:\n  ${command}`,
  programsElsewhere: (names) =>
    `AgentYard starts without them. To install them, ask your system's package manager for: ${names}`,
  programsFailed: (names, lines, command) =>
    `Not installed: ${names}\n${lines}\nAgentYard starts without them and says what it cannot do (\`npx agentyard doctor\`). To install them later:\n  ${command}`,
};

const zh = {
  begin: (reason, command) => `准备环境：${zh.reasons[reason]}。现在安装依赖包和 AgentYard 自带的 Node：\n  ${command}`,
  reasons: {
    first: "这个目录还没有安装依赖包",
    changed: "依赖包列表有变化",
    unfinished: "现有的依赖包不是由一次完整的准备过程装好的",
  },
  progress: (seconds, megabytes) => `  ${seconds} 秒，${megabytes} MB`,
  nothingYet: "（还没有收到任何文件：如果没有联网，npm 会在大约 80 秒后放弃）",
  finished: (seconds) => `环境已就绪，用时 ${seconds} 秒。`,
  again: "遇到之前的准备过程留下的文件，再试一次。",
  interrupted: "准备过程被中断。再次运行同一条命令即可继续。",
  waiting: (pid, lock) => `另一个准备过程正在运行（进程 ${pid}），等待它完成。如果并非如此，请删除 ${lock}。`,
  declined: (command) => `AGENTYARD_SETUP=none：不安装任何东西。本来会运行：\n  ${command}`,
  missing: "AgentYard 的依赖包还没有安装。请先在这个目录运行 `npm start`（或 `npm ci --ignore-scripts`）：",
  nodeLeftOut: (version) =>
    `AgentYard 需要 Node 24 或更新的版本；当前是 ${version}，而它自带的 Node 没有安装。\n` +
    "请重新安装软件包（不要使用 --omit=optional），或用更新的 Node 启动。",
  nodeTooOld: (version) =>
    `需要 Node 20 或更新的版本，当前是 ${version}。请安装新版本（nodejs.org 或系统软件包），然后重试。`,
  noNodeFor: (platform) =>
    `AgentYard 自带 Node，但没有适合这台机器（${platform}）的版本。支持：使用 glibc 的 Linux（x64、arm64）、\n` +
    "macOS（x64、arm64）、Windows（x64）；在 Alpine 上请使用 Debian 容器。",
  nodeDoesNotRun: (path, detail) => `安装的 Node 无法运行：${path}：${detail}`,
  npmMissing: (code) => `无法启动 npm（${code}）。npm 随 Node 一起提供；请确认 \`npm -v\` 可用，然后重试。`,
  npmFailed: (code, lines, advice) => `npm 以退出码 ${code} 结束。最后几行输出：\n${lines}\n\n${advice}`,
  diskFull: "磁盘已满。这里需要约 500 MB，npm 缓存也需要同样多的空间（`npm cache clean --force` 可清理缓存）。",
  cannotWrite: (folder) => `没有权限写入这个目录：${folder}\n请使用您自己的克隆，或修正目录权限，然后重试。`,
  certificate: "软件包仓库的证书未被接受。如果使用代理，请参考 `npm config set cafile`。",
  offline: "无法连接软件包仓库。请确认网络可用（`npm ping`）；如果使用代理，请检查 `npm config`。",
  tryAgain: "再次运行同一条命令会重试。如果一直失败，原因见上面的输出。",
  programs: (lines) => `准备环境：AgentYard 可以用到这台机器上没有的系统软件包：\n${lines}`,
  programUses: {
    bubblewrap: "把智能体运行的代码与这台机器隔离；没有它就不能运行代码",
    python3: "看管每个沙箱并运行 Python；没有它就不能运行代码",
    "python3-numpy": "数据处理和图表（约下载 80 MB）",
    "python3-pandas": "数据处理和图表（约下载 80 MB）",
    "python3-matplotlib": "数据处理和图表（约下载 80 MB）",
    "fonts-wqy-microhei": "图表中的中文",
    "python3-openpyxl": "Excel 文件",
    "python3-pypdf": "PDF 文件",
    "python3-reportlab": "PDF 文件",
    "poppler-utils": "PDF 文件",
    "poppler-data": "PDF 文件",
    ripgrep: "文件性能测量用它来对比搜索速度",
    postgresql: "测试用它检验大规模部署时的存储",
    tmux: "终端的测试用它查看屏幕",
    "python3-pip": "安装软件包的测试要用到它",
    "developers-reference": "测试要读取这本手册",
    "debian-reference-zh-cn": "测试要读取这本中文手册",
    "chromium-headless-shell": "浏览器界面的测试在其中运行（约下载 80 MB）",
  },
  webFailed: (lines) => `浏览器界面构建失败：\n${lines}\n没有它也能启动。要重试，请执行：node scripts/build-web.mjs`,
  programsProgress: (seconds, line) => `  ${seconds} 秒：${line}`,
  programsThere: "已经安装好。",
  programsTooLong: (seconds) => `\n已停止：${seconds} 秒没有结果`,
  programsByHand: (command) => `没有它们也能启动。要安装，请执行：\n  ${command}`,
  programsElsewhere: (names) => `没有它们也能启动。要安装，请使用系统的软件包管理器：${names}`,
  programsFailed: (names, lines, command) =>
    `未能安装：${names}\n${lines}\n没有它们也能启动，做不到的事会有说明（\`npx agentyard doctor\`）。以后要安装，请执行：\n  ${command}`,
};

/** The first locale variable that is set decides, as in every other program. */
export function wordsFor(env) {
  return /^zh/i.test(env.LC_ALL || env.LC_MESSAGES || env.LANG || "") ? zh : en;
}
