/**
 * Preloaded into each subject: reports the process's own figures to the bench. CPU counts all of
 * its threads, so that work on the thread pool is not free.
 */
import { createHook } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { HoldWatch } from './hold-watch.ts';

export type ProbeAnswers = {
  [A in keyof typeof ANSWERS]: Awaited<ReturnType<(typeof ANSWERS)[A]>>;
};

export interface ProbeQuestion<A extends keyof ProbeAnswers = keyof ProbeAnswers> {
  readonly ask: A;
  /** Where the profile is written. */
  readonly file?: string;
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

const ANSWERS = {
  /** Microseconds, of user and system together. */
  cpu() {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
  'watch-holds'() {
    holds = new HoldWatch();
  },
  /** Milliseconds of the longest turn of the event loop since it is watched. */
  'longest-hold': () => holds?.end() ?? 0,
  async 'start-profile'() {
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS });
    await session.post('Profiler.start');
  },
  async 'stop-profile'(file: string) {
    write(file, (await session.post('Profiler.stop')).profile);
  },
  async 'start-allocations'() {
    session.connect();
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', {
      samplingInterval: SAMPLING_BYTES,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: true,
    });
    for (const type of Object.keys(waits)) waits[type] = 0;
    counting.enable();
  },
  async 'stop-allocations'(file: string) {
    counting.disable();
    write(file, { waits, ...(await session.post('HeapProfiler.stopSampling')) });
  },
};

process.on('message', async ({ ask, file = '' }: ProbeQuestion) => {
  // Messages without a question for the probe are for the program.
  if (ask !== undefined) process.send?.({ answer: await ANSWERS[ask](file) });
});
// A subject ends on its signal, not when its probe does.
process.channel?.unref();
// A bench that was interrupted must not leave its processes behind.
process.on('disconnect', () => process.exit());

function write(file: string, profile: object): void {
  writeFileSync(file, JSON.stringify(profile));
  session.disconnect();
}
