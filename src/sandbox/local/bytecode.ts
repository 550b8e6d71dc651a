import { execFile } from "node:child_process";

/** The supervisor's modules as Python has compiled them. Each guest would do so anew: it has no place to keep it. */
export type Bytecode = {
  /** By their place inside, for these modules by theirs; nothing where it cannot be done. */
  files(modules: Readonly<Record<string, Uint8Array>>): Promise<Readonly<Record<string, Uint8Array>>>;
};

const compileMsMax = 20_000;
const compiledBytesMax = 4 * 1024 * 1024;

/** Never compared with its source, which lies beside it and is as old: both come from us. */
const program = `
import base64, importlib.util, json, sys
from importlib._bootstrap_external import _code_to_hash_pyc
for path, text in json.load(sys.stdin).items():
    source = base64.b64decode(text)
    code = _code_to_hash_pyc(compile(source, path, "exec"), importlib.util.source_hash(source), False)
    print(json.dumps([importlib.util.cache_from_source(path), base64.b64encode(code).decode()]))
`;

/** `python` is the one that guests have. It reads nothing but our own modules, and writes no file. */
export function createBytecode({ python }: { readonly python: string }): Bytecode {
  let making: Promise<Record<string, Uint8Array>> | undefined;
  return {
    files(modules) {
      making ??= compile(python, modules);
      return making;
    },
  };
}

function compile(python: string, modules: Readonly<Record<string, Uint8Array>>): Promise<Record<string, Uint8Array>> {
  const limits = { env: {}, timeout: compileMsMax, maxBuffer: compiledBytesMax };
  return new Promise((resolve) => {
    const child = execFile(python, ["-I", "-S", "-c", program], limits, (error, stdout) => {
      // Without it guests start a little later; that is all.
      if (error !== null) return resolve({});
      const lines: [string, string][] = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
      resolve(Object.fromEntries(lines.map(([path, code]) => [path, Buffer.from(code, "base64")])));
    });
    // The one that is started, and not imported, is read as it is.
    const imported = Object.entries(modules).filter(([path]) => !path.endsWith("/supervisor.py"));
    const sources = imported.map(([path, text]) => [path, Buffer.from(text).toString("base64")]);
    child.stdin?.on("error", () => {});
    child.stdin?.end(JSON.stringify(Object.fromEntries(sources)));
  });
}
