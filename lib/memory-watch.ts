import { readFileSync } from 'node:fs';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from './clock.ts';
import { oldHeapLimit } from './heap-limit.ts';
import type { Log } from './log.ts';

const SHORT_SHARE = 0.8;
// Lower, so that one answer more or less does not make it short again.
const ENOUGH_SHARE = 0.7;
const MIN_PAUSE_MS = 5_000;
// A forced collection stops everything: it may take one hundredth of the time.
const PAUSES_PER_COLLECTION = 100;
const STATUS = '/proc/self/status';
const YOUNG_SPACES = ['new_space', 'new_large_object_space'];

/** Watches what is alive after each major collection; what is merely used says nothing, as V8 lets garbage grow. */
export function watchMemory(log: Pick<Log, 'warn' | 'info'>, clock: Clock) {
  const heldShare = createHeldShare();
  let held = 0;
  let isShort = false;
  let cancelCheck = () => {};
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isMajor)) judge();
  });
  observer.observe({ entryTypes: ['gc'] });

  function judge(): void {
    held = heldShare();
    const wasShort = isShort;
    isShort = held > (wasShort ? ENOUGH_SHARE : SHORT_SHARE);
    if (isShort === wasShort) return;
    const record = { heldShare: Math.round(held * 100) / 100 };
    if (isShort) {
      log.warn(record, 'memory is short: no new sockets and no costly operations are taken');
      checkAfter(MIN_PAUSE_MS);
    } else {
      log.info(record, 'memory is no longer short');
      cancelCheck();
    }
  }

  /** Collects garbage as well: an idle V8 would not for minutes, and released memory would still count. */
  function checkAfter(ms: number): void {
    cancelCheck = clock.after(ms, () => {
      const startedAtMs = performance.now();
      collectGarbage();
      const tookMs = performance.now() - startedAtMs;
      // It is judged like any other, which cancels this where memory is no longer short.
      checkAfter(Math.max(MIN_PAUSE_MS, tookMs * PAUSES_PER_COLLECTION));
    });
  }

  return {
    /** True while nothing new should be taken that holds much memory. */
    get isShort() {
      return isShort;
    },
    /** The memory that the last major collection left, as a share of the limit that it is nearest to. */
    get heldShare() {
      return held;
    },
    degradedReason: () =>
      isShort ? `${Math.round(held * 100)} % of the memory's limit are held` : null,
    close(): void {
      observer.disconnect();
      cancelCheck();
    },
  };
}

function isMajor(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

/** The larger share of the heap's limit and of the container's, beside which Node's own memory counts. */
function createHeldShare(): () => number {
  /** The most that was resident, and what V8 held then. */
  const peak = { resident: 0, held: 0 };
  return () => {
    const { external_memory: buffers } = getHeapStatistics();
    const old = getHeapSpaceStatistics()
      .filter(({ space_name: name }) => !YOUNG_SPACES.includes(name))
      .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
    const held = old + buffers;
    const resident = residentBytes();
    if (resident >= peak.resident) Object.assign(peak, { resident, held });
    // The allocators keep what is released for what comes next, and it stays resident.
    const inUse = resident * Math.min(1, held / peak.held);
    // It is larger than any machine's memory, or 0, where the container has no limit.
    const containerLimit = process.constrainedMemory() || Number.POSITIVE_INFINITY;
    return Math.max(old / oldHeapLimit(), Math.max(held, inUse) / containerLimit);
  };
}

/**
 * Memory that the kernel cannot take back, which fills a small container long before V8 holds much. `rss()` and `availableMemory()` count
 * files as well, which it can. 0 where there is no Linux to tell.
 */
function residentBytes(): number {
  try {
    const [, kilobytes = 0] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(STATUS, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}

let collect: (() => void) | null = null;

function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
