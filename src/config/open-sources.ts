import { readEnvFile } from "./env-file.ts";
import type { Places, Surroundings } from "./places.ts";
import type { Problem } from "./problems.ts";
import { openReader, type Reader } from "./reader.ts";
import type { Setting } from "./settings.ts";
import { type Flags, flagSource, type Source, variableSource } from "./sources.ts";
import { type KeyTable, openYamlFile } from "./yaml-file.ts";

export type Sources = {
  readonly reader: Reader;
  /** All variables of the environment and of `.env`, known or not. */
  readonly variables: readonly (readonly [name: string, value: string | undefined])[];
};

type Known = {
  /** What may stand in `agentyard.yaml`. */
  readonly settings: readonly Setting<unknown>[];
  readonly variables: ReadonlySet<string>;
};

/** Opens all that can give a value, the strongest first. */
export async function openSources(
  { flags, env, cwd, homeDir }: Surroundings & { readonly flags: Flags },
  places: Places,
  known: Known,
): Promise<Sources> {
  const keys = keysOf(known.settings);
  const problems: Problem[] = [];
  const startingAt = (base: string) => ({ base, home: homeDir });
  const envFile = await readEnvFile(places.envFile, known.variables, problems);
  const sources: Source[] = [
    flagSource(flags, startingAt(cwd)),
    variableSource(env, startingAt(cwd)),
    variableSource(envFile.variables, startingAt(places.projectDir), envFile.placeOf),
    await openYamlFile(places.projectFile, keys, startingAt(places.projectDir), problems),
    await openYamlFile(places.userFile, keys, startingAt(homeDir), problems),
  ];
  return {
    reader: openReader(sources, problems),
    variables: [...Object.entries(env), ...Object.entries(envFile.variables)],
  };
}

function keysOf(settings: Known["settings"]): KeyTable {
  return new Map(settings.flatMap((setting) => (setting.key === undefined ? [] : [[setting.key, setting]])));
}
