/** The parts of a sentence that `config_invalid` and `setting_invalid` take in. */
export type ConfigWords = {
  expected(expected: ValueForm): string;
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
  opensWeb(name: string, userFile: string): Phrase;
  opensData(name: string, userFile: string): Phrase;
  opensServer(name: string, userFile: string): Phrase;
  opensSandbox(name: string, userFile: string): Phrase;
  opensBudget(name: string, userFile: string): Phrase;
  changesAgent(id: string, userFile: string): Phrase;
  switchesOn(tool: string, userFile: string): Phrase;
  variableMissing(name: string, variable: string): Phrase;
  bringsServer(id: string, userFile: string): Phrase;
  serverWay(id: string): Phrase;
};
type Phrase = readonly [what: string, instead: string];

/** What to write into a setting, as data. */
export type ValueForm =
  | { readonly form: "number" | "whole_number"; readonly min: number; readonly max: number }
  | { readonly form: "choice"; readonly choices: readonly string[] }
  | { readonly form: "address"; readonly example: string }
  | {
      readonly form:
        | "list"
        | "duration"
        | "name"
        | "origins"
        | "networks"
        | "sub_path"
        | "host"
        | "host_port"
        | "prices"
        | "database";
      readonly example: string;
    }
  | { readonly form: "toggle" | "path" | "key" | "seal_key" | "text" };

/** Why a pattern cannot be used: `why` is the engine's own English sentence, where it has one. */
export type PatternFault =
  | { readonly fault: "empty" | "too_long" | "too_large" }
  | { readonly fault: "syntax"; readonly why: string }
  /** Looking around and referring back cost more than a pass over the text. */
  | { readonly fault: "unsupported"; readonly what: string };

export const enConfig: ConfigWords = {
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
      case "prices":
        return `what a million tokens cost in dollars, such as ${expected.example}: { input: 1.25, output: 10, cached_input: 0.125 }`;
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
      case "host_port":
        return `an address of this machine and a port, such as ${expected.example}`;
      case "toggle":
        return "true or false";
      case "path":
        return "a path such as ./data";
      case "key":
        return "the key alone, without blanks or quotes";
      case "database":
        return `an address of PostgreSQL such as ${expected.example}`;
      case "seal_key":
        return "at least 32 characters that nobody can guess, as `openssl rand -base64 32` prints them";
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
  unreadable: (why) => [`the file cannot be read (${why})`, "Give this user permission to read it, or delete it"],
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
  opensWeb: (name, userFile) => [
    `${name} would let this folder decide whom the tools reach and who gets your keys`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  opensData: (name, userFile) => [
    `${name} would let this folder decide where all that you say is kept, and what is there already`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  opensServer: (name, userFile) => [
    `${name} would let this folder decide who may call the server`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  opensSandbox: (name, userFile) => [
    `${name} would let this folder decide where programs run and whom they reach`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  opensBudget: (name, userFile) => [
    `${name} would let this folder decide what you spend`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  changesAgent: (id, userFile) => [
    `this folder would change the agent ${id}`,
    `Write it into ${userFile}, give it another id, or name the folder with AGENTYARD_CONFIG`,
  ],
  switchesOn: (tool, userFile) => [
    `this folder would switch the tool ${tool} on again`,
    `Take it away here, change it in ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  variableMissing: (name, variable) => [
    `${name} needs the variable ${variable}, which is not set`,
    `Set ${variable} in .env, or write \${${variable}:-something} for when it is not`,
  ],
  bringsServer: (id, userFile) => [
    `this folder would start or call the MCP server ${id}`,
    `Write it into ${userFile}, or name the folder with AGENTYARD_CONFIG`,
  ],
  serverWay: (id) => [
    `the MCP server ${id} needs either a command or a url`,
    "Write command: for a program that is started here, or url: for a server that is reached by its address",
  ],
};
