import { readEnvFile } from "./env-file.ts";
import type { Places, Surroundings } from "./places.ts";
import type { Problem } from "./problems.ts";
import { openReader, type Reader } from "./reader.ts";
import { svcSettings } from "./sandbox-settings.ts";
import { knownVariables, type Setting, settings } from "./settings.ts";
import { type Flags, flagSource, type Source, variableSource } from "./sources.ts";
import { type KeyTable, openYamlFile } from "./yaml-file.ts";

export type Sources = {
  readonly reader: Reader;
  /** All variables of the environment and of `.env`, known or not. */
  readonly variables: readonly (readonly [name: string, value: string | undefined])[];
};

/** Opens all that can give a value, the strongest first. */
export async function openSources(
  { flags, env, cwd, homeDir }: Surroundings & { readonly flags: Flags },
  places: Places,
): Promise<Sources> {
  const problems: Problem[] = [];
  const startingAt = (base: string) => ({ base, home: homeDir });
  const envFile = await readEnvFile(places.envFile, knownVariables(), problems);
  const sources: Source[] = [
    flagSource(flags, startingAt(cwd)),
    variableSource(env, startingAt(cwd)),
    variableSource(envFile.variables, startingAt(places.projectDir), envFile.placeOf),
    await openYamlFile(places.projectFile, yamlKeys(), startingAt(places.projectDir), problems),
    await openYamlFile(places.userFile, yamlKeys(), startingAt(homeDir), problems),
  ];
  return {
    reader: openReader(sources, problems),
    variables: [...Object.entries(env), ...Object.entries(envFile.variables)],
  };
}

function yamlKeys(): KeyTable {
  const all: readonly Setting<unknown>[] = [...Object.values(settings), ...Object.values(svcSettings)];
  return new Map(all.flatMap((setting) => (setting.key === undefined ? [] : [[setting.key, setting]])));
}
