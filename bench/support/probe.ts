// This module runs in each subject before its program, and reports the figures of the process to the bench.

/** The questions of the bench, each with the type of its answer. */
export interface ProbeAnswers {
  /** The microseconds of CPU, of user and system together. All threads count, so work on the thread pool is not free. */
  readonly cpu: number;
  /** The resident bytes, after a garbage collection if the process has `--expose-gc`. */
  readonly memory: number;
}

export interface ProbeQuestion<A extends keyof ProbeAnswers = keyof ProbeAnswers> {
  readonly ask: A;
}

process.on('message', ({ ask }: Partial<ProbeQuestion>) => {
  // Messages without a question for the probe are for the program.
  if (ask === 'cpu') {
    const { user, system } = process.cpuUsage();
    process.send?.({ answer: user + system });
  } else if (ask === 'memory') {
    globalThis.gc?.();
    process.send?.({ answer: process.memoryUsage.rss() });
  }
});
// The channel of the probe must not keep a subject running that would otherwise end.
process.channel?.unref();
// An interrupted bench must not leave processes running.
process.on('disconnect', () => process.exit());
