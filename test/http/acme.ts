import { tool } from "../tool-factory.ts";

/** A small company's tools, one for each rule of exposure. */
export const ACME = [
  tool({
    name: "list_failed_checks",
    family: "ci",
    purpose: "Lists the checks that failed on a branch.",
  }),
  tool({
    name: "rerun_check",
    family: "ci",
    effect: "mutating",
    purpose: "Runs one check of a branch again.",
  }),
  tool({ name: "read_file", purpose: "Reads a file of the repository at a commit." }),
  tool({
    name: "write_file",
    effect: "mutating",
    purpose: "Writes a file of the repository on a branch.",
  }),
  tool({
    name: "delete_branch",
    effect: "destructive",
    purpose: "Deletes a branch of the repository.",
  }),
  tool({
    name: "roll_back_release",
    family: "deploy",
    effect: "destructive",
    open_world: true,
    purpose: "Returns production to the release before.",
  }),
  tool({
    name: "search_web",
    family: "web",
    open_world: true,
    purpose: "Searches the public web.",
  }),
  tool({ name: "list", family: "lists", purpose: "Shows shopping lists." }),
  tool({
    name: "close_incident",
    family: "incidents",
    effect: "mutating",
    purpose: "Closes the open incident.",
    precondition: {
      type: "object",
      properties: { incident_open: { const: true } },
      required: ["incident_open"],
    },
  }),
];
