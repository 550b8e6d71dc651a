/** Whether files of this type hold a program, so that a model for code should look at them. */
export function isCode(type: string): boolean {
  return codeTypes.has(type);
}

/** The names that file-type.ts gives. */
const codeTypes: ReadonlySet<string> = new Set([
  ...["python", "notebook", "typescript", "javascript", "vue", "css", "sql", "shell", "c", "cpp", "csharp", "go"],
  ...["rust", "java", "kotlin", "swift", "ruby", "php", "perl", "r", "lua", "scala"],
]);
