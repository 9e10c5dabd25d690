/**
 * Preloaded into each contestant: reports the process's own figures to the bench. CPU counts all of
 * its threads, so that work on the thread pool is not free.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type HoldFigures, HoldWatch } from './hold-watch.ts';

export type ProbeQuestion =
  | { readonly ask: 'cpu' }
  | { readonly ask: 'memory' }
  | { readonly ask: 'heap' }
  | { readonly ask: 'watch-delay' }
  | { readonly ask: 'delay' }
  | { readonly ask: 'watch-holds' }
  | { readonly ask: 'holds' }
  | { readonly ask: 'start-profile' }
  | { readonly ask: 'stop-profile'; readonly file: string };

export interface ProbeAnswers {
  /** Microseconds, of user and system together. */
  readonly cpu: number;
  /** Bytes that are resident. */
  readonly memory: number;
  /** Bytes that are really in use, where the process may collect its garbage (`--expose-gc`). */
  readonly heap: number;
  readonly 'watch-delay': null;
  readonly delay: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number };
  readonly 'watch-holds': null;
  readonly holds: HoldFigures;
  readonly 'start-profile': null;
  readonly 'stop-profile': null;
}

const RESOLUTION_MS = 1;
const SAMPLING_MICROSECONDS = 250;

let delay: ReturnType<typeof monitorEventLoopDelay> | null = null;
let holds: HoldWatch | null = null;
let session: Session | null = null;

process.on('message', (question: ProbeQuestion) => {
  // Messages without a question for the probe are for the program.
  if (question.ask === undefined) return;
  void answer(question).then((value) => process.send?.({ answer: value }));
});
// A contestant ends on its signal, not when its probe does.
process.channel?.unref();
// A bench that was interrupted must not leave its processes behind.
process.on('disconnect', () => process.exit());

async function answer(question: ProbeQuestion): Promise<unknown> {
  switch (question.ask) {
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    case 'memory':
      return process.memoryUsage.rss();
    case 'heap':
      globalThis.gc?.();
      globalThis.gc?.();
      return process.memoryUsage().heapUsed + process.memoryUsage().external;
    case 'watch-delay':
      delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      delay.enable();
      return null;
    case 'delay':
      return readDelay();
    case 'watch-holds':
      holds = new HoldWatch();
      return null;
    case 'holds':
      return holds?.end();
    case 'start-profile':
      session = new Session();
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS });
      await session.post('Profiler.start');
      return null;
    case 'stop-profile': {
      const result = await session?.post('Profiler.stop');
      writeFileSync(question.file, JSON.stringify(result?.profile));
      session?.disconnect();
      return null;
    }
  }
}

/** Beyond the interval at which it looks: that much is no delay. */
function readDelay(): ProbeAnswers['delay'] {
  if (delay === null) throw new Error('the delay was not watched');
  delay.disable();
  const over = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  return {
    p50Ms: over(delay.percentile(50)),
    p99Ms: over(delay.percentile(99)),
    maxMs: over(delay.max),
  };
}
