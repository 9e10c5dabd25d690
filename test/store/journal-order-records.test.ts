import {
  appendFile,
  mkdtemp,
  open as openFile,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type JournalOrderRecordsOptions,
  openJournalOrderRecords,
} from '../../src/store/journal-order-records.ts';
import { RECORD_LIFE_MS, RecordsUnavailableError } from '../../src/store/order-records.ts';
import {
  accepted,
  itKeepsOrderRecords,
  rejected,
  request,
  reserved,
  unknown,
} from './order-records-contract.ts';

async function createFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-journal-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  return { path: join(folder, 'deep', 'orders.journal'), [Symbol.asyncDispose]: remove };
}

function open(path: string, change: Partial<JournalOrderRecordsOptions> = {}) {
  return openJournalOrderRecords({
    path,
    max: 1_000,
    uptimeMs: () => performance.now(),
    nowMs: Date.now,
    onWarn() {},
    ...change,
  });
}

/** Files that fail while the disk is full, after writing half of what they were given. */
function createDisk() {
  const disk = {
    full: false,
    syncs: 0,
    async create(path: string) {
      if (disk.full) throw new Error('ENOSPC');
      const file = await openFile(path, 'w');
      return {
        async appendFile(bytes: Buffer) {
          if (disk.full) {
            await file.appendFile(bytes.subarray(0, bytes.length / 2));
            throw new Error('ENOSPC');
          }
          await file.appendFile(bytes);
        },
        async datasync() {
          disk.syncs += 1;
          await file.datasync();
        },
        close: () => file.close(),
      };
    },
  };
  return disk as typeof disk & Pick<Required<JournalOrderRecordsOptions>, 'create'>;
}

describe('order records in a journal', () => {
  itKeepsOrderRecords(async (max) => {
    const folder = await createFolder();
    const warnings: string[] = [];
    const onWarn = (message: string) => warnings.push(message);
    const records = await open(folder.path, { max, onWarn });
    return {
      records,
      warnings,
      async [Symbol.asyncDispose]() {
        await records.close();
        await folder[Symbol.asyncDispose]();
      },
    };
  });

  test('outlive the process, and what it left pending is pending no longer', async () => {
    await using folder = await createFolder();
    const first = await open(folder.path);
    await first.settle(await reserved(first, '1', 'accepted'), accepted);
    await first.settle(await reserved(first, '1', 'rejected'), rejected);
    await first.settle(await reserved(first, '1', 'unknown'), unknown);
    await first.release(await reserved(first, '1', 'released'));
    const pending = await reserved(first, '1', 'pending');
    await first.close();

    for (let restart = 0; restart < 3; restart += 1) {
      const next = await open(folder.path);
      expect(next.held()).toBe(4);
      expect(await next.find('1', 'accepted')).toMatchObject({ outcome: accepted });
      expect(await next.find('1', 'rejected')).toMatchObject({ outcome: rejected });
      expect(await next.find('1', 'unknown')).toMatchObject({ outcome: unknown });
      expect(await next.find('1', 'released')).toBe(null);
      const { id, reservedAtMs } = pending;
      expect(await next.find('1', 'pending')).toMatchObject({
        id,
        reservedAtMs,
        outcome: null,
        pendingMs: 0,
      });
      await next.close();
    }
  });

  test('are dropped a day after their reservation, over restarts too', async () => {
    await using folder = await createFolder();
    let nowMs = Date.now();
    const first = await open(folder.path, { nowMs: () => nowMs });
    await first.reserve({ ...request('1', 'old'), reservedAtMs: nowMs - RECORD_LIFE_MS + 5_000 });
    await first.reserve({ ...request('1', 'future'), reservedAtMs: nowMs + RECORD_LIFE_MS * 9 });
    await first.close();
    nowMs += 4_000;
    const second = await open(folder.path, { nowMs: () => nowMs });
    expect(await second.find('1', 'old')).not.toBe(null);
    await second.close();
    nowMs += 1_000;
    let uptimeMs = 0;
    const third = await open(folder.path, { nowMs: () => nowMs, uptimeMs: () => uptimeMs });
    expect(await third.find('1', 'old')).toBe(null);
    expect(await third.find('1', 'future')).not.toBe(null);
    uptimeMs = RECORD_LIFE_MS;
    expect(await third.find('1', 'future')).toBe(null);
    await third.close();
  });

  test('a corrected wall clock makes no record old', async () => {
    await using folder = await createFolder();
    let nowMs = Date.now();
    const records = await open(folder.path, { nowMs: () => nowMs });
    await reserved(records, '1', 'k');
    nowMs += 2 * RECORD_LIFE_MS;
    expect(await records.find('1', 'k')).not.toBe(null);
    await records.close();
  });

  test('a line torn anywhere at the end costs that line alone', async () => {
    await using folder = await createFolder();
    const first = await open(folder.path);
    await reserved(first, '1', 'kept');
    const before = (await stat(folder.path)).size;
    await reserved(first, '1', 'torn');
    await first.close();
    const whole = await readFile(folder.path);
    for (let length = before; length < whole.length; length += 1) {
      await writeFile(folder.path, whole.subarray(0, length));
      const next = await open(folder.path);
      expect(await next.find('1', 'kept')).not.toBe(null);
      expect(await next.find('1', 'torn')).toBe(null);
      await reserved(next, '1', 'torn');
      await next.close();
    }
  });

  test('blocks of zeros after a power cut are a torn line', async () => {
    await using folder = await createFolder();
    const first = await open(folder.path);
    await reserved(first, '1', 'kept');
    await first.close();
    await appendFile(folder.path, Buffer.alloc(4_096));
    const next = await open(folder.path);
    expect(await next.find('1', 'kept')).not.toBe(null);
    await next.close();
  });

  test('damage before the end stops the start, and the file is left alone', async () => {
    await using folder = await createFolder();
    const first = await open(folder.path);
    for (const key of ['a', 'b', 'c']) await reserved(first, '1', key);
    await first.close();
    const whole = await readFile(folder.path);
    const lines = whole.toString('latin1').split('\n');
    for (const [line, text] of lines.slice(0, -2).entries()) {
      const damaged = Buffer.from(whole);
      const at = lines.slice(0, line).join('\n').length + Math.floor(text.length / 2);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      await writeFile(folder.path, damaged);
      await expect(open(folder.path)).rejects.toThrow(/damaged in line|is not an order journal/);
      expect(await readFile(folder.path)).toEqual(damaged);
    }
    await writeFile(folder.path, whole);
    const next = await open(folder.path);
    expect(next.held()).toBe(3);
    await next.close();
  });

  test('a file that is something else is never overwritten', async () => {
    await using folder = await createFolder();
    await (await open(folder.path)).close();
    await writeFile(folder.path, 'my thesis\n');
    await expect(open(folder.path)).rejects.toThrow('is not an order journal');
    expect(await readFile(folder.path, 'utf8')).toBe('my thesis\n');
  });

  test('an emptied file starts anew', async () => {
    await using folder = await createFolder();
    await (await open(folder.path)).close();
    await truncate(folder.path, 0);
    const next = await open(folder.path);
    await reserved(next, '1', 'k');
    await next.close();
  });

  test('a second user of the file is refused until the first has closed', async () => {
    await using folder = await createFolder();
    const first = await open(folder.path);
    await expect(open(folder.path)).rejects.toThrow('is in use by another process');
    await reserved(first, '1', 'k');
    await first.close();
    const second = await open(folder.path);
    expect(await second.find('1', 'k')).not.toBe(null);
    await second.close();
  });

  test('many reservations at once share a few syncs', async () => {
    await using folder = await createFolder();
    const disk = createDisk();
    const records = await open(folder.path, { create: disk.create });
    const before = disk.syncs;
    await Promise.all(Array.from({ length: 500 }, (_, n) => reserved(records, '1', `k${n}`)));
    expect(disk.syncs - before).toBeLessThan(10);
    await records.close();
  });

  test('the file stays bounded over a long life', async () => {
    await using folder = await createFolder();
    const records = await open(folder.path, { slackBytes: 20_000 });
    for (let round = 0; round < 200; round += 1) {
      const made = await Promise.all(
        Array.from({ length: 5 }, (_, n) => reserved(records, '1', `${round}-${n}`)),
      );
      await Promise.all(made.slice(0, 4).map((one) => records.release(one)));
      await records.settle(made[4] as (typeof made)[number], accepted);
    }
    await records.close();
    // 200 records remain, of about 350 bytes each; 1400 writes went over the file.
    expect((await stat(folder.path)).size).toBeLessThan(200 * 400 * 2 + 20_000);
    const next = await open(folder.path);
    expect(next.held()).toBe(200);
    await next.close();
  });

  test('while the disk is full orders are refused, and nothing is forgotten', async () => {
    await using folder = await createFolder();
    const disk = createDisk();
    let uptimeMs = 0;
    const options = { create: disk.create, uptimeMs: () => uptimeMs };
    const records = await open(folder.path, options);
    const earlier = await reserved(records, '1', 'earlier');
    disk.full = true;
    await expect(records.reserve(request('1', 'refused'))).rejects.toThrow(RecordsUnavailableError);
    expect(records.trouble()).not.toBe(null);
    expect(await records.find('1', 'refused')).toBe(null);
    await expect(records.settle(earlier, accepted)).rejects.toThrow(RecordsUnavailableError);
    expect(await records.find('1', 'earlier')).toMatchObject({ outcome: accepted });
    disk.full = false;
    await expect(records.reserve(request('1', 'refused'))).rejects.toThrow(RecordsUnavailableError);
    uptimeMs += 1_000;
    await records.settle(earlier, accepted);
    expect(records.trouble()).toBe(null);
    await reserved(records, '1', 'later');
    await records.close();
    const next = await open(folder.path);
    expect(await next.find('1', 'earlier')).toMatchObject({ outcome: accepted });
    expect(await next.find('1', 'refused')).toBe(null);
    expect(await next.find('1', 'later')).not.toBe(null);
    await next.close();
  });

  test('a repeat never relies on a reservation that did not reach the disk', async () => {
    await using folder = await createFolder();
    const disk = createDisk();
    const records = await open(folder.path, { create: disk.create });
    disk.full = true;
    const answers = await Promise.allSettled([
      records.reserve(request('1', 'k')),
      records.reserve(request('1', 'k')),
      records.find('1', 'k'),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await records.close();
  });
});
