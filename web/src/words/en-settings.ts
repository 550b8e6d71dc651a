export const enSettings = {
  title: "Settings",
  about: "Theme and language are changed at the bottom of the list of conversations.",
};
