import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { encodeFrame, JOURNAL_HEADER, type JournalEvent } from './journal-frame.ts';
import { RecordsUnavailableError } from './order-records.ts';

export type WritableFile = Pick<FileHandle, 'appendFile' | 'datasync' | 'close'>;

export interface JournalFileOptions {
  readonly path: string;
  /** All that is to be remembered, walked while new events go on arriving. */
  readonly snapshot: () => Iterable<JournalEvent>;
  readonly uptimeMs: () => number;
  readonly onWarn: (message: string) => void;
  /** Makes or empties a file; passed in so that a test can have a full disk. */
  readonly create?: (path: string) => Promise<WritableFile>;
  /** The file is rewritten once it has grown by its own size, but not for less than this. */
  readonly slackBytes?: number;
}

interface Waiting {
  readonly event: JournalEvent;
  readonly resolve: () => void;
  readonly reject: (error: RecordsUnavailableError) => void;
}

const SNAPSHOT_FRAME_EVENTS = 500;
const SLACK_BYTES = 4 * 1024 * 1024;
const HEAL_EVERY_MS = 1_000;

/**
 * The journal on the disk: appended to with one sync for all who wait, rewritten when it has grown.
 * After a failed write nobody can say what the file holds, so it is only ever replaced by a new one.
 */
export class JournalFile {
  readonly #options: Required<JournalFileOptions>;
  #queue: Waiting[] = [];
  /** Null before the first rewrite and after a failure. */
  #file: WritableFile | null = null;
  #failure: Error | null = null;
  #failedAtMs = 0;
  #snapshotBytes = 0;
  #appendedBytes = 0;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(options: JournalFileOptions) {
    this.#options = { create: createFile, slackBytes: SLACK_BYTES, ...options };
  }

  get failure(): Error | null {
    return this.#failure;
  }

  /** Must succeed before the first append. */
  async start(): Promise<void> {
    await this.#rewrite();
  }

  /** Resolves when the event is on the disk. What it says must be in the snapshot already. */
  append(event: JournalEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new RecordsUnavailableError('the order journal is closed'));
      this.#queue.push({ event, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#file?.close();
    this.#file = null;
  }

  async #run(): Promise<void> {
    // What is appended while one batch is being synced makes up the next.
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0);
      try {
        await this.#write(batch.map(({ event }) => event));
        for (const { resolve } of batch) resolve();
      } catch (cause) {
        const error = new RecordsUnavailableError('the order journal cannot be written', { cause });
        for (const { reject } of batch) reject(error);
      }
      await this.#shrink();
    }
    // In the same step as the last look at the queue, or what arrives in between would wait for ever.
    this.#running = null;
  }

  async #write(events: readonly JournalEvent[]): Promise<void> {
    if (!this.#file) return this.#heal();
    const bytes = encodeFrame(events);
    try {
      await this.#file.appendFile(bytes);
      await this.#file.datasync();
    } catch (error) {
      await this.#fail(error);
    }
    this.#appendedBytes += bytes.length;
  }

  /** A new file holds everything, the events that wait included. */
  async #heal(): Promise<void> {
    const { uptimeMs, onWarn } = this.#options;
    if (this.#failure && uptimeMs() - this.#failedAtMs < HEAL_EVERY_MS) throw this.#failure;
    try {
      await this.#rewrite();
      onWarn('the order journal can be written again');
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #fail(cause: unknown): Promise<never> {
    const { path, uptimeMs, onWarn } = this.#options;
    const file = this.#file;
    this.#file = null;
    this.#failure = new Error(`the order journal ${path} cannot be written`, { cause });
    this.#failedAtMs = uptimeMs();
    onWarn(`${this.#failure.message}: ${String(cause)}; new orders are refused`);
    await file?.close().catch(() => {});
    throw this.#failure;
  }

  async #shrink(): Promise<void> {
    const { slackBytes, onWarn } = this.#options;
    if (!this.#file || this.#appendedBytes < Math.max(slackBytes, this.#snapshotBytes)) return;
    const file = this.#file;
    try {
      await this.#rewrite();
    } catch (error) {
      if (this.#file !== file) return;
      // The old file still holds everything; it only stays long until the next attempt.
      this.#appendedBytes = 0;
      onWarn(`the order journal cannot be shortened: ${String(error)}`);
    }
  }

  async #rewrite(): Promise<void> {
    const { path, create, snapshot } = this.#options;
    const draftPath = `${path}.new`;
    const draft = await create(draftPath);
    let bytes = 0;
    const write = async (events: readonly JournalEvent[]) => {
      const frame = encodeFrame(events);
      bytes += frame.length;
      await draft.appendFile(frame);
    };
    try {
      await write([JOURNAL_HEADER]);
      let frame: JournalEvent[] = [];
      for (const event of snapshot()) {
        frame.push(event);
        if (frame.length < SNAPSHOT_FRAME_EVENTS) continue;
        await write(frame);
        frame = [];
      }
      if (frame.length > 0) await write(frame);
      await draft.datasync();
    } catch (error) {
      await draft.close().catch(() => {});
      throw error;
    }
    await this.#replace(draftPath, draft);
    this.#snapshotBytes = bytes;
    this.#appendedBytes = 0;
    this.#failure = null;
  }

  async #replace(draftPath: string, draft: WritableFile): Promise<void> {
    const { path } = this.#options;
    const old = this.#file;
    try {
      await rename(draftPath, path);
      await syncFolder(dirname(path));
    } catch (error) {
      // Which of the two files a crash would leave is open now, so neither may be appended to.
      await draft.close().catch(() => {});
      await this.#fail(error);
    }
    this.#file = draft;
    await old?.close().catch(() => {});
  }
}

function createFile(path: string): Promise<FileHandle> {
  return open(path, 'w', 0o600);
}

/** A rename is only on the disk once its folder is. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
