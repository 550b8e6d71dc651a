import type { ConfigWords } from "./en-config.ts";

export const zhConfig: ConfigWords = {
  expected(expected) {
    switch (expected.form) {
      case "whole_number":
        return `${expected.min} 到 ${expected.max} 之间的整数`;
      case "number":
        return `${expected.min} 到 ${expected.max} 之间的数字`;
      case "choice":
        return `${expected.choices.join("、")} 之一`;
      case "address":
        return `完整的地址，例如 ${expected.example}`;
      case "list":
        return `以逗号分隔的词，例如 ${expected.example}`;
      case "prices":
        return `每百万 token 的价格（美元），例如 ${expected.example}: { input: 1.25, output: 10, cached_input: 0.125 }`;
      case "duration":
        return `时长，例如 ${expected.example}`;
      case "origins":
        return `以逗号分隔的站点，例如 ${expected.example}`;
      case "networks":
        return `以逗号分隔的地址或网段，例如 ${expected.example}`;
      case "sub_path":
        return `路径，例如 ${expected.example}`;
      case "host":
        return `本机的地址，例如 ${expected.example}`;
      case "host_port":
        return `本机的一个地址和端口，例如 ${expected.example}`;
      case "toggle":
        return "true 或 false";
      case "path":
        return "路径，例如 ./data";
      case "key":
        return "密钥本身，不带空格和引号";
      case "database":
        return `PostgreSQL 的地址，例如 ${expected.example}`;
      case "seal_key":
        return "至少 32 个无法猜到的字符，例如 `openssl rand -base64 32` 的输出";
      case "name":
        return `由字母、数字和 . _ - 组成的名称，例如 ${expected.example}`;
      case "text":
        return "文本";
    }
  },
  value: (name, value, instead) => [`${name} 的值 ${value} 无法使用`, `请改成：${instead}`],
  unknownKey: (name, near) => [`没有 ${name} 这个设置项`, `请改写为 ${near}`],
  noGroup: (name, example) => [`${name} 是一组设置`, `请把设置项写在它下面，例如 ${example}`],
  syntax: (why) => [`这里不符合 YAML 格式（${why}）`, "请检查这一行和上一行的缩进与引号"],
  unreadable: (why) => [`无法读取这个文件（${why}）`, "请为当前用户加上读权限，或者删除它"],
  unlisted: (why) => [
    `无法列出这个检查程序文件夹（${why}），没有它们，询问会比您期望的少`,
    "请为当前用户加上读取该文件夹的权限，或者移走它",
  ],
  notUtf8: () => ["这个文件不是 UTF-8 文本", "请以 UTF-8 编码保存"],
  colon: (name) => [`${name} 后面用了冒号`, `请改写为 ${name}=…`],
  keyWouldLeave: (urlName, keyName) => [
    `${urlName} 会把您环境变量中的密钥发送到此文件夹所指定的服务器`,
    `请把 ${keyName} 写进同一个文件，或者把 ${urlName} 设为环境变量`,
  ],
  serviceElsewhere: (name) => [
    `${name} 指向别处的沙箱服务，当前版本还不支持`,
    `请删除 ${name}：代码将在本机的沙箱中运行`,
  ],
  noList: (name, example) => [`${name} 不是列表`, `请在它下面每项写一行：- ${example}`],
  pattern(pattern, why) {
    const instead = "请写一个正则表达式，例如 \\bprod-\\w+";
    switch (why.fault) {
      case "empty":
        return ["模式是空的", instead];
      case "too_long":
        return [`模式 ${pattern} 超过 1000 个字符`, "请拆成几个较短的模式"];
      case "too_large":
        return [`模式 ${pattern} 的重复次数太大`, "请减小 { } 中的数字"];
      case "syntax":
        return [`${pattern} 不是正则表达式（${why.why}）`, instead];
      case "unsupported":
        return [`模式 ${pattern} 用了这里不支持的 ${why.what}`, "请去掉这一部分"];
    }
  },
  patternMissing: (name) => [`${name} 缺少 pattern`, "请在其中写上 pattern: 和一个正则表达式"],
  unknownTool: (name, near) => [`没有 ${name} 这个工具`, `请改写为 ${near}`],
  unknownArgument: (tool, name, near) => [
    `${tool} 没有 ${name} 这个参数`,
    near === "" ? "请删除这条规则" : `请改写为 ${near}`,
  ],
  loosens: (name, userFile) => [
    `${name} 会让这个文件夹决定哪些操作不再询问`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  opensWeb: (name, userFile) => [
    `${name} 会让这个文件夹决定工具访问谁、谁能得到您的密钥`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  opensData: (name, userFile) => [
    `${name} 会让这个文件夹决定您的所有内容保存在哪里、那里事先有什么`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  opensServer: (name, userFile) => [
    `${name} 会让这个文件夹决定谁可以访问服务器`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  opensSandbox: (name, userFile) => [
    `${name} 会让这个文件夹决定程序在哪里运行、能访问谁`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  opensBudget: (name, userFile) => [
    `${name} 会让这个文件夹决定您的花费`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  changesAgent: (id, userFile) => [
    `这个文件夹想要更改智能体 ${id}`,
    `请写进 ${userFile}，换一个 id，或者用 AGENTYARD_CONFIG 指明这个文件夹`,
  ],
  switchesOn: (tool, userFile) => [
    `这个文件夹想要重新启用工具 ${tool}`,
    `请在此删除，或在 ${userFile} 中修改，或者用 AGENTYARD_CONFIG 指明这个文件夹`,
  ],
  variableMissing: (name, variable) => [
    `${name} 需要变量 ${variable}，但它没有设置`,
    `请在 .env 中设置 ${variable}，或写成 \${${variable}:-默认值}`,
  ],
  bringsServer: (id, userFile) => [
    `这个文件夹想要启动或访问 MCP 服务器 ${id}`,
    `请写进 ${userFile}，或者用 AGENTYARD_CONFIG 指明这个文件夹`,
  ],
  serverWay: (id) => [
    `MCP 服务器 ${id} 需要 command 或 url 其中之一`,
    "在本机启动的程序请写 command:，通过地址访问的服务器请写 url:",
  ],
};
