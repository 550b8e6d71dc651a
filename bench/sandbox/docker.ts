/** The same beside it in Docker, where an engine runs and has a Python image. */
import { spawnSync } from "node:child_process";
import { type Figure, inTurns, timed } from "../figure.ts";
import { barePython, ended } from "./bare.ts";
import type { Sizes } from "./sizes.ts";
import type { World } from "./world.ts";

const what = "docker exec python3 -c pass";
/** Never fetched by a bench. */
const image = "python:3-slim";

export async function measureDocker({ folder }: World, { launches }: Sizes): Promise<Figure[]> {
  const skip = (skipped: string): Figure[] => [{ what, value: Number.NaN, unit: "ms", skipped }];
  if (docker("version", "--format", "{{.Server.Version}}") === undefined) return skip("no Docker engine runs here");
  if (docker("image", "inspect", image) === undefined) return skip(`the image ${image} is not here`);
  const container = docker("run", "--detach", "--rm", "--network", "none", image, "sleep", "3600");
  if (container === undefined) return skip("no container could be started");
  try {
    const { PATH = "", HOME = "" } = process.env;
    const bare = barePython(folder);
    const [none, exec] = await inTurns(launches, [
      () => timed(bare),
      () => timed(() => ended("docker", ["exec", container, "python3", "-c", "pass"], { PATH, HOME })),
    ]);
    if (!(none && exec)) throw new Error("a job has no times");
    return [{ what, value: exec, unit: "ms", against: { what: "python3 -c pass", value: none } }];
  } finally {
    docker("rm", "--force", container);
  }
}

function docker(...words: string[]): string | undefined {
  const { status, stdout } = spawnSync("docker", words, { encoding: "utf8", timeout: 60_000 });
  return status === 0 ? stdout.trim() : undefined;
}
