/** The files in what was dropped or pasted. Pictures that were copied have no name that tells them apart. */
export function filesIn(given: DataTransfer | null): File[] {
  return [...(given?.files ?? [])].map((file) => (isUnnamed(file) ? named(file) : file));
}

/** Something that has files is held over the page. */
export function hasFiles(given: DataTransfer | null): boolean {
  return given?.types.includes("Files") === true;
}

function isUnnamed({ name }: File): boolean {
  return name === "" || /^image\.\w+$/.test(name);
}

function named(file: File): File {
  const ending = /^image\/(\w+)/.exec(file.type)?.[1] ?? "bin";
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return new File([file], `pasted-${time}.${ending}`, { type: file.type });
}
