import type { enSignIn } from "./en-sign-in.ts";

export const zhSignIn: typeof enSignIn = {
  title: "登录",
  user: "用户名",
  password: "密码",
  submit: "登录",
  byService: (p) => `使用 ${p.name} 登录`,
  byLink: (p) => `这个链接可以让您以 ${p.user} 的身份登录一次。`,
  goOn: "继续",
  noUsers: "还没有任何用户：在服务器本机上无需登录，其他人无法进入。",
  otherLanguage: "English",
};
