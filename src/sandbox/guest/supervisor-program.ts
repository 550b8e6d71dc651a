import { readFileSync } from "node:fs";
import { join } from "node:path";

/** What runs as a guest's first process: its command, and the files it needs by their place inside. */
export type SupervisorProgram = {
  readonly command: readonly string[];
  readonly files: Readonly<Record<string, Uint8Array>>;
};

/** `isOverStdio`: it is not given sockets, see `stdio.ts`; `isCovered`: it is given a key first, see `covered.ts`. */
type Ways = { readonly hasNetwork?: boolean; readonly isOverStdio?: boolean; readonly isCovered?: boolean };

const names = [
  "supervisor.py",
  "channel.py",
  "execution.py",
  "figures.py",
  "forward.py",
  "kernel.py",
  "outputs.py",
  "parts.py",
  "processes.py",
  "stdio.py",
  "timers.py",
];

/**
 * `folder` is where the files will lie inside, read-only. Isolated (`-I`): nothing that users can write is imported.
 * Without a look for libraries (`-S`): they are for agents' Pythons, and take a third of the time to start.
 */
export function supervisorProgram(
  python: string,
  folder: string,
  { hasNetwork = false, isOverStdio = false, isCovered = false }: Ways = {},
): SupervisorProgram {
  const ways = [
    ...(isOverStdio ? ["stdio"] : []),
    ...(isCovered ? ["covered"] : []),
    ...(hasNetwork ? ["network"] : []),
  ];
  return {
    command: [python, "-I", "-S", join(folder, "supervisor.py"), ...ways],
    files: Object.fromEntries(names.map((name) => [join(folder, name), readFileSync(join(import.meta.dirname, name))])),
  };
}
