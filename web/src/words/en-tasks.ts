export const enTasks = {
  title: "Tasks",
  about: "Agents that work on tasks are listed here.",
};
