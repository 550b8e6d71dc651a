/** What is written below a message that files came with, in the language of the person. */
export const attachedWords = {
  en: { list: "Uploaded files:", inline: (path: string) => `Text of ${path}:` },
  zh: { list: "上传的文件：", inline: (path: string) => `${path} 的内容：` },
} as const;

/** Why a search cannot be made, beside what the pattern engine itself says in English. */
export const patternFaults = {
  empty: "it is empty",
  tooLong: (charactersMax: number) => `it is longer than ${charactersMax} characters`,
} as const;
