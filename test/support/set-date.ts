// Node loads this file before a program that a test starts. The program's date is wrong until the signal SIGUSR2.
const { now } = Date;
let aheadMs = Number(process.env.DATE_AHEAD_MS);
Date.now = () => now() + aheadMs;
process.on('SIGUSR2', () => {
  aheadMs = 0;
});
