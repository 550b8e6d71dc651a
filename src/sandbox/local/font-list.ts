import type { Duplex } from "node:stream";
import { inBackground } from "../../base/background.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../observe/observe.ts";
import { matplotlibFolder } from "../guest/environment.ts";
import type { GuestLimits } from "../provider.ts";
import { launchGuest } from "./launch.ts";
import type { LaunchSettings } from "./start.ts";

/** matplotlib's list of the fonts here. It would make its own in each guest, which costs more than to start the guest. */
export type FontList = {
  /** By its place inside, for one more guest; nothing until it was made, once, in a guest that runs no code but ours. */
  files(host: LaunchSettings): Readonly<Record<string, string>>;
  settled(): Promise<void>;
};

type Settings = { readonly ids: Ids; readonly python: string; readonly logger: Pick<Logger, "error"> };

export function createFontList(settings: Settings): FontList {
  let making: Promise<void> | undefined;
  let askedCount = 0;
  let files: Readonly<Record<string, string>> = {};
  return {
    files(host) {
      askedCount += 1;
      // A process with a single guest has no use for it.
      if (askedCount > 1) {
        // Until then, and where it could not be made, each guest makes its own.
        const keep = async () => {
          files = await make(host, settings);
        };
        making ??= inBackground(settings.logger, "the list of fonts for sandboxes could not be made", keep());
      }
      return files;
    },
    async settled() {
      await making;
    },
  };
}

const mebibyte = 1024 * 1024;
const listBytesMax = 4 * mebibyte;
const limits: GuestLimits = {
  memoryBytes: 512 * mebibyte,
  processesMax: 32,
  cpus: 1,
  fileBytesMax: listBytesMax,
  tmpBytesMax: 16 * mebibyte,
  outputBytesMax: mebibyte,
};

const program = `
import glob, os
os.environ["MPLCONFIGDIR"] = "/tmp/made"
import matplotlib.font_manager
for path in glob.glob("/tmp/made/fontlist-*.json"):
    with os.fdopen(3, "w") as answer, open(path) as made:
        answer.write(os.path.basename(path) + "\\n" + made.read())
    break
`;

async function make(host: LaunchSettings, { ids, python }: Settings): Promise<Record<string, string>> {
  let said = "";
  const launched = await launchGuest(
    { id: `fonts-${ids.hex(16)}`, workspace: undefined, limits, uid: undefined, env: { LANG: "C.UTF-8" } },
    {
      command: [python, "-I", "-c", program],
      files: {},
      programs: [],
      async greet(control) {
        said = await readAll(control);
        return undefined;
      },
    },
    host,
  );
  if (!launched.ok) return {}; // No matplotlib here, or no time: each guest makes its own.
  launched.value.kill();
  await launched.value.ended;
  const [, name, list] = /^(fontlist-v[\w.-]+\.json)\n(\{.*\})\s*$/s.exec(said) ?? [];
  return name === undefined || list === undefined ? {} : { [`${matplotlibFolder}/${name}`]: list };
}

function readAll(control: Duplex): Promise<string> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    const finish = () => resolve(Buffer.concat(pieces).toString("utf8"));
    control.once("end", finish);
    control.once("close", finish);
    control.on("data", (piece: Buffer) => {
      bytes += piece.length;
      pieces.push(piece);
      if (bytes > listBytesMax) finish();
    });
  });
}
