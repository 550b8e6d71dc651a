import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { systemCodeOrThrow, thrownText } from "../../base/fault.ts";
import { failed, ok, type Result } from "../../base/result.ts";

type Pem = { readonly cert: Buffer; readonly key: Buffer; readonly ca?: Buffer };

/** What an end shows, and with an authority whom it believes, as Docker names the files. A failure says why they are of no use. */
export function readPem(folder: string, { hasAuthority }: { readonly hasAuthority: boolean }): Result<Pem, string> {
  const read = (name: string) => readFileSync(join(folder, `${name}.pem`));
  let files: Pem;
  try {
    files = { ...(hasAuthority && { ca: read("ca") }), cert: read("cert"), key: read("key") };
  } catch (error) {
    return failed(systemCodeOrThrow(error));
  }
  try {
    createSecureContext(files);
  } catch (error) {
    return failed(thrownText(error));
  }
  return ok(files);
}
