/** Imported before a program that a test starts: its date is wrong by this much, and correct after SIGUSR2. */
const { now } = Date;
let aheadMs = Number(process.env.DATE_AHEAD_MS);
Date.now = () => now() + aheadMs;
process.on('SIGUSR2', () => {
  aheadMs = 0;
});
