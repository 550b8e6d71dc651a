/** The page on which people sign in. */
export const enSignIn = {
  title: "Sign in",
  user: "User",
  password: "Password",
  submit: "Sign in",
  byService: (p: { name: string }) => `Sign in with ${p.name}`,
  byLink: (p: { user: string }) => `This link signs you in as ${p.user}, once.`,
  goOn: "Go on",
  noUsers: "There are no users yet: on the machine of the server nobody has to sign in, and nobody else comes in.",
  otherLanguage: "中文",
};
