/** What is written below a message that files came with, in the language of the person. */
export const attachedWords = {
  en: { list: "Uploaded files:", inline: (path: string) => `Text of ${path}:` },
  zh: { list: "上传的文件：", inline: (path: string) => `${path} 的内容：` },
} as const;
