import { type ChildProcess, fork } from "node:child_process";
import { constants, setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { ShortlistError } from "../errors.ts";
import type { ModelFolder } from "./model-folder.ts";

/** A process that dies this often on one text is not restarted for it again. */
const TRIES_MAX = 2;
const START_TIMEOUT_MS = 60_000;

interface Waiting {
  id: number;
  text: string;
  tries: number;
  resolve(vector: Float32Array): void;
  reject(error: Error): void;
}

export type FromEncoder =
  | { kind: "ready" }
  | { kind: "failed"; message: string }
  | { kind: "vector"; id: number; vector: Float32Array }
  | { kind: "error"; id: number; message: string };
export type ToEncoder = { id: number; text: string };

interface LaneOptions {
  model: ModelFolder;
  dimension: number;
  /** Scheduling priority, 0 normal to 19 lowest. */
  niceness: number;
  /** Texts waiting or in hand; one more is refused. */
  queueMax: number;
  /** The process ends after this long without work; it never does where this is left out. */
  idleMs?: number;
}

/** One encoder process and the texts it has been given. Restarts it when it dies; no text is lost to one death. */
export class Lane {
  #child: ChildProcess | undefined;
  #ready: Promise<void> | undefined;
  #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #options: LaneOptions;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  encode(text: string): Promise<Float32Array> {
    if (this.#closed)
      return Promise.reject(new ShortlistError("encoder_failed", "The encoder is closed."));
    if (this.#waiting.size >= this.#options.queueMax) {
      return Promise.reject(
        new ShortlistError("overloaded", `${this.#waiting.size} texts wait for the encoder.`),
      );
    }
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { id, text, tries: 0, resolve, reject });
      this.start().then(
        () => this.#send(id),
        (error: Error) => this.#settle(id)?.reject(error),
      );
    });
  }

  start(): Promise<void> {
    this.#ready ??= this.#spawn().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idle);
    const child = this.#child;
    if (child && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await gone;
    }
  }

  #spawn(): Promise<void> {
    const { model, niceness } = this.#options;
    // Built or not, the process runs built JavaScript: Node cannot fork TypeScript.
    const entry = fileURLToPath(import.meta.url).replace(
      /(src|dist)(.)embedder.*$/,
      "dist$2embedder$2encoder-process.js",
    );
    const child = fork(entry, [model.path], { serialization: "advanced", execArgv: [] });
    this.#child = child;
    if (child.pid !== undefined && niceness > 0) {
      setPriority(child.pid, Math.min(niceness, constants.priority.PRIORITY_LOW));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill("SIGKILL"), START_TIMEOUT_MS);
      const fail = (why: string) => reject(new ShortlistError("encoder_failed", why));
      child.on("message", (message: FromEncoder) => {
        if (message.kind === "ready") {
          clearTimeout(timer);
          resolve();
        } else if (message.kind === "failed") {
          fail(message.message);
        } else {
          this.#answer(message);
        }
      });
      child.on("error", (error) => fail(error.message));
      child.on("exit", (code, signal) => {
        clearTimeout(timer);
        fail(`The encoder process ended with ${signal ?? code} before it was ready.`);
        this.#onExit(child);
      });
    });
  }

  #send(id: number): void {
    const waiting = this.#waiting.get(id);
    if (!waiting || !this.#child?.connected) return; // a dead child's texts are sent again on exit
    waiting.tries++;
    this.#child.send({ id, text: waiting.text } satisfies ToEncoder, () => {
      // A failed send means that the process is gone: `exit` follows and sends the text again.
    });
  }

  #answer(message: Extract<FromEncoder, { id: number }>): void {
    const waiting = this.#settle(message.id);
    if (!waiting) return;
    if (message.kind === "error")
      waiting.reject(new ShortlistError("encoder_failed", message.message));
    else if (message.vector.length !== this.#options.dimension) {
      waiting.reject(
        new ShortlistError(
          "invalid_model",
          `The encoder gave ${message.vector.length} dimensions.`,
        ),
      );
    } else waiting.resolve(message.vector);
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    const { idleMs } = this.#options;
    if (this.#waiting.size === 0 && idleMs !== undefined) {
      this.#idle = setTimeout(() => this.#child?.kill("SIGTERM"), idleMs);
      this.#idle.unref();
    }
    return waiting;
  }

  #onExit(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#ready = undefined;
    for (const waiting of this.#waiting.values()) {
      if (this.#closed || waiting.tries >= TRIES_MAX) {
        this.#settle(waiting.id)?.reject(
          new ShortlistError("encoder_failed", "The encoder process died."),
        );
      }
    }
    if (this.#waiting.size > 0) {
      this.start().then(
        () => [...this.#waiting.keys()].forEach((id) => this.#send(id)),
        (error: Error) =>
          [...this.#waiting.keys()].forEach((id) => this.#settle(id)?.reject(error)),
      );
    }
  }
}
