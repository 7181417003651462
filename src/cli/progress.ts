import { SingleBar } from "cli-progress";

/** A bar on a terminal; elsewhere nothing, so that logs stay lines. */
export function progressBar(label: string): {
  update(done: number, total: number): void;
  stop(): void;
} {
  if (!process.stderr.isTTY) return { update: () => {}, stop: () => {} };
  const bar = new SingleBar({
    format: `${label} {bar} {value}/{total}, {eta_formatted} left`,
    stream: process.stderr,
    hideCursor: true,
    clearOnComplete: false,
  });
  let isStarted = false;
  return {
    update(done, total) {
      if (!isStarted) bar.start(total, done);
      isStarted = true;
      bar.setTotal(total);
      bar.update(done);
    },
    stop: () => isStarted && bar.stop(),
  };
}
