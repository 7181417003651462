import { streamSSE } from "hono/streaming";
import type { Service } from "../service.ts";
import { JobAnswer, JobList, JobView } from "./answers.ts";
import type { Route } from "./route.ts";

export function jobRoutes(service: Service): Route[] {
  return [
    {
      method: "get",
      path: "/v1/jobs",
      tag: "jobs",
      summary: "The jobs, oldest first; finished ones for a while",
      answers: { 200: { description: "The jobs.", schema: JobList } },
      handle: ({ c }) => c.json({ jobs: service.jobs.list() }),
    },
    {
      method: "get",
      path: "/v1/jobs/{job}",
      tag: "jobs",
      summary: "One job",
      answers: { 200: { description: "The job.", schema: JobView } },
      handle: ({ c, param }) => c.json(service.jobs.get(param("job"))),
    },
    {
      method: "delete",
      path: "/v1/jobs/{job}",
      tag: "jobs",
      summary: "Cancels a job; what it was to change stays as it is",
      answers: { 202: { description: "The job, as it is now.", schema: JobAnswer } },
      handle: ({ c, param }) => c.json({ job: service.jobs.cancel(param("job")) }, 202),
    },
    {
      method: "get",
      path: "/v1/jobs/{job}/events",
      tag: "jobs",
      summary:
        "Server-sent events: `progress` while it runs, `done` at its end; takes Last-Event-ID",
      answers: { 200: { description: "The events.", type: "text/event-stream" } },
      handle({ c, param }) {
        const id = param("job");
        service.jobs.get(id);
        const last = Number(c.req.header("last-event-id") ?? 0);
        return streamSSE(c, async (stream) => {
          const abort = new AbortController();
          stream.onAbort(() => abort.abort());
          for await (const { version, job } of service.jobs.watch(
            id,
            Number.isInteger(last) ? last : 0,
            abort.signal,
          )) {
            const isDone = job.finished_at !== undefined;
            await stream.writeSSE({
              id: String(version),
              event: isDone ? "done" : "progress",
              data: JSON.stringify(job),
            });
          }
        });
      },
    },
  ];
}
