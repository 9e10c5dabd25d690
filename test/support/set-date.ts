/** A test imports this before the program that it starts. The program's date is wrong until SIGUSR2. */
const { now } = Date;
let aheadMs = Number(process.env.DATE_AHEAD_MS);
Date.now = () => now() + aheadMs;
process.on('SIGUSR2', () => {
  aheadMs = 0;
});
