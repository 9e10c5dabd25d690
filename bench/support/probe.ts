/**
 * Preloaded into each subject: reports the process's own figures to the bench. CPU counts all of
 * its threads, so that work on the thread pool is not free.
 */
import { createHook } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { HoldWatch } from './hold-watch.ts';

export interface ProbeQuestion<A extends keyof ProbeAnswers = keyof ProbeAnswers> {
  readonly ask: A;
  /** Where the profile is written. */
  readonly file?: string;
}

export interface ProbeAnswers {
  /** Microseconds, of user and system together. */
  readonly cpu: number;
  readonly 'watch-holds': null;
  /** Milliseconds of the longest turn of the event loop since it is watched. */
  readonly 'longest-hold': number;
  readonly 'start-profile': null;
  readonly 'stop-profile': null;
  readonly 'start-allocations': null;
  readonly 'stop-allocations': null;
}

const SAMPLING_MICROSECONDS = 250;
const SAMPLING_BYTES = 4_096;

let holds: HoldWatch | null = null;
const session = new Session();
/** What Node was given to wait for, by kind. */
const waits: Record<string, number> = {};
const counting = createHook({
  init(_id, type) {
    waits[type] = (waits[type] ?? 0) + 1;
  },
});

process.on('message', (question: ProbeQuestion) => {
  // Messages without a question for the probe are for the program.
  if (question.ask === undefined) return;
  void answer(question).then((value) => process.send?.({ answer: value }));
});
// A subject ends on its signal, not when its probe does.
process.channel?.unref();
// A bench that was interrupted must not leave its processes behind.
process.on('disconnect', () => process.exit());

async function answer({ ask, file = '' }: ProbeQuestion): Promise<number | null> {
  switch (ask) {
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    case 'watch-holds':
      holds = new HoldWatch();
      return null;
    case 'longest-hold':
      return holds?.end() ?? null;
    case 'start-profile':
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS });
      await session.post('Profiler.start');
      return null;
    case 'stop-profile':
      return write(file, (await session.post('Profiler.stop')).profile);
    case 'start-allocations':
      session.connect();
      await session.post('HeapProfiler.enable');
      await session.post('HeapProfiler.startSampling', {
        samplingInterval: SAMPLING_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      });
      for (const type of Object.keys(waits)) waits[type] = 0;
      counting.enable();
      return null;
    case 'stop-allocations':
      counting.disable();
      return write(file, { waits, ...(await session.post('HeapProfiler.stopSampling')) });
  }
}

function write(file: string, profile: object): null {
  writeFileSync(file, JSON.stringify(profile));
  session.disconnect();
  return null;
}
