/**
 * The endings that go with a binary format, the usual one first; undefined when the first bytes are of no format we know.
 * Several endings: the bytes alone do not tell which, the name may.
 */
export function binaryEndings(head: Uint8Array): readonly string[] | undefined {
  const start = latin1(head.subarray(0, startBytes));
  const found = signatures.find(([, parts]) => parts.every(([at, bytes]) => start.startsWith(bytes, at)));
  const endings = found?.[0] ?? (/^(\u00ef\u00bb\u00bf)?\s*%PDF-\d/.test(start) ? ["pdf"] : undefined);
  return endings?.[0] === "zip" ? packedEndings(latin1(head)) : endings;
}

/** Signatures lie in here; that of a tar archive is the last. */
const startBytes = 264;

type Part = readonly [at: number, bytes: string];
const at = (offset: number, bytes: string): readonly Part[] => [[offset, bytes]];
const movie = (brand: string): readonly Part[] => [
  [0, "\0\0\0"],
  [4, `ftyp${brand}`],
];
const riff = (form: string): readonly Part[] => [
  [0, "RIFF"],
  [8, form],
];

/** Bytes as latin1. Formats that begin with plain letters name a second place, or a text could be taken for them. */
const signatures: readonly (readonly [endings: readonly string[], parts: readonly Part[]])[] = [
  [["zip"], at(0, "PK\x03\x04")],
  [["zip"], at(0, "PK\x05\x06")],
  [["png"], at(0, "\x89PNG\r\n\x1a\n")],
  [["jpg"], at(0, "\xff\xd8\xff")],
  [["gif"], at(0, "GIF87a")],
  [["gif"], at(0, "GIF89a")],
  [["webp"], riff("WEBP")],
  [["wav"], riff("WAVE")],
  [["avi"], riff("AVI ")],
  [
    ["bmp"],
    [
      [0, "BM"],
      [6, "\0\0\0\0"],
    ],
  ],
  [["tif"], at(0, "II*\0")],
  [["tif"], at(0, "MM\0*")],
  [["ico"], at(0, "\0\0\x01\0")],
  [["heic"], movie("hei")],
  [["heic"], movie("mif1")],
  [["avif"], movie("avif")],
  [["m4a"], movie("M4A")],
  [["mp4", "mov", "m4v"], movie("")],
  [["mkv", "webm"], at(0, "\x1a\x45\xdf\xa3")],
  [["mp3"], at(0, "ID3\x02")],
  [["mp3"], at(0, "ID3\x03")],
  [["mp3"], at(0, "ID3\x04")],
  [["mp3"], at(0, "\xff\xfb")],
  [["ogg"], at(0, "OggS\0")],
  [["flac"], at(0, "fLaC\0")],
  [["gz", "tgz"], at(0, "\x1f\x8b")],
  [["bz2"], at(4, "1AY&SY")],
  [["xz"], at(0, "\xfd7zXZ\0")],
  [["zst"], at(0, "\x28\xb5\x2f\xfd")],
  [["7z"], at(0, "7z\xbc\xaf\x27\x1c")],
  [["rar"], at(0, "Rar!\x1a\x07")],
  [["tar"], at(257, "ustar")],
  // Not told apart here: the old Office formats, and new ones with a password.
  [["ole", "doc", "xls", "ppt", "msg"], at(0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")],
  [["pkl"], at(0, "\x80\x02")],
  [["pkl"], at(0, "\x80\x03")],
  [["pkl"], at(0, "\x80\x04")],
  [["pkl"], at(0, "\x80\x05")],
  [["npy"], at(0, "\x93NUMPY")],
  [["h5", "hdf5"], at(0, "\x89HDF\r\n\x1a\n")],
  [["parquet"], at(0, "PAR1\x15")],
  [["arrow", "feather"], at(0, "ARROW1\0")],
  [["sqlite", "db", "sqlite3"], at(0, "SQLite format 3\0")],
  [["elf", "so", "o"], at(0, "\x7fELF")],
  [
    ["exe", "dll"],
    [
      [0, "MZ"],
      [3, "\0"],
    ],
  ],
  [["class"], at(0, "\xca\xfe\xba\xbe")],
  [["macho"], at(0, "\xcf\xfa\xed\xfe")],
  [["wasm"], at(0, "\0asm")],
];

/** Office documents and books are zip archives: the names of their first entries tell them apart. */
function packedEndings(head: string): readonly string[] {
  const names: string[] = [];
  for (let entry = head.indexOf(entryMark); entry !== -1; entry = head.indexOf(entryMark, entry + 4)) {
    const name = head.slice(
      entry + 30,
      entry + 30 + (head.charCodeAt(entry + 26) | (head.charCodeAt(entry + 27) << 8)),
    );
    if (name === "mimetype") {
      const content = head.slice(entry + 38, entry + 38 + mimeBytesMax);
      return mimetypes.find(([mime]) => content.includes(mime))?.[1] ?? ["zip"];
    }
    names.push(name);
  }
  const folder = folders.find(([prefix]) => names.some((name) => name.startsWith(prefix)));
  if (folder !== undefined) return folder[1];
  return names.includes("[Content_Types].xml") ? ["zip", "docx", "xlsx", "pptx"] : ["zip", "jar", "whl", "apk"];
}

const entryMark = "PK\x03\x04";
const mimeBytesMax = 120;
const mimetypes: readonly (readonly [mime: string, endings: readonly string[]])[] = [
  ["application/epub+zip", ["epub"]],
  ["opendocument.text", ["odt"]],
  ["opendocument.spreadsheet", ["ods"]],
  ["opendocument.presentation", ["odp"]],
];
const folders: readonly (readonly [prefix: string, endings: readonly string[]])[] = [
  ["word/", ["docx", "docm", "dotx"]],
  ["xl/", ["xlsx", "xlsm", "xlsb", "xltx"]],
  ["ppt/", ["pptx", "pptm", "potx"]],
];

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
