import type { UploadPolicy } from "../protocol/upload-policy.ts";
import type { GuestLimits } from "./provider.ts";

type Wanted<T> = { readonly [Name in keyof T]?: T[Name] | undefined };

/** The smaller of the two, each; what nobody asked for is as configured. */
export function tightenLimits(configured: GuestLimits, wanted: Wanted<GuestLimits>): GuestLimits {
  const smaller = (name: keyof GuestLimits) => Math.min(configured[name], wanted[name] ?? configured[name]);
  return {
    memoryBytes: smaller("memoryBytes"),
    processesMax: smaller("processesMax"),
    cpus: smaller("cpus"),
    fileBytesMax: smaller("fileBytesMax"),
    tmpBytesMax: smaller("tmpBytesMax"),
    outputBytesMax: smaller("outputBytesMax"),
  };
}

/** Types that are wanted and not configured are left out: a policy never lets in more than the configured one. */
export function tightenUploads(configured: UploadPolicy, wanted: Wanted<UploadPolicy>): UploadPolicy {
  const { fileBytesMax = configured.fileBytesMax, filesMax = configured.filesMax } = wanted;
  const types = new Set(wanted.types?.map(plain));
  return {
    fileBytesMax: Math.min(fileBytesMax, configured.fileBytesMax),
    filesMax: Math.min(filesMax, configured.filesMax),
    types: wanted.types === undefined ? configured.types : configured.types.filter((type) => types.has(plain(type))),
  };
}

function plain(type: string): string {
  const written = type.toLowerCase().replace(/^\./, "");
  return written === "jpeg" ? "jpg" : written;
}
