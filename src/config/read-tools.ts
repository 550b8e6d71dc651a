import type { ToolSetting } from "../tools/tools.ts";
import { type ConfigFile, readText } from "./files.ts";
import { knownTools } from "./known-tools.ts";
import type { Places } from "./places.ts";
import type { Problem } from "./problems.ts";
import { readToolsFile } from "./tools-file.ts";
import { type GivenRow, openWalker } from "./walker.ts";
import { hasSettings } from "./yaml-file.ts";
import { parseTree } from "./yaml-tree.ts";

/**
 * Which tools are told of, found or off, tool by tool: the project's file is taken before the user's. A folder that
 * nobody chose may not switch on again what the user has switched off.
 */
export async function readTools(
  places: Places,
  problems: Problem[],
): Promise<{ readonly tools: readonly ToolSetting[]; readonly rows: readonly GivenRow[] }> {
  const { projectTools, userTools, isTrusted } = places;
  const project = await readFile(projectTools, places, problems);
  const user = await readFile(userTools, places, problems);
  const tools = new Map<string, ToolSetting>();
  for (const { place: _, ...setting } of user.tools) tools.set(setting.name, setting);
  for (const { place, ...setting } of project.tools) {
    const isOpened = tools.get(setting.name)?.tier === "off" && setting.tier !== "off";
    if (isOpened && !isTrusted)
      problems.push({ fault: "switches_on", name: setting.name, userFile: userTools.shown, place });
    tools.set(setting.name, { ...tools.get(setting.name), ...setting });
  }
  return { tools: [...tools.values()], rows: [...project.rows, ...user.rows] };
}

async function readFile(file: ConfigFile, places: Places, problems: Problem[]) {
  const text = (await readText(file, problems)) ?? "";
  if (!hasSettings(text)) return { tools: [], rows: [] };
  const { entries, errors } = await parseTree(text);
  for (const { line, why } of errors) problems.push({ fault: "syntax", why, place: { file: file.shown, line } });
  const walker = openWalker(file.shown, "tools", problems);
  const tools = readToolsFile(errors.length === 0 ? entries : [], walker, await knownTools(places));
  return { tools, rows: walker.rows };
}
