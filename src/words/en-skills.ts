/** What can be the matter with a skill, as data; `line` is told beside it. */
export type SkillFault =
  | {
      readonly fault:
        | "no_front_matter"
        | "front_matter_open"
        | "front_matter_long"
        | "tab"
        | "alias"
        | "no_map"
        | "not_text"
        | "unreadable"
        | "no_description"
        | "body_empty"
        | "no_skill_file"
        | "untrusted"
        | "gone";
    }
  | { readonly fault: "yaml"; readonly why: string }
  | { readonly fault: "colon" | "type" | "twice"; readonly key: string }
  | { readonly fault: "single_file" | "nested" | "file_name" | "link_out"; readonly name: string }
  | { readonly fault: "no_name" | "name_unfit" | "name_differs"; readonly name: string; readonly id: string }
  | { readonly fault: "key_near"; readonly key: string; readonly near: string }
  | { readonly fault: "too_long"; readonly key: string; readonly characters: number; readonly max: number }
  | { readonly fault: "body_long"; readonly lines: number; readonly max: number }
  | { readonly fault: "too_large"; readonly bytes: number; readonly max: number }
  | { readonly fault: "too_many"; readonly max: number }
  | { readonly fault: "shadowed"; readonly by: string };

type Pair = readonly [what: string, instead: string];

/** What is wrong, and what to write instead. */
export type Faults = { readonly [F in SkillFault["fault"]]: (p: SkillFault & { readonly fault: F }) => Pair };

/** What people read of skills: what is wrong with one, and what to write; why it was offered, used, or not. */
export const enSkills = {
  fault(p: SkillFault): Pair {
    const table: Readonly<Record<string, (fault: never) => Pair>> = faults;
    // The entry is chosen by the fault, so its parameters fit.
    return table[p.fault]?.(p as never) ?? [`${p.fault}.`, "Update this AgentYard: a newer one found this."];
  },
  place: { project: "project", user: "user", built_in: "built-in" },
  state: {
    offered: "offered",
    cut: "left out of the list for want of room",
    disabled: "switched off",
    broken: "cannot be used",
    shadowed: "another one of its name is nearer",
    untrusted: "its folder is not trusted",
  },
  none: () =>
    "There are no skills yet. Put a folder with SKILL.md into ~/.agents/skills; docs/use/skills.md tells how one is written.",
  entry: (p: { id: string; state: string; place: string; used: string }) =>
    `  @${p.id}  ${p.state} · ${p.place}${p.used === "" ? "" : ` · ${p.used}`}`,
  inUse: "in use here",
  hint: () => "Name one with @ in a message to have it used. /skills why NAME tells more.",
  usage: (p: { word: string }) =>
    `/skills does not know “${p.word}”. Use /skills, /skills why NAME, or /skills install NAME.`,
  installWhat: () => "Which one? Use /skills install NAME.",
  installing: (p: { name: string }) => `Installing what ${p.name} wants; this may take some minutes …`,
  installed: (p: { names: string }) => `✓ Installed in your sandbox: ${p.names}`,
  nothingToInstall: () => "It names no packages that could be installed.",
  leftOut: (p: { line: string }) => `! Left to you, because it says more than a name and a version: ${p.line}`,
  whyWhat: () => "Which one? Use /skills why NAME.",
  why: {
    offered: () => "The agent has it in its list of skills, and reads it when a task fits the description.",
    cut: (p: { max: number }) =>
      `The list of skills has room for ${p.max} tokens in this model's window, and this one is behind it. Name it with @ to have it used, or switch others off in skills.yaml.`,
    disabled: (p: { source: string }) => `${p.source} has enabled: false for it.`,
    broken: () => "It has errors:",
    shadowed: (p: { by: string }) => `${p.by} has one of the same name, and is nearer.`,
    untrusted: () => "It lies in a folder that nobody chose. Set AGENTYARD_CONFIG to that folder if it is yours.",
    mention: (p: { turn: number }) => `Linked in turn ${p.turn}: it was named in the message.`,
    file_type: (p: { turn: number; file: string }) => `Linked in turn ${p.turn}: ${p.file} came with it.`,
    read: () => "The agent has read its instructions in this conversation.",
    notRead: () => "The agent has not read its instructions here yet.",
    notLinked: () => "It was not named in this conversation.",
    trigger: (p: { types: string }) =>
      `It is linked by itself when a file comes of the type ${p.types}; none came here.`,
    noTrigger: () => "No file type links it by itself (auto_load_on_file_types in skills.yaml).",
    warnings: () => "To put right:",
  },
  unknownMention: (p: { name: string; near: string }) =>
    p.near === ""
      ? `There is no tool, skill or agent called @${p.name}; it was sent as text.`
      : `There is no tool, skill or agent called @${p.name}; it was sent as text. Did you mean ${p.near}?`,
  unusableMention: (p: { name: string; state: string }) =>
    `The skill @${p.name} is not used (${p.state}); it was sent as text. /skills why ${p.name} tells more.`,
};

/** By what is the matter. */
const faults: Faults = {
  no_front_matter: () => [
    "The file does not begin with front matter.",
    "Begin it with the lines: --- / name: … / description: what it does and when to use it / ---",
  ],
  front_matter_open: () => ["The front matter has no end.", "Write a line with --- alone before the instructions."],
  front_matter_long: () => ["The front matter is too long.", "Keep it below 16 KiB; the instructions stand after it."],
  yaml: (p) => [`The front matter is no YAML: ${p.why}.`, "Put the value into quotes, or correct the line."],
  tab: () => ["A tab stands at the beginning of the line.", "YAML wants blanks there."],
  colon: (p) => [
    `The value of ${p.key} has a colon or a # and no quotes; it was read as one text.`,
    `Put the value of ${p.key} into quotes.`,
  ],
  alias: () => ["Anchors and aliases (& and *) are not read here.", "Write the value out, or put it into quotes."],
  no_map: () => ["The front matter has no keys.", "Write name: … and description: … on lines of their own."],
  twice: (p) => [`The key ${p.key} stands there twice.`, "Keep one of them."],
  type: (p) => [`${p.key} has another form than it should.`, typeAdvice[p.key] ?? "Write a text."],
  no_name: (p) => ["There is no name.", `Write name: ${p.id}`],
  name_unfit: (p) => [
    `The name “${p.name}” has other characters than lower-case letters, digits and single hyphens, or more than 64.`,
    `Write name: ${p.id}`,
  ],
  name_differs: (p) => [
    `The name is ${p.name}, the folder's is ${p.id}.`,
    `It goes by ${p.name}; call the folder so, too, for other programs want both alike.`,
  ],
  no_description: () => ["There is no description.", "Write description: what the skill does and when to use it."],
  key_near: (p) => [`The key ${p.key} is not known; it was kept.`, `Did you mean ${p.near}?`],
  too_long: (p) => [`${p.key} has ${p.characters} characters; what is over ${p.max} is left out.`, "Shorten it."],
  body_empty: () => ["There are no instructions after the front matter.", "Write what an agent should do."],
  body_long: (p) => [
    `The instructions have ${p.lines} lines.`,
    `Move details into files of references/ that they name: up to ${p.max} lines are read well.`,
  ],
  too_large: (p) => [
    `${p.bytes} bytes are more than a skill may have (${p.max}).`,
    "Move large files elsewhere, and name where they are.",
  ],
  too_many: (p) => [`There are more than ${p.max} files.`, "Take away what the instructions do not name."],
  not_text: () => ["The file is no UTF-8 text.", "Save it as UTF-8."],
  unreadable: () => ["It cannot be read.", "Give the user that runs AgentYard the right to read it."],
  no_skill_file: () => ["The folder has no SKILL.md.", "Put one into it, with name and description."],
  file_name: (p) => [`The file is called ${p.name}; it was read.`, "Call it SKILL.md, as other programs want it."],
  nested: (p) => [`SKILL.md lies a folder deeper, in ${p.name}.`, "Move that folder up: skills stand side by side."],
  single_file: (p) => [
    `${p.name} is a file; a skill needs a folder with SKILL.md.`,
    `Make a folder ${p.name.replace(/\.[^.]*$/, "")} and move the file there as SKILL.md.`,
  ],
  link_out: (p) => [`The link ${p.name} leads out of the skill; it is left out.`, "Put a copy of the file there."],
  shadowed: (p) => [`${p.by} has a skill of the same name, and is nearer.`, "Rename one of them, or remove it."],
  untrusted: () => [
    "Nobody chose this folder, so what lies in it is not followed.",
    "Set AGENTYARD_CONFIG to the folder if its skills are yours.",
  ],
  gone: () => ["It was taken away while it was read.", "Look again."],
};

const typeAdvice: Readonly<Record<string, string>> = {
  name: "Write one word: name: my-skill",
  description: "Write one text: description: what it does and when to use it",
  metadata: "Write lines of the form key: text below it.",
  "allowed-tools": "Write names with blanks between them, or a list.",
};
