import { soak } from '../test/end-to-end/chaos/soak.ts';

/**
 * Storms of the network's faults for ten minutes, or as many as the first argument says: fails where
 * the facade holds a tenth more at the end than after the first round.
 */
const minutes = Number(process.argv[2] ?? 10);
const MEGABYTE = 1_048_576;
const megabytes = (bytes: number) => `${(bytes / MEGABYTE).toFixed(1)} MB`;

const { beforeBytes, afterBytes, said, answers } = await soak({
  forMs: minutes * 60_000,
  onRound: (round, heldBytes) =>
    process.stdout.write(`round ${round}: ${megabytes(heldBytes)} held\n`),
});
for (const [what, times] of [...said].sort(([, one], [, other]) => other - one)) {
  process.stdout.write(`${String(times).padStart(8)}  ${what}\n`);
}
const share = afterBytes / beforeBytes;
process.stdout.write(
  `${answers} answers; ${megabytes(beforeBytes)} held before, ${megabytes(afterBytes)} after (× ${share.toFixed(3)})\n`,
);
if (share > 1.1) process.exitCode = 1;
