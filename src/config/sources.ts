import type { Folders } from "./first-kinds.ts";
import type { FlagName, Setting } from "./settings.ts";

/** One place that may give values, strongest first: flags, environment, `.env`, project file, user file. */
export type Source = {
  /** The same for every value of the source. */
  readonly folders: Folders;
  find(setting: Pick<Setting<unknown>, "flag" | "variables" | "key">): Given | undefined;
};

/** A value as it was given, and where. `name` is what the person wrote: a flag, a variable or a key. */
export type Given = { readonly name: string; readonly value: unknown; readonly place?: SourceLine };
export type SourceLine = { readonly file: string; readonly line: number };

export type Flags = { readonly [name in FlagName]?: string | undefined };
export type Environment = { readonly [name: string]: string | undefined };

export function flagSource(flags: Flags, folders: Folders): Source {
  return {
    folders,
    find: ({ flag }) => (flag === undefined ? undefined : givenText(`--${flag}`, flags[flag])),
  };
}

export function variableSource(
  variables: Environment,
  folders: Folders,
  placeOf?: (name: string) => SourceLine,
): Source {
  return {
    folders,
    find(setting) {
      for (const name of setting.variables) {
        const given = givenText(name, variables[name]);
        if (given !== undefined) return placeOf === undefined ? given : { ...given, place: placeOf(name) };
      }
      return undefined;
    },
  };
}

/** An empty variable (`MODEL_BASIC_API_KEY=`, as in a template) is one that is not set. */
function givenText(name: string, text: string | undefined): Given | undefined {
  const value = text?.trim() ?? "";
  return value === "" ? undefined : { name, value };
}
