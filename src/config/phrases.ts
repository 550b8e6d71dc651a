import type { PatternFault } from "../approvals/approvals.ts";
import type { Language } from "../words/words.ts";
import type { Expected } from "./kinds.ts";

/** The parts of a sentence that `config_invalid` and `setting_invalid` take in. */
export type Phrases = {
  expected(expected: Expected): string;
  value(name: string, value: string, instead: string): Phrase;
  unknownKey(name: string, near: string): Phrase;
  noGroup(name: string, example: string): Phrase;
  syntax(why: string): Phrase;
  unreadable(why: string): Phrase;
  unlisted(why: string): Phrase;
  notUtf8(): Phrase;
  colon(name: string): Phrase;
  keyWouldLeave(urlName: string, keyName: string): Phrase;
  serviceElsewhere(name: string): Phrase;
  noList(name: string, example: string): Phrase;
  pattern(pattern: string, why: PatternFault): Phrase;
  patternMissing(name: string): Phrase;
  unknownTool(name: string, near: string): Phrase;
  unknownArgument(tool: string, name: string, near: string): Phrase;
  loosens(name: string, userFile: string): Phrase;
  opensServer(name: string, userFile: string): Phrase;
  changesAgent(id: string, userFile: string): Phrase;
};
type Phrase = readonly [what: string, instead: string];

const en: Phrases = {
  expected(expected) {
    switch (expected.form) {
      case "whole_number":
        return `a whole number from ${expected.min} to ${expected.max}`;
      case "number":
        return `a number from ${expected.min} to ${expected.max}`;
      case "choice":
        return `one of ${expected.choices.join(", ")}`;
      case "address":
        return `an address such as ${expected.example}`;
      case "list":
        return `words with commas between them, such as ${expected.example}`;
      case "duration":
        return `a time such as ${expected.example}`;
      case "origins":
        return `sites with commas between them, such as ${expected.example}`;
      case "networks":
        return `addresses or networks with commas between them, such as ${expected.example}`;
      case "sub_path":
        return `a path such as ${expected.example}`;
      case "host":
        return `an address of this machine such as ${expected.example}`;
      case "toggle":
        return "true or false";
      case "path":
        return "a path such as ./data";
      case "key":
        return "the key alone, without blanks or quotes";
      case "name":
        return `a name of letters, digits and . _ - such as ${expected.example}`;
      case "text":
        return "a text";
    }
  },
  value: (name, value, instead) => [`${name} is ${value}`, `Write ${instead}`],
  unknownKey: (name, near) => [`there is no setting ${name}`, `Write ${near} instead`],
  noGroup: (name, example) => [`${name} holds other settings`, `Write them below it, such as ${example}`],
  syntax: (why) => [`this is not YAML (${why})`, "Check indentation and quotes here and in the line before"],
  unreadable: (why) => [`the file cannot be read (${why})`, "Give this user permission to read it, or remove it"],
  unlisted: (why) => [
    `this folder of checkers cannot be listed (${why}), and without them less would be asked than you meant`,
    "Give this user permission to read the folder, or take it away",
  ],
  notUtf8: () => ["the file is not UTF-8 text", "Save it with the encoding UTF-8"],
  colon: (name) => [`${name} is followed by a colon`, `Write ${name}=… instead`],
  keyWouldLeave: (urlName, keyName) => [
    `${urlName} would send the key of your environment to the server that this folder names`,
    `Put ${keyName} into the same file, or ${urlName} into the environment`,
  ],
  serviceElsewhere: (name) => [
    `${name} names a sandbox service elsewhere, which this version cannot use yet`,
    `Take ${name} away: code then runs in a sandbox on this machine`,
  ],
  noList: (name, example) => [`${name} is not a list`, `Write one line for each below it: - ${example}`],
  pattern(pattern, why) {
    const instead = "Write a regular expression, such as \\bprod-\\w+";
    switch (why.fault) {
      case "empty":
        return ["the pattern is empty", instead];
      case "too_long":
        return [`the pattern ${pattern} has more than 1000 characters`, "Write several shorter ones"];
      case "too_large":
        return [`the pattern ${pattern} counts too far`, "Write smaller numbers into its { }"];
      case "syntax":
        return [`${pattern} is no regular expression (${why.why})`, instead];
      case "unsupported":
        return [`the pattern ${pattern} uses ${why.what}, which is not possible here`, "Write it without that"];
    }
  },
  patternMissing: (name) => [`${name} has no pattern`, "Write pattern: and a regular expression into it"],
  unknownTool: (name, near) => [`there is no tool ${name}`, `Write ${near} instead`],
  unknownArgument: (tool, name, near) => [
    `${tool} has no argument ${name}`,
    near === "" ? "Take this rule away" : `Write ${near} instead`,
  ],
  loosens: (name, userFile) => [
    `${name} would let this folder decide what is no longer asked`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  opensServer: (name, userFile) => [
    `${name} would let this folder decide who may call the server`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  changesAgent: (id, userFile) => [
    `this folder would change the agent ${id}`,
    `Write it into ${userFile}, give it another id, or name the folder with AGENTYARD_CONFIG`,
  ],
};

const zh: Phrases = {
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
      case "toggle":
        return "true 或 false";
      case "path":
        return "路径，例如 ./data";
      case "key":
        return "密钥本身，不带空格和引号";
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
  opensServer: (name, userFile) => [
    `${name} 会让这个文件夹决定谁可以访问服务器`,
    `请把它写进 ${userFile}，或者用 AGENTYARD_CONFIG 指定这个文件夹`,
  ],
  changesAgent: (id, userFile) => [
    `这个文件夹想要更改智能体 ${id}`,
    `请写进 ${userFile}，换一个 id，或者用 AGENTYARD_CONFIG 指明这个文件夹`,
  ],
};

export const phrases: Readonly<Record<Language, Phrases>> = { en, zh };
