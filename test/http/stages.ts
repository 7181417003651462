/** One case for each stage, and one that is right. */
export const STAGES = [
  {
    task_id: "right",
    goal: "which checks failed on the branch?",
    acceptable: ["list_failed_checks"],
  },
  { task_id: "coverage", goal: "order a pizza", acceptable: ["order_pizza"] },
  {
    task_id: "exposure",
    goal: "delete the branch",
    phase: "discover",
    acceptable: ["delete_branch"],
  },
  { task_id: "discovery", goal: "which checks failed?", acceptable: ["search_web"] },
  {
    task_id: "selection",
    goal: "which checks failed on the branch?",
    acceptable: ["no_applicable_tool"],
    forbidden: ["list_failed_checks"],
  },
];
