import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from './support/load.ts';
import { table } from './support/markdown.ts';
import type { Subjects } from './support/open-subjects.ts';
import { allocationsIn, selfTimes } from './support/profile-report.ts';
import type { Workload } from './support/workloads.ts';

const MAX_PARTS = 10;
const MAX_FILES = 12;
const WARM_MS = 300;

export interface ProfilePace {
  readonly warmMs: number;
  readonly warmRequests: number;
  readonly profileMs: number;
}

/** The share of each part of the program in the time of each kind of request; the profiles are kept. */
export async function profileTable(
  { gateway, ours }: Subjects,
  workloads: readonly Workload[],
  pace: ProfilePace,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'profiles-'));
  const rows: string[][] = [];
  for (const workload of workloads) {
    await gateway.setMarket(workload.market);
    await load(ours, workload, pace.warmMs);
    const file = join(folder, `${workload.name}.cpuprofile`);
    await ours.process.ask({ ask: 'start-profile' });
    await load(ours, workload, pace.profileMs);
    await ours.process.ask({ ask: 'stop-profile', file });
    const times = [selfTimes(file, 'by part'), selfTimes(file, 'by function')];
    const shown = times.map((each) =>
      each.map(({ where, share }) => `${(share * 100).toFixed(0)} % ${where}`),
    );
    rows.push([workload.title, ...shown.map((each) => lines(each, MAX_PARTS))]);
  }
  const head = ['Self time of ours', 'by part', 'by function'];
  return `${table(head, rows)}\n\nProfiles are in ${folder}.`;
}

/**
 * What one request of each kind allocates, the promises and the timers that it makes, and where: figures that the machine's
 * other load does not move.
 */
export async function shapesTable(
  { gateway, subjects }: Subjects,
  workloads: readonly Workload[],
  pace: ProfilePace,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'allocations-'));
  const rows: string[][] = [];
  for (const workload of workloads) {
    await gateway.setMarket(workload.market);
    for (const subject of subjects) {
      // By requests, not by time: on a busy machine there would be fewer, and code that is not compiled allocates more.
      let warmed = 0;
      while (warmed < pace.warmRequests) warmed += await load(subject, workload, WARM_MS);
      const file = join(folder, `${workload.name}.${rows.length}.json`);
      await subject.process.ask({ ask: 'start-allocations' });
      const answered = await load(subject, workload, pace.profileMs);
      await subject.process.ask({ ask: 'stop-allocations', file });
      const { bytes, waits } = allocationsIn(file);
      const each = (count = 0) => (count / answered).toFixed(1);
      const all = bytes.reduce((sum, [, size]) => sum + size, 0);
      const files = bytes.map(([where, size]) => `${(size / answered) | 0} ${where}`);
      rows.push([
        ...[workload.title, subject.name, ((all / answered) | 0).toLocaleString('en')],
        ...[each(waits.PROMISE), each(waits.Timeout), each(waits.Immediate)],
        lines(files, subject.replaysRecording ? 3 : MAX_FILES),
      ]);
    }
  }
  const head = ['A request', 'of', 'bytes', 'promises', 'timers', 'immediates', 'bytes by file'];
  return `${table(head, rows)}\n\nProfiles are in ${folder}.`;
}

function lines(all: readonly string[], most: number): string {
  return all.slice(0, most).join('<br>');
}
