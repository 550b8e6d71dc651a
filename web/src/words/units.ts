/** Units that stand behind numbers, for whoever writes them without a part of the page at hand. */
export const timeUnits = {
  en: { second: "s", minute: "m", hour: "h" },
  zh: { second: "秒", minute: "分", hour: "小时" },
};
