import { shownName } from "./names.ts";

/** What models read of skills, and of what the user named with @. */
export const skillsForModels = {
  /** In the system message. Looking at the files first, and then opening the skill, works better than an order to open it. */
  catalogue: (lines: readonly string[], cut: number) =>
    `# Skills\nInstructions for special work, written for this installation. When one fits the task, look at the files first, then read its SKILL.md with read_file (skills/<name>/SKILL.md) and follow it; its scripts run from skills/<name>/.\n${lines.join("\n")}${cut === 0 ? "" : `\n(${cut} more ${cut === 1 ? "skill is" : "skills are"} not listed for want of room; the user can name them with @)`}`,
  onlyNamed: (count: number) =>
    `# Skills\n${count} ${count === 1 ? "skill is" : "skills are"} not listed for want of room; the user can name them with @.`,
  entry: (id: string, description: string) => `- ${id}: ${description}`,

  named: (path: string) => `The user named a skill: read ${shownName(path)} before you begin, and follow it.`,
  forFile: (path: string, file: string) =>
    `For ${shownName(file)} there is a skill: read ${shownName(path)} before you work on it.`,
  packagesMissing: (skill: string, packages: readonly string[], canInstall: boolean) =>
    `The skill ${skill} wants Python packages that are not installed: ${packages.join(", ")}. Do without them where you can; otherwise ${canInstall ? `call use_tool with {"name": "install_packages", "arguments": "{\\"skill\\": \\"${skill}\\"}"}, which asks the user first` : `tell the user, who can have them installed with /skills install ${skill}`}.`,
  installed: (packages: readonly { readonly name: string; readonly version: string }[], leftOut: readonly string[]) =>
    `${packages.length === 0 ? "There was nothing to install." : `Installed: ${packages.map(({ name, version }) => `${name} ${version}`).join(", ")}.`}${leftOut.length === 0 ? "" : `\nNot taken, because they say more than a name and a version (tell the user if you need them):\n${leftOut.map((line) => `- ${shownName(line)}`).join("\n")}`}`,
  toolNamed: (name: string) => `The user named the tool ${name}: use it where it fits.`,
} as const;
